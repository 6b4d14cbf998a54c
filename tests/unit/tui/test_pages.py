"""What screens read for themselves: pending entries, one entry, the tail of a stream."""

import asyncio

from msgspec.structs import replace

from streamops.errors import Refused
from streamops.tui.screens.entry import EntryScreen
from tests.support.tui import sample
from tests.support.tui.driving import NARROW, bar, list_of, press, running, settle, shown, until
from tests.support.tui.shop import REFUSED, shop_source
from tests.support.tui.source import InventedSource, app_for


async def test_pending_entries_are_read_page_by_page_as_the_cursor_goes() -> None:
    source = InventedSource(sample.shop(), pending=sample.pending_rows(250))
    app = app_for(source)
    async with running(app):
        await press(app, *"jj", "enter", "l")
        await until(app, lambda: len(list_of(app).rows) == 100)
        assert "and more" in bar(app, "status")
        await press(app, "end")
        await until(app, lambda: len(list_of(app).rows) == 200)
        await press(app, "end")
        await until(app, lambda: len(list_of(app).rows) == 250)
        assert "and more" not in bar(app, "status")
        await press(app, "home", "r")
        await until(app, lambda: len(list_of(app).rows) == 100)


async def test_pending_entries_are_read_again_with_the_group_beside_them() -> None:
    source = InventedSource(sample.shop(), pending=sample.pending_rows())
    app = app_for(source)
    async with running(app):
        await press(app, *"jj", "enter", "l")
        await until(app, lambda: len(list_of(app).rows) == 14)
        source.pending, source.observation = source.pending[1:], sample.shop()
        summed = source.beside.asked.count(("summary", "orders", "fulfilment"))
        app.live.poller.poll_now()
        await until(app, lambda: len(list_of(app).rows) == 13)
        await until(app, lambda: source.beside.asked.count(("summary", "orders", "fulfilment")) > summed)


async def test_a_refused_read_is_told_on_its_own_screen_only() -> None:
    source = shop_source()
    source.fails = None
    app = app_for(source)
    async with running(app):
        await press(app, "enter")
        source.fails = Refused("NOPERM: this user has no permission to run 'xpending'")
        await press(app, "l")
        await shown(app, "NOPERM: this user has no permission to run 'xpending'")
        assert not app.frame.query_one("#banner").display
        source.fails = None
        await press(app, "r")
        await until(app, lambda: len(list_of(app).rows) == 14)


async def test_a_trimmed_entry_says_that_it_is_gone() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, *"jj", "enter", "l", "enter")
        await shown(app, "1773487080000-0 is no longer in the stream: it was trimmed or deleted")


async def test_an_entry_is_searched_and_shown_raw() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app, NARROW):
        await press(app, *"jjjj", "t")
        await until(app, lambda: len(list_of(app).rows) == 40)
        await press(app, "enter")
        await shown(app, '"customer": "c-273"')
        await press(app, "v")
        await shown(app, '{"customer": "c-273", "total": "39.90", "lines": [1, 2]}')
        await press(app, "slash", *"paid", "enter")
        await until(app, lambda: "/paid  0 lines" in bar(app, "crumbs"))
        await press(app, "slash", *["backspace"] * 4, *"c-273", "enter")
        await until(app, lambda: "/c-273  1 lines" in bar(app, "crumbs"))
        await press(app, "n", "b", "escape")
        assert "/c-273" not in bar(app, "crumbs")
        assert isinstance(app.frame, EntryScreen)


async def test_the_tail_follows_until_the_cursor_leaves_the_end() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *"jjjj", "t")
        await until(app, lambda: len(list_of(app).rows) == 40)
        await until(app, lambda: ("tail", "clicks", sample.entries()[-1].id) in source.asked)
        assert "following" in bar(app, "status")
        for entry in sample.entries(45)[40:43]:
            source.arriving.put_nowait(replace(entry, id=entry.id._replace(seq=1)))
        await until(app, lambda: len(list_of(app).rows) == 43)
        assert list_of(app).cursor == 42
        await press(app, "up")
        source.arriving.put_nowait(
            replace(sample.entries(45)[44], id=sample.entries()[-1].id._replace(seq=9))
        )
        await until(app, lambda: len(list_of(app).rows) == 44)
        assert list_of(app).cursor == 41
        await until(app, lambda: "t follows" in bar(app, "status"))
        await press(app, *"jjjj", "t")
        assert list_of(app).cursor == 43


async def test_a_frozen_tail_holds_still_and_catches_up() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *"jjjj", "t")
        await until(app, lambda: ("tail", "clicks", sample.entries()[-1].id) in source.asked)
        await press(app, "p")
        source.arriving.put_nowait(replace(sample.entries()[-1], id=sample.entries()[-1].id._replace(seq=1)))
        await until(app, source.arriving.empty)
        await settle(app)
        assert len(list_of(app).rows) == 40
        await press(app, "p")
        await until(app, lambda: len(list_of(app).rows) == 41)


async def test_older_entries_are_read_at_the_top() -> None:
    source = InventedSource(sample.shop(), sample.entries(250))
    app = app_for(source)
    async with running(app):
        await press(app, *"jjjj", "t")
        await until(app, lambda: len(list_of(app).rows) == 100)
        await press(app, "home")
        await until(app, lambda: len(list_of(app).rows) == 200)
        assert list_of(app).cursor == 100
        assert [row.entry for row in list_of(app).rows] == list(sample.entries(250)[50:])  # type: ignore[attr-defined]


async def test_a_tail_that_breaks_off_says_so_and_recovers() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *"jjjj", "t")
        await until(app, lambda: ("tail", "clicks", sample.entries()[-1].id) in source.asked)
        source.arriving.put_nowait(REFUSED)
        await shown(app, "tail stopped: cannot connect: connection refused")
        source.arriving.put_nowait(replace(sample.entries()[-1], id=sample.entries()[-1].id._replace(seq=1)))
        await until(app, lambda: len(list_of(app).rows) == 41)
        await until(app, lambda: "broke off" not in bar(app, "status"))


async def test_leaving_a_tail_ends_it() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, *"jjjj", "t")
        await until(app, lambda: ("tail", "clicks", sample.entries()[-1].id) in source.asked)
        await press(app, "escape")
        await asyncio.sleep(0.05)
        source.arriving.put_nowait(sample.entries()[0])
        await asyncio.sleep(0.05)
        assert source.arriving.qsize() == 1


async def test_a_stream_that_vanishes_says_so_where_it_was_open() -> None:
    source = shop_source()
    app = app_for(source)
    async with running(app):
        await press(app, "2", "down", "down", "down", "enter", "enter")
        source.observation = sample.observation(sample.stream_view("other"))
        await press(app, "r")
        await shown(app, "group billing does not exist (any more)")
        await press(app, "escape")
        await shown(app, "stream orders does not exist (any more)")


async def test_unreadable_consumers_say_why() -> None:
    shop = sample.shop()
    stream = next(view for view in shop.streams if view.stream.name == "inventory")
    group = replace(stream.groups[0], group=replace(stream.groups[0].group, members=None))
    gap = replace(shop.snapshot.gaps[0], stream="inventory", group="sync", part="consumers")
    app = app_for(InventedSource(sample.observation(replace(stream, groups=(group,)), gaps=(gap,))))
    async with running(app):
        await press(app, "enter")
        await shown(app, "not readable: NOPERM")
