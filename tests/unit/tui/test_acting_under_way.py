"""Work under way: how far it is, and what stops it and what does not."""

from msgspec.structs import replace

from tests.support.tui import acts, sample
from tests.support.tui.acting_shop import CLAIM_PLAN, long_work
from tests.support.tui.driving import bar, press, running, shown, until
from tests.support.tui.source import InventedSource, app_for


async def test_work_under_way_is_found_again_among_the_jobs_and_stopped_there() -> None:
    source = long_work(outcome=replace(acts.DONE, applied=7, complete=False, stopped="interrupted"))
    app = app_for(source)
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "410,000 of 1,000,000 entries · 61.1k/s · about 9.6s left")
        assert "▸ claim orders/fulfilment 41 %" in bar(app, "status")
        await press(app, "3", "4", "4")
        await shown(app, "4f1c09ab12cd")
        await press(app, "enter")
        await shown(app, "410,000 of 1,000,000 entries")
        await press(app, "escape")
        await shown(app, "✗ interrupted")
        await shown(app, "7 of 12")


async def test_work_whose_screen_is_left_holds_the_context_and_tells_when_it_is_done() -> None:
    source = long_work()
    app = app_for(source, InventedSource(sample.observation()))
    async with running(app):
        await press(app, *CLAIM_PLAN, "tab", "enter")
        await shown(app, "410,000 of 1,000,000")
        polls = source.polls
        await press(app, "3")
        await until(app, lambda: "▸ claim orders/fulfilment 41 %" in bar(app, "status"))
        app.switch_context("staging")
        await shown(app, "is running here")
        assert app.app_state.context.name == "prod"
        source.hold.set()
        await shown(app, "claim orders/fulfilment: 10 done; @ shows more")
        await until(app, lambda: source.polls > polls)
        assert "▸ claim" not in bar(app, "status")


async def test_quitting_first_stops_all_that_is_under_way() -> None:
    source = long_work()
    app = app_for(source)
    async with running(app):
        for _ in range(2):
            await press(app, "3", "home", *CLAIM_PLAN, "tab", "enter")
            await shown(app, "410,000 of 1,000,000")
        assert len(app.running) == 2
        await press(app, "ctrl+q")
        await until(app, lambda: bool(app._exit))
        assert not app.running
