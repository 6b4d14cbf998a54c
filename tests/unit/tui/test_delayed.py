"""Delayed messages: queues, the messages of one, and which of them a plan takes."""

from datetime import timedelta

from streamops.errors import Unreachable
from streamops.model.streams import ReadError
from streamops.operations.delayed.intent import CancelDelayedIntent, RunDelayedIntent
from streamops.tui import routes
from tests.support.tui.acting_shop import planned
from tests.support.tui.driving import bar, list_of, names, press, running, screen_text, shown, until
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for

TO_QUEUES = ["colon", *"delayed", "enter"]
TO_MESSAGES = [*TO_QUEUES, "enter"]


async def test_queues_tell_what_is_due_when_the_next_one_is_and_how_many_are_not_readable() -> None:
    source = shop_source()
    source.beside.gaps = (ReadError("NOPERM: this user may not run 'zcard'", stream="secrets"),)
    app = app_for(source)
    async with running(app):
        await press(app, *TO_QUEUES)
        await until(app, lambda: names(app) == ["orders", "topic:remind"])
        await shown(app, "1 not readable")
        await shown(app, "overdue 40s")
        await shown(app, "can never become")
        assert app.frame.command_text() == "streamops -c prod delayed ls"


async def test_a_queue_lists_its_messages_sums_them_up_and_tells_what_is_at_fault() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, *TO_MESSAGES)
        await shown(app, "4 messages · 1 due, not moved yet · the first overdue by 40s · 3 bodies")
        assert names(app)[0] == "remind-A-10031"
        await press(app, "f")
        assert names(app) == ["remind-A-10031", "lost-1"]
        await press(app, "f", "down")
        await shown(app, "{orders}:retry:bi")
        assert app.frame.command_text() == "streamops -c prod delayed ls orders"
        await press(app, "enter")
        await shown(app, "The entry")
        assert app.frame.command_text() == "streamops -c prod delayed show orders r:1773487080000-0"


async def test_one_message_and_marked_ones_are_run_now_by_their_ids() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *TO_MESSAGES)
        await until(app, lambda: len(list_of(app).rows) == 4)
        await press(app, "R", "enter")
        await until(app, lambda: bool(source.planned))
        assert planned(source) == RunDelayedIntent(stream="orders", ids=("remind-A-10031",))
        await press(app, "escape", "escape", "f", "asterisk", "D", "enter")
        await until(app, lambda: len(source.planned) == 2)
        intent = planned(source)
        assert isinstance(intent, CancelDelayedIntent)
        assert intent.ids == ("remind-A-10031", "lost-1")
        assert intent.backup


async def test_queue_is_its_due_messages_until_all_are_marked() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *TO_QUEUES)
        await until(app, lambda: len(list_of(app).rows) == 2)
        await press(app, "R", "enter")
        await until(app, lambda: bool(source.planned))
        assert planned(source) == RunDelayedIntent(stream="orders", before=timedelta())
        await press(app, "escape", "escape", "enter")
        await until(app, lambda: len(list_of(app).rows) == 4)
        await press(app, "asterisk", "asterisk")
        assert "● the whole queue marked" in bar(app, "crumbs")
        await press(app, "R", "enter")
        await until(app, lambda: len(source.planned) == 2)
        assert planned(source) == RunDelayedIntent(stream="orders", every=True)


async def test_a_message_that_is_gone_says_so() -> None:
    app = app_for(shop_source())
    async with running(app):
        app.go(routes.DelayedMessageRoute("orders", "was-there"))
        await shown(app, "it became an entry, or was removed")


async def test_a_lost_server_leaves_what_was_read() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *TO_MESSAGES)
        await until(app, lambda: len(list_of(app).rows) == 4)
        source.beside.fails = Unreachable("cannot connect: connection refused", "Look whether it runs.")
        await press(app, "r")
        await shown(app, "cannot connect: connection refused")
        assert len(list_of(app).rows) == 4
        source.beside.fails = None
        await press(app, "r")
        await until(app, lambda: "cannot connect" not in screen_text(app))
