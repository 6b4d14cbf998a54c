"""Plans under Pilot: what has to be said before anything is done."""

from typing import Any

import pytest
from msgspec.structs import replace

from streamops.model.acting import Assent, Environment
from streamops.tui.acting.answer_row import AnswerRow
from tests.support.tui import acts
from tests.support.tui.acting_shop import CLAIM_PLAN, bar_text, crumbs
from tests.support.tui.driving import press, running, screen_text, shown, until
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for


async def test_cancel_has_the_focus_and_leaves_everything_as_it_was() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "Tab, then Enter applies")
        await press(app, "enter")
        assert crumbs(app) == "prod ▸ orders ▸ fulfilment"
        assert not source.applied


async def test_tab_leads_to_apply_in_production() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "10 of 12")
        assert source.applied == [(acts.CLAIM, Assent(yes=True))]


async def test_saying_yes_twice_does_it_once() -> None:
    source = shop_source(plan=acts.CLAIM)
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "[ Apply ]")
        row = app.frame.query_one(AnswerRow)
        for _ in range(3):
            row.post_message(AnswerRow.Agreed(""))
        await shown(app, "10 of 12")
        assert len(source.applied) == 1


async def test_enter_is_enough_in_development() -> None:
    source = shop_source(environment=Environment.DEVELOPMENT)
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "Enter applies")
        await press(app, "enter")
        await shown(app, "10 of 12")


@pytest.mark.parametrize(("plan", "word"), [(acts.ACK, "12"), (acts.TRIM, "orders")])
async def test_what_has_to_be_typed_must_be_typed_exactly(plan: Any, word: str) -> None:  # noqa: ANN401 - a plan
    source = shop_source(plan=plan)
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, f"Tab, then type {word}")
        await press(app, "tab", "enter", *word[:-1], "enter", "x", "enter")
        assert not source.applied
        await press(app, "backspace", word[-1])
        await shown(app, "Enter applies")
        await press(app, "enter")
        await shown(app, "10 of 12")
        assert source.applied == [(plan, Assent(yes=True, typed=word))]


async def test_a_name_that_cannot_be_typed_is_typed_as_it_is_shown() -> None:
    name = "\x1b]5;\x07\udcff\u202e[@click=x]"
    source = shop_source(plan=replace(acts.TRIM, confirm=name))
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab")
        said = bar_text(app)
        await press(app, *said)
        await press(app, "enter")
        await until(app, lambda: bool(source.applied))
        assert source.applied[0][1] == Assent(yes=True, typed=name)


async def test_an_empty_plan_has_nothing_to_apply() -> None:
    source = shop_source(plan=replace(acts.CLAIM, count=0))
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "Nothing is selected")
        assert "Apply" not in screen_text(app)
        await press(app, "enter")
        assert crumbs(app) == "prod ▸ orders ▸ fulfilment"
