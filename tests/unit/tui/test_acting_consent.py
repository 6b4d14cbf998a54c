"""Plans under Pilot: what has to be said before anything is done."""

from msgspec.structs import replace
from textual.app import App, ComposeResult

from streamops.model.acting import Confirmation, Environment
from streamops.operations.confirmation import ConfirmationKind, ConfirmationPolicy
from streamops.tui.acting.answer_row import AnswerRow
from tests.support.tui import acts
from tests.support.tui.acting_shop import CLAIM_PLAN
from tests.support.tui.driving import crumbs, press, running, screen_text, shown, typed_word, until
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for


async def test_cancel_has_the_focus_and_leaves_everything_as_it_was() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "Tab, then Enter applies")
        await press(app, "tab")
        await until(app, lambda: "[ Apply ] Enter applies" in screen_text(app))
        await press(app, "left")
        await shown(app, "Tab, then Enter applies")
        await press(app, "enter")
        assert crumbs(app) == "prod"
        assert not source.applied


class Stage(App[None]):
    """Answers to a plan that is still being made."""

    CSS = "$block-cursor-background: blue; $block-cursor-foreground: white;"

    def compose(self) -> ComposeResult:
        yield AnswerRow()


async def test_a_button_that_changes_its_label_shows_all_of_it() -> None:
    app = Stage()
    async with app.run_test() as pilot:
        await pilot.pause()
        row = app.query_one(AnswerRow)
        row.ask_for(ConfirmationPolicy(ConfirmationKind.TAB), "the plan")
        await pilot.pause()
        assert row.query_one("#cancel").size.width == len(" [ Cancel ] ")


async def test_apply_agreed_to_more_than_once_is_done_once() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "[ Apply ]")
        row = app.frame.query_one(AnswerRow)
        for _ in range(3):
            row.post_message(AnswerRow.Agreed(""))
        await shown(app, "10 of 12")
        assert source.applied == [(acts.CLAIM, Confirmation(yes=True))]


async def test_enter_is_enough_in_development() -> None:
    source = shop_source(environment=Environment.DEVELOPMENT)
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "Enter applies")
        await press(app, "enter")
        await shown(app, "10 of 12")


async def test_plan_that_loses_something_in_production_is_applied_by_its_name_alone() -> None:
    source = shop_source(plan=acts.TRIM)
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "Tab, then type orders")
        await press(app, "tab", "enter", *"order", "enter", "x", "enter")
        assert not source.applied
        await press(app, "backspace", "s")
        await shown(app, "Enter applies")
        await press(app, "enter")
        await shown(app, "10 of 12")
        assert source.applied == [(acts.TRIM, Confirmation(yes=True, typed="orders"))]


async def test_a_name_that_cannot_be_typed_is_typed_as_it_is_shown() -> None:
    name = "\x1b]5;\x07\udcff\u202e[@click=x]"
    source = shop_source(plan=replace(acts.TRIM, confirm=name))
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab")
        said = typed_word(app)
        await press(app, *said)
        await press(app, "enter")
        await until(app, lambda: bool(source.applied))
        assert source.applied[0][1] == Confirmation(yes=True, typed=name)


async def test_an_empty_plan_has_nothing_to_apply() -> None:
    source = shop_source(plan=replace(acts.CLAIM, count=0))
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "There is nothing to do")
        assert "Apply" not in screen_text(app)
        await press(app, "enter")
        assert crumbs(app) == "prod"
