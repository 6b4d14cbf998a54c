"""Counting keeps to its budget, serves what is cheap first, and never counts wrong."""

from msgspec.structs import replace

from streamops.model.entries import ZERO_ID, EntryId
from streamops.monitor.counting import CountBudget, Counter
from streamops.monitor.lag import RangeCount
from streamops.wire.server import Server
from streamops.wire.stream_reader import SCRIPTED, Depth
from tests.support.monitor.tallies import BUDGET, add_of_sizes, ahead
from tests.support.servers import RunningServer


def xrange_calls(server: RunningServer) -> int:
    statistics = server.client.info("commandstats")
    return int(statistics.get("cmdstat_xrange", {"calls": 0})["calls"])


async def test_no_more_entries_than_the_budget_allows(
    server: RunningServer, connected: Server, depth: Depth
) -> None:
    for number in range(4):
        add_of_sizes(server, f"orders:{number}", [10] * 200)
    counter = Counter(connected, BUDGET)
    spans = [ahead(f"orders:{number}") for number in range(4)]
    await counter.count(spans, depth)
    assert sum(span.counted for span in spans) == BUDGET.per_collection
    assert max(span.counted for span in spans) <= BUDGET.per_range
    assert counter.left == 0
    more = ahead("orders:0")
    await counter.count([more], depth)
    assert (more.counted, more.complete) == (0, False)


async def test_no_more_entries_of_one_range_than_the_budget_allows(
    server: RunningServer, connected: Server, depth: Depth
) -> None:
    add_of_sizes(server, "orders", [10] * 200)
    span = ahead("orders")
    counter = Counter(connected, BUDGET)
    await counter.count([span], depth)
    assert (span.counted, span.complete) == (BUDGET.per_range, False)
    assert counter.left == BUDGET.per_collection - BUDGET.per_range


async def test_first_ones_are_served_first(server: RunningServer, connected: Server, depth: Depth) -> None:
    add_of_sizes(server, "orders", [10] * 200)
    spans = [ahead("orders", 196), ahead("orders", 193), ahead("orders"), ahead("orders")]
    counter = Counter(connected, replace(BUDGET, per_collection=20, per_page=10))
    await counter.count(spans, depth)
    assert [span.complete for span in spans] == [True, True, False, False]
    assert [span.counted for span in spans] == [4, 7, 9, 0]


async def test_what_one_range_leaves_another_may_use(
    server: RunningServer, connected: Server, depth: Depth
) -> None:
    """Pages reserve more than they need; what is left over comes back."""
    add_of_sizes(server, "orders", [10] * 100)
    spans = [ahead("orders", 98) for _ in range(30)]
    counter = Counter(connected, BUDGET)
    await counter.count(spans, depth)
    assert all(span.complete for span in spans)
    assert counter.left == BUDGET.per_collection - 60


async def test_what_is_counted_to_tell_what_was_removed_is_of_the_budget_too(
    server: RunningServer, connected: Server
) -> None:
    """Five up to the end of then; of the fifty since, and of those that wait now, a page each."""
    depth = Depth.SCRIPT if server.label == "redis-6.2" else Depth.READ_ONLY_SCRIPT
    add_of_sizes(server, "orders", [10] * 200)
    server.command("XGROUP", "CREATE", "orders", "billing", "145-1")
    counter = Counter(connected, BUDGET)
    spans = [RangeCount("orders", EntryId(145, 1), EntryId(150, 1), 10, 150, "billing") for _ in range(9)]
    await counter.count(spans[:1], depth)
    assert (spans[0].counted, spans[0].complete, spans[0].gone, spans[0].now) == (5, True, None, None)
    assert counter.left == BUDGET.per_collection - 5 - 2 * BUDGET.per_page
    walked = BUDGET.bytes_per_collection - counter.bytes_left
    assert walked // (5 + 2 * BUDGET.per_page) == spans[0].walked // 5
    await counter.count(spans[1:], depth)
    assert counter.left >= 0
    assert [span.complete for span in spans].index(False) > 1


async def test_rounds_are_bounded(server: RunningServer, connected: Server, depth: Depth) -> None:
    add_of_sizes(server, "orders", [10] * 100)
    span = ahead("orders")
    counter = Counter(connected, replace(BUDGET, per_page=1, rounds=7))
    await counter.count([span], depth)
    assert (span.counted, counter.rounds_left) == (7, 0)


async def test_refused_range_is_left_alone(server: RunningServer, connected: Server, depth: Depth) -> None:
    server.command("SET", "text", "no stream")
    add_of_sizes(server, "orders", [10] * 5)
    spans = [ahead("text"), ahead("orders")]
    await Counter(connected, BUDGET).count(spans, depth)
    assert [span.failed for span in spans] == [True, False]
    assert [span.complete for span in spans] == [False, True]


async def test_large_entries_end_it_early(server: RunningServer, connected: Server, depth: Depth) -> None:
    """The size of the entries is known: no call takes more than fit, and all calls no more than the budget."""
    size, fit = 100_000, 5
    add_of_sizes(server, "large", [size] * 30)
    counter = Counter(
        connected, replace(BUDGET, bytes_per_page=fit * size, bytes_per_collection=2 * fit * size)
    )
    span = ahead("large", entry_bytes=size)
    await counter.count([span], depth)
    assert span.counted == span.walked // size <= 2 * fit
    assert span.counted >= fit
    assert not span.complete


async def test_large_entries_hidden_among_small_ones(
    server: RunningServer, connected: Server, depth: Depth
) -> None:
    """First and last entry are small, the rest is not: the count must find out before it costs."""
    size = 200_000
    add_of_sizes(server, "hiding", [10] + [size] * 100 + [10])
    budget = CountBudget(bytes_per_page=size, bytes_per_collection=2 * size)
    counter = Counter(connected, budget)
    span = ahead("hiding", entry_bytes=10)
    await counter.count([span], depth)
    first_step = 16 if depth in SCRIPTED else 10
    assert span.walked <= budget.bytes_per_collection + first_step * size
    assert not span.complete


async def test_single_entry_larger_than_the_budget_is_counted(
    server: RunningServer, connected: Server, depth: Depth
) -> None:
    add_of_sizes(server, "large", [3_000_000])
    span = RangeCount("large", ZERO_ID, EntryId(1, 1), 3_000_000)
    counter = Counter(connected, replace(BUDGET, bytes_per_page=1000, bytes_per_collection=2000))
    await counter.count([span], depth)
    assert (span.counted, span.complete) == (1, True)
    assert counter.bytes_left < 0
    assert not counter.allows(1, 1)


async def test_server_works_no_more_than_it_is_asked_to(server: RunningServer, connected: Server) -> None:
    depth = Depth.SCRIPT if server.label == "redis-6.2" else Depth.READ_ONLY_SCRIPT
    add_of_sizes(server, "orders", [10] * 2000)
    server.command("CONFIG", "RESETSTAT")
    await Counter(connected, CountBudget(per_collection=1000)).count([ahead("orders")], depth)
    # Steps of 16 and then 64 entries: a page of 100, and one of 900.
    assert xrange_calls(server) <= (100 + 900) // 64 + 4
