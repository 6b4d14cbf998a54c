"""One entry's trace, from wherever it is listed; and a group's pending entries as a whole."""

from streamops.errors import Refused
from streamops.tui import routes
from streamops.tui.widgets.text_view import TextView
from tests.support.invented import entry_id, minutes
from tests.support.tui.driving import NARROW, crumbs, names, press, running, shown, until
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for

TO_PENDING = [*"jj", "enter", "l"]


async def test_a_pending_entry_has_a_trace() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app, NARROW):
        await press(app, *TO_PENDING)
        await shown(app, "worker-7")
        await press(app, "a")
        await shown(app, "added to payments: 3 fields")
        await shown(app, "? When it was acknowledged")
        first = entry_id(minutes(42))
        assert ("trace", "orders", first) in source.beside.asked
        assert app.frame.command_text() == f"streamops -c prod entries trace orders {first}"
        await press(app, "question_mark")
        await shown(app, "every key, and the command")
        await press(app, "enter")
        assert "eviction risk" not in "".join(map(str, app.frame.query_one("#main", TextView).lines))
        await press(app, "escape", "enter")
        assert app.frame.place == routes.EntryRoute("orders", first)


async def test_an_entry_of_a_stream_has_one_too() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, "t")
        await until(app, lambda: len(names(app)) == 40)
        await press(app, "a")
        await shown(app, "▸ trace")
        await press(app, "escape", "enter", "a")
        await shown(app, "▸ trace")
        assert len(source.beside.asked) == 2


async def test_where_there_is_no_entry_the_key_does_nothing() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "a")
        assert crumbs(app) == "prod"


async def test_a_trace_that_cannot_be_read_says_why() -> None:
    source = shop_source()
    source.beside.fails = Refused("NOPERM: this user may not run 'xrange'", "Ask for it.")
    app = app_for(source)
    async with running(app):
        app.go(routes.TraceRoute("orders", entry_id(minutes(42))))
        await shown(app, "✗ NOPERM")


async def test_pending_entries_are_summed_up_within_bounds() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app, NARROW):
        await press(app, *TO_PENDING)
        await shown(app, "14 pending entries · longest idle 41m00s")
        await shown(app, "Idle        ≤1s ████ 2".replace("████", "█"))
        await shown(app, "10m-1h ████ 12")
        await shown(app, "Owners      worker-7 86 % ████ 12")
        assert ("profile", "orders", "fulfilment", None, 10_000) in source.beside.asked


async def test_those_of_one_consumer_are_told_apart() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, *"jj", "enter", "end", "enter")
        await shown(app, "12 pending entries of worker-7, 14 in the group")


async def test_without_a_summing_up_the_list_stands_alone() -> None:
    source = shop_source()
    source.beside.fails = Refused("NOPERM: this user may not run 'xpending'", "Ask for it.")
    app = app_for(source)
    async with running(app):
        await press(app, *TO_PENDING)
        await shown(app, "✗ NOPERM")
        await shown(app, "worker-7")
