"""Rolling scans over pending entries: a bounded number of rows a collection, every group in its turn."""

from collections.abc import AsyncIterator, Mapping

import pytest

from streamops.model.entries import ZERO_ID
from streamops.model.pending import DELIVERY_BOUNDS, IDLE_BOUNDS, PendingProfile
from streamops.model.streams import GroupReading, StreamReading
from streamops.monitor.details import ROWS_PER_COLLECTION, ROWS_PER_PAGE, DetailReader
from streamops.monitor.lag_reader import GroupCache
from streamops.wire.server import Server
from tests.support.servers import RunningServer


def add_pending(server: RunningServer, stream: str, pending: int) -> None:
    """A stream with so many pending entries; each third is idle for two minutes, each fifth delivered 7 times."""
    pipeline = server.client.pipeline(transaction=False)
    for _ in range(pending):
        pipeline.xadd(stream, {"f": "v"})
    ids = pipeline.execute()
    server.command("XGROUP", "CREATE", stream, "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "worker", "COUNT", pending, "STREAMS", stream, ">")
    idle, often = ids[::3], ids[::5]
    for some, words in ((idle, ("IDLE", 120_000, "RETRYCOUNT", 1)), (often, ("IDLE", 0, "RETRYCOUNT", 7))):
        if some:
            server.command("XCLAIM", stream, "billing", "worker", 0, *some, *words, "JUSTID")


def groups(pending: Mapping[str, int]) -> list[StreamReading]:
    return [
        StreamReading(name, count, (GroupReading("billing", 1, count, ZERO_ID, None, None),))
        for name, count in pending.items()
    ]


@pytest.fixture
async def reader(server: RunningServer) -> AsyncIterator[DetailReader]:
    connection = await Server.connect(server.options)
    yield DetailReader(connection, GroupCache())
    await connection.close()


def check_counts(profile: PendingProfile, pending: int) -> None:
    """Of a whole pass: what ``add_pending`` made."""
    often = len(range(0, pending, 5))
    idle = len(set(range(0, pending, 3)) - set(range(0, pending, 5)))
    assert profile.scanned == pending
    assert profile.delivery_buckets == (pending - often, 0, 0, often, 0)
    assert sum(profile.idle_buckets) == pending
    assert profile.idle_buckets[3] == idle
    assert profile.most_delivered is not None
    assert profile.most_delivered.delivery_count == 7


async def test_coverage_grows_to_the_whole(server: RunningServer, reader: DetailReader) -> None:
    pending = 2 * ROWS_PER_PAGE + 500
    add_pending(server, "orders", pending)
    coverage = []
    for _ in range(5):
        profile = (await reader.scan_pending(groups({"orders": pending})))["orders", "billing"]
        coverage.append(profile.coverage)
    assert coverage == [1000 / pending, 2000 / pending, 1.0, 1.0, 1.0]
    check_counts(profile, pending)


async def test_small_groups_are_whole_at_once(server: RunningServer, reader: DetailReader) -> None:
    pending = {f"orders:{number}": 10 + number for number in range(40)}
    for name, count in pending.items():
        add_pending(server, name, count)
    profiles = await reader.scan_pending(groups(pending))
    assert {profile.coverage for profile in profiles.values()} == {1.0}
    for (name, _), profile in profiles.items():
        check_counts(profile, pending[name])


async def test_rows_of_one_collection_are_bounded_and_turns_are_fair(
    server: RunningServer, reader: DetailReader
) -> None:
    pending = {f"orders:{number}": ROWS_PER_PAGE for number in range(10)}
    for name, count in pending.items():
        add_pending(server, name, count)
    at_once = ROWS_PER_COLLECTION // ROWS_PER_PAGE
    seen = []
    for _ in range(5):
        before = server.calls("xpending")
        seen.append(len(await reader.scan_pending(groups(pending))))
        assert server.calls("xpending") - before == at_once
    assert seen == [4, 8, 10, 10, 10]


async def test_refused_group_does_not_hold_up_the_others(server: RunningServer, reader: DetailReader) -> None:
    """Groups that cannot be read take their turn like all others, and no more."""
    gone = {f"gone:{number}": ROWS_PER_PAGE for number in range(5)}
    add_pending(server, "orders", 10)
    for _ in range(2):
        profiles = await reader.scan_pending(groups(gone | {"orders": 10}))
    assert list(profiles) == [("orders", "billing")]


async def test_profiles_never_ask_for_pending_entries_by_idle_time(
    server: RunningServer, reader: DetailReader
) -> None:
    """XPENDING with IDLE scans the whole list whatever its count: the server's own log of calls must not show it."""
    server.command("CONFIG", "SET", "slowlog-log-slower-than", 0)
    add_pending(server, "orders", 50)
    server.command("SLOWLOG", "RESET")
    await reader.scan_pending(groups({"orders": 50}))
    calls: list[list[bytes]] = [entry[3] for entry in server.command("SLOWLOG", "GET", 100)]
    server.command("CONFIG", "SET", "slowlog-log-slower-than", 10_000)
    scans = [call for call in calls if call[0].upper() == b"XPENDING"]
    assert scans
    assert all(b"IDLE" not in call and len(call) == 6 for call in scans)


async def test_group_without_pending_entries_has_no_profile(
    server: RunningServer, reader: DetailReader
) -> None:
    add_pending(server, "orders", 10)
    assert await reader.scan_pending(groups({"orders": 10}))
    assert await reader.scan_pending(groups({"orders": 0})) == {}


def test_bounds_are_in_order() -> None:
    assert list(IDLE_BOUNDS) == sorted(IDLE_BOUNDS)
    assert list(DELIVERY_BOUNDS) == sorted(DELIVERY_BOUNDS)
