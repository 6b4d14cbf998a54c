"""The screen of findings: where Enter leads, and what stands beside."""

import pytest

from streamops.model.observation import Finding, FindingCode, Health
from streamops.tui.app import StreamopsApp
from streamops.tui.lines.explaining import runbook
from streamops.tui.routes import AlertsRoute, command
from streamops.tui.screens.alerts import alert_lines
from tests.support.tui import sample
from tests.support.tui.driving import (
    NARROW,
    bar,
    crumbs,
    names,
    press,
    running,
    shown,
    until,
)
from tests.support.tui.overview_source import PulseSource
from tests.support.tui.source import PROD, app_for

ALL = [
    "stalled/payments/ledger/-",
    "eviction_risk/-/-/-",
    "poison/emails/mailer/-",
    "dead_consumer/orders/fulfilment/-",
    "dead_letters/payments:dlq/-/-",
]


async def opened(app: StreamopsApp) -> None:
    await press(app, "6")
    await until(app, lambda: len(names(app)) == 5)


async def test_enter_leads_to_what_a_finding_is_about() -> None:
    app = app_for(PulseSource(sample.shop()))
    async with running(app):
        await opened(app)
        assert names(app) == ALL
        for keys, crumbs in (
            ("enter", "prod ▸ payments ▸ ledger"),
            ("escape", "prod ▸ alerts"),
            ("j enter", "prod ▸ alerts"),
            ("g", "prod ▸ alerts"),
            ("j enter", "prod ▸ emails ▸ mailer"),
            ("escape end enter", "prod ▸ payments:dlq"),
            ("escape slash p o i s enter enter", "prod ▸ emails ▸ mailer"),
        ):
            await press(app, *keys.split())
            await until(app, lambda crumbs=crumbs: bar(app, "crumbs").split(" | ")[0] == crumbs)  # type: ignore[misc]


@pytest.mark.parametrize("screen", ["6", "1"])
async def test_enter_on_a_finding_about_delayed_messages_opens_them_and_on_one_about_the_server_says_so(
    screen: str,
) -> None:
    overdue = Finding(
        FindingCode.DELAYED_OVERDUE, Health.CRITICAL, "1 due", "Start a worker.", stream="reminders"
    )
    app = app_for(PulseSource(sample.observation(findings=(overdue, sample.EVICTION))))
    async with running(app):
        await press(app, screen)
        await until(app, lambda: names(app) == ["delayed_overdue/reminders/-/-", "eviction_risk/-/-/-"])
        await press(app, "enter")
        assert crumbs(app) == "prod ▸ delayed ▸ reminders"
        await press(app, "escape", "end", "enter")
        await shown(app, "about the server")


async def test_how_many_there_are_is_counted_and_every_one_is_a_fault() -> None:
    app = app_for(PulseSource(sample.shop()))
    async with running(app):
        await opened(app)
        assert "5 findings" in bar(app, "crumbs")
        await press(app, "f")
        await shown(app, "faults only")
        assert names(app) == ALL


@pytest.mark.parametrize("size", [NARROW, (160, 50)])
async def test_the_runbook_stands_beside_with_the_names_in_its_commands(size: tuple[int, int]) -> None:
    app = app_for(PulseSource(sample.shop()))
    async with running(app, size):
        await opened(app)
        await shown(app, "present at 2026-03-14 12:00:00Z already")
        row = app.app_state.alerts[0]
        text = "\n".join("".join(cell.text for cell in line) for line in alert_lines(row, 76))
        assert "$ streamops pending summary payments ledger" in text
        assert "dashboards/RUNBOOKS.md#stalled" in text


def test_every_finding_has_a_section_in_the_runbooks() -> None:
    for code in FindingCode:
        assert runbook(code).startswith("**Meaning.**"), code


async def test_nothing_found_is_said() -> None:
    app = app_for(PulseSource(sample.observation(sample.stream_view("s"))))
    async with running(app):
        await press(app, "6")
        await shown(app, "no findings: no health rule reports a problem")


def test_the_screen_prints_as_a_command() -> None:
    assert command(PROD, AlertsRoute()) == "streamops -c prod alerts ls"
