"""Plans that have to be made anew, and what is told of those that fail."""

from msgspec.structs import replace

from streamops.errors import ApplyError, Forbidden
from tests.support.tui import acts
from tests.support.tui.acting_shop import CLAIM_PLAN, DRIFTED
from tests.support.tui.driving import press, running, shown
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for


async def test_counting_again_shows_what_changed_and_asks_for_the_new_count() -> None:
    source = shop_source(plan=acts.ACK)
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "Tab, then type 12")
        source.plan = replace(acts.ACK, count=9, fingerprint="another")
        await press(app, "r")
        await shown(app, "‖ changed since it was last counted: it was 12 entries")
        await shown(app, "Tab, then type 9")
        await press(app, "tab", *"12", "enter")
        assert not source.applied


async def test_a_plan_that_cannot_be_made_says_why_and_can_be_tried_again() -> None:
    source = shop_source(
        plan=Forbidden("claim orders: more than 1,000,000 selected", "Narrow the selection.")
    )
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "✗ claim orders: more than 1,000,000 selected")
        await shown(app, "→ Narrow the selection.")
        source.plan = acts.CLAIM
        await press(app, "r")
        await shown(app, "[ Apply ]")


async def test_drift_is_told_and_a_new_plan_can_be_made() -> None:
    source = shop_source(outcome=DRIFTED)
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "✗ stream orders: another server answers now")
        await shown(app, "→ Nothing was done. Make a new plan.")
        await press(app, "tab", "enter")
        await shown(app, "[ Apply ]")
        assert len(source.planned) == 2


async def test_work_done_before_an_error_is_told_with_it() -> None:
    partial = replace(
        acts.DONE, applied=4, complete=False, stopped="the server went away", job="4f1c09ab12cd"
    )
    source = shop_source(outcome=ApplyError("the server went away", "Resume it.", partial))
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "✗ the server went away")
        await shown(app, "4 of 12")
        await shown(app, "4f1c09ab12cd")


async def test_a_failure_nobody_foresaw_is_told_too() -> None:
    source = shop_source(outcome=RuntimeError("[@click=app.bell]what[/]"))
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "✗ internal error: RuntimeError: [@click=app.bell]what[/]")


async def test_without_a_connection_nothing_is_done() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN)
        await shown(app, "[ Apply ]")
        app.live.source = None
        await press(app, "tab", "enter")
        await shown(app, "not connected: nothing was done")
        assert not source.applied
