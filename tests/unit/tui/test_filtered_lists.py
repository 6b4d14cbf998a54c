"""What an action takes from a filtered list: what is marked, else what is shown; nothing where nothing is shown."""

from pkgutil import resolve_name

import pytest

from streamops.errors import Refused
from streamops.operations.replay.intent import ReplayIntent
from streamops.tui import routes
from streamops.tui.app import StreamopsApp
from streamops.tui.routes import Route
from streamops.tui.rows.selection import KEYS
from streamops.tui.screens.form import FormScreen
from streamops.tui.screens.listing import Arranged, Listing
from tests.support.tui import acts, sample
from tests.support.tui.driving import list_of, places, press, running, screen_text, settle, shown, until
from tests.support.tui.invented_beside import QUEUE
from tests.support.tui.source import InventedSource, app_for

LISTS: dict[type[Route], Route] = {
    type(place): place
    for place in (
        routes.StatusRoute(),
        routes.StreamsRoute(),
        routes.StreamRoute("orders"),
        routes.GroupRoute("orders", "fulfilment"),
        routes.PendingRoute("orders", "fulfilment"),
        routes.EntriesRoute("orders"),
        routes.SearchRoute("orders", "A-"),
        routes.OverviewRoute(),
        routes.AlertsRoute(),
        routes.DeadLettersRoute(),
        routes.DeadLetterEntriesRoute(QUEUE),
        routes.DelayedQueuesRoute(),
        routes.DelayedRoute("orders"),
        routes.TopicsRoute(),
        routes.WorkersRoute(),
        routes.WorkerRoute("so-billing-2", "billing"),
        routes.PoolsRoute(),
        routes.JobsRoute(),
        routes.AuditRoute(),
        routes.ContextsRoute(),
        routes.ViewsRoute(),
    )
}
NOTHING_SUCH = ["slash", *"qqq", "enter"]
MARKS = ["space", "asterisk", "asterisk", "exclamation_mark"]
OWN_ACTIONS: dict[type[Route], list[str]] = {
    routes.JobsRoute: ["R", "X", "X"],
    routes.AlertsRoute: ["m"],
    routes.AuditRoute: ["z"],
    routes.ContextsRoute: ["enter"],
}


def shop_at_work() -> InventedSource:
    source = InventedSource(sample.shop(), sample.entries(), sample.pending_rows())
    source.jobs = (acts.JOB,)
    source.actions = (acts.action(0, acts.CLAIM, acts.DONE),)
    return source


async def open_list(app: StreamopsApp, place: Route) -> None:
    app.go(place)
    await until(app, lambda: app.frame.place == place)
    await settle(app)


def test_every_list_of_the_console_is_tried() -> None:
    found = {place: resolve_name(f"streamops.tui.screens.{place.screen}") for place in places()}
    lists = {
        place
        for place, screen in found.items()
        if isinstance(screen, Listing) or issubclass(screen, Arranged)
    }
    assert lists == set(LISTS)


@pytest.mark.parametrize("place", LISTS.values(), ids=lambda place: type(place).__name__)
async def test_filter_that_matches_nothing_leaves_every_action_without_effect(place: Route) -> None:
    source = shop_at_work()
    app = app_for(source)
    async with running(app):
        await open_list(app, place)
        if not isinstance(place, routes.ViewsRoute):
            await until(app, lambda: bool(list_of(app).rows))
        await press(app, *NOTHING_SUCH)
        assert not list_of(app).rows
        frame = app.frame
        await press(app, *MARKS, *KEYS[:1], *OWN_ACTIONS.get(type(place), []))
        assert app.frame is frame
        assert frame.selection() is None
        assert not any(app.check_action("act", (key,)) for key in KEYS)
        assert not source.planned
        assert not source.cancelled
        assert app.app_state.context.name == "prod"


@pytest.mark.parametrize("place", [routes.DeadLetterEntriesRoute(QUEUE), routes.EntriesRoute(QUEUE)])
async def test_queue_without_a_row_to_show_is_never_replayed_as_a_whole(place: Route) -> None:
    source = shop_at_work()
    app = app_for(source)
    async with running(app):
        source.fails = source.beside.fails = Refused(
            "NOPERM: this user may not run 'xrevrange'", "Ask for it."
        )
        await open_list(app, place)
        assert not list_of(app).rows
        frame = app.frame
        await press(app, *KEYS)
        assert app.frame is frame


async def test_expression_that_holds_of_no_letter_replays_none() -> None:
    source = shop_at_work()
    app = app_for(source)
    async with running(app):
        await open_list(app, routes.DeadLetterEntriesRoute(QUEUE))
        await until(app, lambda: bool(list_of(app).rows))
        await press(app, "equals_sign", *"reason", "space", *"==", "space", *"'no'", "enter")
        await shown(app, "no dead letter matches")
        frame = app.frame
        await press(app, *KEYS)
        assert app.frame is frame


async def test_rows_that_the_filter_shows_are_taken_unless_some_are_marked_and_the_plan_says_how_many() -> (
    None
):
    source = shop_at_work()
    app = app_for(source)
    async with running(app):
        await open_list(app, routes.DeadLetterEntriesRoute(QUEUE))
        await press(app, "slash", *"rejected", "enter", "R", "enter")
        await shown(app, "4 shown of 18")
        chosen = tuple(source.beside.letters[at].id for at in (-3, -7, -11, -15))
        assert source.planned[-1][0] == ReplayIntent(queue=QUEUE, ids=chosen)
        await press(app, "escape", "escape", "space", "R", "enter")
        await shown(app, "1 marked of 18")
        assert source.planned[-1][0] == ReplayIntent(queue=QUEUE, ids=chosen[:1])


async def test_selection_is_not_claimed_once_the_form_names_other_entries() -> None:
    app = app_for(shop_at_work())
    async with running(app):
        await open_list(app, routes.DeadLetterEntriesRoute(QUEUE))
        await press(app, "slash", *"rejected", "enter", "R")
        assert isinstance(app.frame, FormScreen)
        next(row for row in app.frame._rows if row.question.label == "ids").answer.value = "1-1"
        await press(app, "enter")
        await shown(app, "Cancel")
        assert "shown of" not in screen_text(app)
