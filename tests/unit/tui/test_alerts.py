"""The screen of findings: where Enter leads, what ``m`` does, where silences are kept."""

from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from msgspec.structs import replace

from streamops.errors import SettingsError
from streamops.model.silences import Silence
from streamops.settings.silences import SilenceFile
from streamops.tui.app import StreamopsApp
from streamops.tui.places import Alerts, command
from streamops.tui.runbooks import runbook
from streamops.tui.screens.alerts import alert_lines
from tests.support.invented import NOW
from tests.support.tui import sample
from tests.support.tui.driving import (
    NARROW,
    bar,
    list_of,
    names,
    press,
    running,
    screen_text,
    shown,
    until,
)
from tests.support.tui.pulse_source import PulseSource
from tests.support.tui.source import PROD, app_for, settings_for

ALL = [
    "stalled/payments/ledger/-",
    "eviction_risk/-/-/-",
    "poison/emails/mailer/-",
    "dead_consumer/orders/fulfilment/-",
    "dead_letters/payments:dlq/-/-",
]
HOUR = timedelta(hours=1)
STALLED = ("stalled", "payments", "ledger")


async def opened(app: StreamopsApp) -> None:
    await press(app, "6")
    await until(app, lambda: len(names(app)) == 5)


def silenced(app: StreamopsApp) -> dict[str, timedelta]:
    return {row.key[0]: row.silenced_until - NOW for row in app.moment.alerts if row.silenced_until}


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


async def test_m_silences_one_finding_for_longer_and_longer() -> None:
    app = app_for(PulseSource(sample.shop()))
    async with running(app):
        await opened(app)
        for keys, hours in (
            ("m", {"stalled": 1}),
            ("m", {"stalled": 4}),
            ("m", {"stalled": 24}),
            ("m", {}),
            ("m home m", {"stalled": 1, "eviction_risk": 1}),
        ):
            await press(app, *keys.split())
            await until(
                app,
                lambda hours=hours: silenced(app) == {code: HOUR * number for code, number in hours.items()},  # type: ignore[misc]
            )


async def test_a_silenced_finding_stands_below_is_counted_and_changes_no_health() -> None:
    app = app_for(PulseSource(sample.shop()))
    async with running(app):
        header = bar(app, "header")
        await opened(app)
        await press(app, "m")
        await until(app, lambda: names(app)[-1] == ALL[0])
        assert list_of(app).cursor == 4
        assert "5 findings, 1 silenced" in bar(app, "crumbs")
        assert "1 silenced (6)" in bar(app, "status")
        assert bar(app, "header") == header
        assert "‖ crit" in screen_text(app)
        await press(app, "escape")
        await until(app, lambda: "1 silenced (6)" in bar(app, "status"))
        await press(app, "6", "f")
        await until(app, lambda: names(app) == ALL[1:])


@pytest.fixture
def state() -> Iterator[Path]:
    """A directory whose name has room on the screen, which pytest's own have not everywhere."""
    with TemporaryDirectory(prefix="so-") as directory:
        yield Path(directory)


async def test_silences_are_kept_for_the_next_console_and_say_where(state: Path) -> None:
    environ = {"XDG_STATE_HOME": str(state)}

    def console() -> StreamopsApp:
        settings = settings_for(PulseSource(sample.shop()))
        return StreamopsApp(replace(settings, silences=lambda context: SilenceFile(context, environ)))

    app = console()
    async with running(app, (160, 50)):
        await opened(app)
        await press(app, "m")
        await shown(app, "kept on this machine,")
        await shown(app, state.name)
    assert SilenceFile("prod", environ).read() == (Silence(STALLED, NOW + HOUR),)
    app = console()
    async with running(app):
        await until(app, lambda: silenced(app) == {"stalled": HOUR})


class Broken:
    """A place for silences that does not work."""

    where = "/nowhere/silences.json"

    def read(self) -> tuple[Silence, ...]:
        raise SettingsError("cannot read /nowhere/silences.json: gone", "Check its permissions.")

    def update(self, edit: Callable[[tuple[Silence, ...]], Iterable[Silence]]) -> None:
        raise SettingsError(
            f"cannot write {len([*edit(())])} silences", "Silences last until the console is closed."
        )


async def test_a_silence_that_cannot_be_kept_lasts_until_the_console_is_closed_and_that_is_said() -> None:
    settings = replace(settings_for(PulseSource(sample.shop())), silences=lambda _: Broken())
    app = StreamopsApp(settings)
    async with running(app):
        await opened(app)
        await press(app, "m")
        await shown(app, "cannot write 1 silences")
        assert silenced(app) == {"stalled": HOUR}


@pytest.mark.parametrize("size", [NARROW, (160, 50)])
async def test_the_runbook_stands_beside_with_the_names_in_its_commands(size: tuple[int, int]) -> None:
    app = app_for(PulseSource(sample.shop()))
    async with running(app, size):
        await opened(app)
        await shown(app, "held already at 2026-03-14 12:00:00Z")
        row = app.moment.alerts[0]
        text = "\n".join("".join(cell.text for cell in line) for line in alert_lines(row, "", 76))
        assert "$ streamops pending summary payments ledger" in text
        assert "dashboards/RUNBOOKS.md#groupstalled" in text


def test_every_finding_has_a_section_in_the_runbooks() -> None:
    for finding in (
        sample.STALLED,
        sample.POISON,
        sample.EVICTION,
        sample.DEAD_LETTERS,
        sample.DEAD_CONSUMER,
    ):
        assert runbook(finding.code).startswith("**Means.**")


async def test_nothing_found_is_said() -> None:
    app = app_for(PulseSource(sample.observation(sample.stream_view("s"))))
    async with running(app):
        await press(app, "6")
        await shown(app, "nothing is found: no rule says that anything is wrong")


def test_the_screen_prints_as_a_command() -> None:
    assert command(PROD, Alerts()) == "streamops -c prod alerts ls"
