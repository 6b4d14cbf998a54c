"""Searching payloads: how far a scan is, and the screen that shows it."""

import asyncio
from datetime import timedelta

from streamops.errors import Unreachable
from streamops.model.entries import LAST_ID, EntryId, StreamEntry
from streamops.monitor.search import Search, SearchResult, StopReason
from streamops.tui import routes
from streamops.tui.rows.finding import MOST_ENTRIES, MOST_FOUND, MOST_TIME, Scan, problem, query
from tests.support.tui import sample
from tests.support.tui.driving import bar, list_of, names, press, running, screen_text, shown, until
from tests.support.tui.source import InventedSource, app_for

SECOND = timedelta(seconds=1)


def entry(number: int) -> StreamEntry:
    kind = b"refund" if number % 100 == 0 else b"order"
    return StreamEntry(EntryId(number, 0), ((b"type", kind), (b"n", b"%d" % number)))


def result(scanned: int, found: int, last: int, stopped: StopReason = StopReason.MAX_TIME) -> SearchResult:
    entries = tuple(entry(number) for number in range(found))
    return SearchResult(entries, scanned, EntryId(900, 0), EntryId(last, 0), stopped, scanned * 10)


def test_a_scan_adds_up_and_goes_on_before_the_last_entry() -> None:
    scan = Scan().after(result(1_000, 2, 500), SECOND).after(result(500, 1, 100), SECOND)
    assert (scan.scanned, scan.found, scan.size, scan.took) == (1_500, 3, 15_000, 2 * SECOND)
    assert scan.entries_left == MOST_ENTRIES - 1_500
    assert not scan.over
    onward = scan.slice_of(Search())
    assert onward.end == EntryId(100, 0).previous()
    assert onward.limit == MOST_FOUND - 3
    assert Scan().slice_of(Search()).end == LAST_ID
    assert scan.words == "1,500 entries, 14.6 KiB in 2.0s"


def test_a_go_ends_with_a_budget_and_the_next_has_it_anew() -> None:
    for change, words in [
        ({"found_left": 0}, "500 found"),
        ({"entries_left": 0}, "1,000,000 scanned"),
        ({"bytes_left": 0}, "1.0 GiB scanned"),
        ({"time_left": timedelta(0)}, "1m00s spent"),
        ({}, ""),
    ]:
        scan = Scan(scanned=5, found=3, **change)  # type: ignore[arg-type]
        assert scan.spent == words
        renewed = scan.renewed()
        assert renewed.spent == ""
        assert (renewed.scanned, renewed.found, renewed.time_left) == (5, 3, MOST_TIME)


def test_a_scan_is_over_at_the_beginning_of_the_stream() -> None:
    assert Scan().after(result(5, 0, 3, StopReason.END), SECOND).over
    assert Scan().after(result(5, 0, 0), SECOND).over


def test_search_is_checked_before_it_begins() -> None:
    for text, words in [
        ("placed !refund", ""),
        ("where fields.type == 'order'", ""),
        ("where fields.n > 5", "unexpected 5"),
        ("where nope", "has no 'nope' at its root"),
        ('""', "no word to look for"),
    ]:
        assert words in problem(text)
        assert bool(problem(text)) is bool(words)


def test_expressions_are_tried_on_small_pages() -> None:
    assert query("where id").page < query("words").page
    assert query("words").newest_first


def test_search_prints_as_the_command_that_finds_the_same() -> None:
    assert routes.SearchRoute("orders", 'a "b c" !d').command == (
        "streams", "search", "--newest-first", "--contains=a", "--contains=b c", "--lacks=d",
    )  # fmt: skip
    assert routes.SearchRoute("orders", "where id").command[-1] == "--where=id"


def source_of(entries: int) -> InventedSource:
    return InventedSource(sample.shop(), [entry(number) for number in range(1, entries + 1)])


async def test_words_are_found_newest_first_and_enter_opens_one() -> None:
    app = app_for(source_of(2_500))
    async with running(app):
        await press(app, *"jjjj", "t", "s", *"refund", "enter")
        await shown(app, "searched all: 25 found in 2,500 entries")
        assert names(app)[:2] == ["2500-0", "2400-0"]
        assert bar(app, "crumbs").endswith("refund")
        await press(app, "c")
        await press(app, "enter")
        await shown(app, "refund")
        assert app.frame.place == routes.EntryRoute(
            "clicks", EntryId(2500, 0), ("clicks", "search"), entry(2500)
        )
        await press(app, "escape", "slash", *"1400", "enter")
        assert names(app) == ["1400-0"]


async def test_search_that_finds_nothing_says_how_much_was_looked_at() -> None:
    app = app_for(source_of(1_200))
    async with running(app):
        await press(app, "s", *"where fields.type == 'x'", "enter")
        await shown(app, "no entry matches where fields.type == 'x'; all were searched: 1,200 entries")


async def test_a_search_that_cannot_be_is_told_while_it_is_typed() -> None:
    app = app_for(source_of(10))
    async with running(app):
        await press(app, "s", *"where fields.n > 5")
        await until(app, lambda: "unexpected 5" in bar(app, "keys"))
        await press(app, "enter")
        assert "unexpected 5" in bar(app, "keys")
        await press(app, "escape")
        assert app.frame.place == routes.StatusRoute()


class Patient(InventedSource):
    """Answers a slice when it is told to."""

    def __init__(self, entries: int) -> None:
        super().__init__(sample.shop(), [entry(number) for number in range(1, entries + 1)])
        self.gate = asyncio.Event()
        self.slices: list[EntryId] = []

    async def search(self, stream: str, query: Search) -> SearchResult:
        assert stream == "clicks"
        self.slices.append(query.end)
        await self.gate.wait()
        self.gate.clear()
        found = [one for one in self.entries if one.id <= query.end][::-1][:1_000]
        hits = tuple(one for one in found if query.matches(one))
        stopped = StopReason.MAX_TIME if len(found) == 1_000 else StopReason.END
        return SearchResult(hits, len(found), found[0].id, found[-1].id, stopped, 50 * len(found))


async def test_escape_stops_it_and_g_goes_on_where_it_stopped() -> None:
    source = Patient(2_500)
    app = app_for(source)
    async with running(app):
        await press(app, *"jjjj", "s", *"refund", "enter")
        await shown(app, "searching, newest first; Esc stops")
        source.gate.set()
        await until(app, lambda: len(list_of(app).rows) == 10)
        assert "searching: 10 found in 1,000 entries" in bar(app, "status")
        await press(app, "escape")
        await shown(app, "stopped")
        # The slice that was under way is taken, and the last.
        source.gate.set()
        await until(app, lambda: len(list_of(app).rows) == 20)
        assert len(source.slices) == 2
        await press(app, "g")
        await until(app, lambda: len(source.slices) == 3)
        source.gate.set()
        await shown(app, "searched all: 25 found in 2,500 entries")
        assert [one.ms for one in source.slices[1:]] == [1500, 500]
        await press(app, "escape")
        assert app.frame.place == routes.StatusRoute()


async def test_a_lost_connection_keeps_what_was_found_and_r_goes_on() -> None:
    source = source_of(1_200)
    app = app_for(source)
    async with running(app):
        source.fails = Unreachable("cannot connect", "wait")
        await press(app, *"jjjj", "s", *"refund", "enter")
        await shown(app, "cannot connect. wait")
        source.fails = None
        await press(app, "r")
        await shown(app, "searched all: 12 found in 1,200 entries")


async def test_found_entries_can_be_marked_for_a_plan() -> None:
    app = app_for(source_of(500))
    async with running(app):
        await press(app, *"jjjj", "s", *"refund", "enter")
        await until(app, lambda: len(list_of(app).rows) == 5)
        await press(app, "asterisk")
        selection = app.frame.selection()
        assert selection is not None
        assert [one.ms for one in selection.ids] == [500, 400, 300, 200, 100]
        assert "● 5 marked" in screen_text(app)
