"""Forms of acting under Pilot, on inventions: what opens them, and what has to be answered."""

from pathlib import Path

import pytest

from streamops.model.acting import Limits
from streamops.operations.ack.intent import AckIntent
from streamops.operations.claim.intent import ClaimIntent
from tests.support.tui import acts
from tests.support.tui.acting_shop import CLAIM_FORM, CLAIM_PLAN, planned
from tests.support.tui.driving import NARROW, bar, crumbs, press, running, screen_text, shown, until
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for


async def test_a_capital_opens_a_form_filled_in_from_the_row_and_writes_nothing() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_FORM)
        await shown(app, "Claim pending entries for another consumer")
        assert bar(app, "crumbs") == "prod ▸ orders ▸ fulfilment | claim"
        assert not source.planned
        await press(app, *"worker-5", "enter")
        await shown(app, "12 entries of worker-7 will belong to worker-5")
        assert planned(source) == ClaimIntent(
            stream="orders", group="fulfilment", to="worker-5", source="worker-7"
        )
        assert not source.applied


async def test_marked_rows_are_what_an_action_takes() -> None:
    source = shop_source(plan=acts.ACK)
    app = app_for(source)
    async with running(app):
        await press(app, *"jj", "enter", "l", "space", "space", "space", "A")
        await press(app, "enter")
        await until(app, lambda: bool(source.planned))
        ids = tuple(row.id for row in source.pending[:3])
        assert planned(source) == AckIntent(stream="orders", group="fulfilment", ids=ids)


async def test_form_with_a_missing_or_wrong_answer_says_so_and_plans_nothing() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_FORM, "enter")
        await shown(app, "✗ to: required")
        await press(app, "w", "down", "down", *"soon", "enter")
        await shown(app, "✗ min idle: not a duration")
        await press(app, "backspace")
        assert "not a duration" not in screen_text(app)
        assert not source.planned


async def test_help_of_a_form_is_a_key_that_no_field_takes_and_what_is_typed_keeps_what_was_filled_in() -> (
    None
):
    source = shop_source()
    app = app_for(source)
    async with running(app, NARROW):
        await press(app, *CLAIM_FORM, "down")
        assert "F1 help" in bar(app, "keys")
        await press(app, "question_mark")
        assert app.focused is not None
        assert app.focused.value == "worker-7?"  # type: ignore[attr-defined]
        await press(app, "f1")
        await shown(app, "claim, help")
        text = screen_text(app)
        assert text.index("\n from") < text.index("\n stream")
        await press(app, "f1")
        assert app.focused.value == "worker-7?"  # type: ignore[attr-defined]


@pytest.mark.usefixtures("own_directories")
async def test_value_that_is_longer_than_its_row_begins_with_its_beginning_and_stands_in_full_below(
    tmp_path: Path,
) -> None:
    app = app_for(shop_source())
    async with running(app, NARROW):
        await press(app, *"jj", "X")
        await shown(app, "In full:")
        await press(app, "down")
        await shown(app, f" backup           {str(tmp_path)[:30]}")


async def test_the_form_holds_the_engine_to_limits_and_a_reason() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_FORM, "w", *["down"] * 5, *"50", "down", *"2.5", "down", *"INC", "enter")
        await until(app, lambda: bool(source.planned))
        assert source.planned[-1][1] == Limits(max_count=50, rate=2.5, reason="INC")


async def test_escape_leads_back_from_the_plan_to_the_form_as_it_was() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "[ Cancel ]")
        await press(app, "escape")
        await shown(app, "worker-5")
        await press(app, "escape")
        assert crumbs(app) == "prod"


async def test_where_a_form_does_not_fit_the_arrows_still_go_from_field_to_field() -> None:
    app = app_for(shop_source())
    async with running(app, (80, 14)):
        await press(app, *"jj", "C")
        fields = [app.focused]
        for _ in range(6):
            await press(app, "down")
            fields.append(app.focused)
        assert len(set(fields)) == len(fields)
