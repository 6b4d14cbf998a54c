"""Lags that one reading leaves open are counted, carried on and checked."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from streamops.model.lag import LagBasis
from streamops.monitor import counting
from streamops.wire import reads
from streamops.wire.reads import CountRange
from streamops.wire.server import Server
from tests.support.monitor.lag_watching import (
    STREAM,
    TIGHT,
    Watcher,
    exact,
    group_at,
    reports_lag_to_be_believed,
)
from tests.support.servers import RunningServer
from tests.support.streams import add_numbered, deliver

pytestmark = pytest.mark.every_server("what a server counts, permits and answers differs by version")


async def test_counted_forwards_backwards_or_bounded(server: RunningServer, connected: Server) -> None:
    tight = Watcher(connected, replace(TIGHT, per_collection=100))
    add_numbered(server, STREAM, 1, 100)
    for position in (4, 50, 96):
        group_at(server, position, f"at-{position}")
    # Where the server still knows them, it must be made to forget.
    server.command("XDEL", STREAM, "99-1")
    lags = await tight.lags()
    assert exact(lags["at-4"]) == 95
    assert exact(lags["at-96"]) == 3
    middle = lags["at-50"]
    assert middle.entries is None or middle.basis is LagBasis.ESTIMATED
    assert middle.lower is not None
    assert middle.upper is not None
    assert 1 <= middle.lower <= 49 <= middle.upper <= 98


async def test_bounds_are_not_counted_again_while_nothing_moves(
    server: RunningServer, connected: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A count that used up its budget would find no more; the next one goes to a group that had no turn."""
    tight = Watcher(connected, TIGHT)
    add_numbered(server, STREAM, 1, 100)
    for position in (50, 51):
        group_at(server, position, f"at-{position}")
    server.command("XDEL", STREAM, "99-1")
    counted: list[int] = []
    count_entries = reads.count_entries

    async def noted(server: Server, ranges: Sequence[CountRange], **how: Any) -> Any:  # noqa: ANN401  # passed on
        counted.append(sum(page.limit for page in ranges))
        return await count_entries(server, ranges, **how)

    monkeypatch.setattr(counting, "count_entries", noted)
    totals, lags = [], []
    for _ in range(4):
        counted.clear()
        lags.append(await tight.lags())
        totals.append(sum(counted))
    assert totals == [20, 20, 0, 0]
    assert lags[1] == lags[2] == lags[3]
    for group, truth in (("at-50", 49), ("at-51", 48)):
        lower, upper = lags[3][group].lower, lags[3][group].upper
        assert lower is not None
        assert upper is not None
        assert 10 <= lower <= truth <= upper <= 90
    add_numbered(server, STREAM, 101, 101)
    counted.clear()
    await tight.lags()
    assert sum(counted) > 0


async def test_count_is_carried_through_deliveries_and_additions(
    server: RunningServer, tight: Watcher
) -> None:
    """Anchored once near the beginning, a lag too large to count stays exact while the group moves along."""
    add_numbered(server, STREAM, 1, 200)
    server.command("XDEL", STREAM, "150-1")
    group_at(server, 2)
    assert exact(await tight.lag()) == 197
    if server.label == "redis-6.2":
        pytest.skip("without entries-added nobody can tell that none was removed")
    last = 200
    for step in range(1, 8):
        deliver(server, STREAM, "billing", "w", 8, "NOACK")
        add_numbered(server, STREAM, last + 1, last + 3)
        last += 3
        assert exact(await tight.lag()) == 197 - 8 * step + 3 * step
    # Deep inside the stream by now: counting alone would not reach either end.
    add_numbered(server, STREAM, last + 1, last + 1)
    lag = await tight.lag()
    assert exact(lag) == 197 - 8 * 7 + 3 * 7 + 1
    assert lag.reason == "counted earlier; entries were only added since"


async def test_count_is_not_carried_through_removals(server: RunningServer, tight: Watcher) -> None:
    add_numbered(server, STREAM, 1, 200)
    server.command("XDEL", STREAM, "150-1")
    group_at(server, 2)
    assert exact(await tight.lag()) == 197
    deliver(server, STREAM, "billing", "w", 50, "NOACK")
    server.command("XDEL", STREAM, "100-1")
    lag = await tight.lag()
    assert lag.basis is not LagBasis.EXACT
    assert lag.lower is not None
    assert lag.upper is not None
    assert lag.lower <= 146 <= lag.upper


@pytest.mark.parametrize("same_ids", [True, False])
async def test_count_is_not_carried_over_to_another_stream_of_that_name(
    server: RunningServer, tight: Watcher, *, same_ids: bool
) -> None:
    add_numbered(server, STREAM, 1, 100)
    server.command("XDEL", STREAM, "90-1")
    group_at(server, 2)
    assert exact(await tight.lag()) == 97
    server.command("DEL", STREAM)
    if same_ids:
        # As many entries and as many removed as before, and the first ID is the same: the rest is not.
        add_numbered(server, STREAM, 1, 2)
        add_numbered(server, STREAM, 103, 200)
        server.command("XDEL", STREAM, "190-1")
        group_at(server, 150)
        truth = 49
    else:
        add_numbered(server, STREAM, 1001, 1100)
        server.command("XDEL", STREAM, "1090-1")
        group_at(server, 1050)
        truth = 49
    lag = await tight.lag()
    assert lag.basis is not LagBasis.EXACT or lag.entries == truth
    assert lag.lower is not None
    assert lag.upper is not None
    assert lag.lower <= truth <= lag.upper


async def test_false_count_is_caught_in_as_many_collections_as_there_are_groups(
    server: RunningServer, patient: Watcher
) -> None:
    if not reports_lag_to_be_believed(server):
        pytest.skip("this server's lag is not believed in the first place")
    add_numbered(server, STREAM, 1, 50)
    names = [f"g{number}" for number in range(5)]
    for number, name in enumerate(names):
        server.command("XGROUP", "CREATE", STREAM, name, "10-1", "ENTRIESREAD", 20 if number == 3 else 10)
    said = [(await patient.lags())["g3"] for _ in names]
    assert [lag.entries for lag in said[:-1]].count(30) == 3
    assert exact(said[3]) == 40
    assert "the server reports 30" in said[3].reason
    for _ in range(2 * len(names)):
        assert exact((await patient.lags())["g3"]) == 40
    others = await patient.lags()
    assert {others[name].basis for name in names if name != "g3"} == {LagBasis.REPORTED}
    # And after it has moved it is not believed either.
    deliver(server, STREAM, "g3", "w", 5, "NOACK")
    assert exact((await patient.lags())["g3"]) == 35


async def test_check_goes_round(server: RunningServer, patient: Watcher) -> None:
    """Where there is one group, every collection checks it."""
    if not reports_lag_to_be_believed(server):
        pytest.skip("this server's lag is not believed in the first place")
    add_numbered(server, STREAM, 1, 50)
    server.command("XGROUP", "CREATE", STREAM, "billing", "10-1", "ENTRIESREAD", 10)
    for _ in range(3):
        assert (await patient.lag()).basis is LagBasis.REPORTED
    for entries_read in (20, 5):
        server.command("XGROUP", "SETID", STREAM, "billing", "10-1", "ENTRIESREAD", entries_read)
        assert exact(await patient.lag()) == 40


async def test_what_was_checked_is_forgotten_with_its_group(server: RunningServer, patient: Watcher) -> None:
    """A group made anew under the same name is checked as soon as any other new one."""
    if not reports_lag_to_be_believed(server):
        pytest.skip("this server's lag is not believed in the first place")
    add_numbered(server, STREAM, 1, 50)
    for name in ("a", "b", "c"):
        server.command("XGROUP", "CREATE", STREAM, name, "10-1", "ENTRIESREAD", 10)
    assert (await patient.lags())["a"].basis is LagBasis.REPORTED
    server.command("XGROUP", "DESTROY", STREAM, "a")
    await patient.lags()
    server.command("XGROUP", "CREATE", STREAM, "a", "10-1", "ENTRIESREAD", 20)
    assert exact((await patient.lags())["a"]) == 40


async def test_caught_group_is_remembered_when_only_others_are_collected(
    server: RunningServer, patient: Watcher
) -> None:
    if not reports_lag_to_be_believed(server):
        pytest.skip("this server's lag is not believed in the first place")
    add_numbered(server, STREAM, 1, 50)
    server.command("XGROUP", "CREATE", STREAM, "billing", "10-1", "ENTRIESREAD", 20)
    for other in ("other", "third"):
        server.command("XGROUP", "CREATE", STREAM, other, "10-1", "ENTRIESREAD", 10)
    assert exact(await patient.lag()) == 40
    add_numbered(server, "payments", 1, 5)
    for other in ("fourth", "fifth", "sixth"):
        server.command("XGROUP", "CREATE", "payments", other, "2-1", "ENTRIESREAD", 2)
    await patient.lags("payments", partial=True)
    assert exact(await patient.lag()) == 40
    # Nor when it could not be read for a while.
    server.command("RENAME", STREAM, "aside")
    server.command("SET", STREAM, "something else")
    assert len(await patient.lags(STREAM, "payments")) == 3
    server.command("RENAME", "aside", STREAM)
    assert exact((await patient.lags(STREAM, "payments"))["billing"]) == 40


async def test_false_count_below_the_truth_where_it_was_an_upper_bound(
    server: RunningServer, tight: Watcher
) -> None:
    """Redis 7.0's count is believed not to be too low; what was counted says otherwise."""
    if server.label == "redis-6.2":
        pytest.skip("no counters to set")
    add_numbered(server, STREAM, 1, 100)
    server.command("XGROUP", "CREATE", STREAM, "billing", "50-1", "ENTRIESREAD", 97)
    lags = [await tight.lag() for _ in range(2)]
    if server.label == "redis-7.0":
        for lag in lags:
            assert lag.lower is not None
            assert lag.upper is not None
            assert lag.lower <= 50 <= lag.upper


def confirms_lags(server: RunningServer) -> bool:
    """Whether the server tells a lag that is believed once it was found right."""
    return server.label != "redis-6.2" and not reports_lag_to_be_believed(server)


async def test_reported_lag_once_found_right_is_not_counted_while_nothing_is_removed(
    server: RunningServer, patient: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not confirms_lags(server):
        pytest.skip("this server's lag is always believed, or never")
    add_numbered(server, STREAM, 1, 50)
    group_at(server, 0)
    deliver(server, STREAM, "billing", "w", 10, "NOACK")
    assert exact(await patient.lag()) == 40
    counted: list[CountRange] = []
    count_entries = reads.count_entries

    async def noted(server: Server, ranges: Sequence[CountRange], **how: Any) -> Any:  # noqa: ANN401  # passed on
        # The rolling check of one believed lag a collection counts without a length.
        counted.extend(page for page in ranges if page.length is not None)
        return await count_entries(server, ranges, **how)

    monkeypatch.setattr(counting, "count_entries", noted)
    for step in range(1, 4):
        deliver(server, STREAM, "billing", "w", 5, "NOACK")
        add_numbered(server, STREAM, 50 + step, 50 + step)
        lag = await patient.lag()
        assert (lag.entries, lag.basis) == (40 - 4 * step, LagBasis.REPORTED)
    assert counted == []
    deliver(server, STREAM, "billing", "w", 5, "NOACK")
    server.command("XTRIM", STREAM, "MINID", "5-1")
    assert exact(await patient.lag()) == 23
    assert counted


async def test_group_set_back_and_overtaken_between_two_readings_is_counted(
    server: RunningServer, patient: Watcher
) -> None:
    """It has read on beyond where it was, so that nothing but the removal shows."""
    add_numbered(server, STREAM, 1, 50)
    # The rolling check begins with another one.
    for name in ("another", "billing"):
        group_at(server, 0, name)
        deliver(server, STREAM, name, "w", 20, "NOACK")
    assert {lag.entries for lag in (await patient.lags()).values()} == {30}
    deliver(server, STREAM, "another", "w", 1, "NOACK")
    server.command("XGROUP", "SETID", STREAM, "billing", "0")
    deliver(server, STREAM, "billing", "w", 3, "NOACK")
    server.command("XTRIM", STREAM, "MINID", "10-1")
    deliver(server, STREAM, "billing", "w", 31, "NOACK")
    lag = await patient.lag()
    assert lag.known
    assert lag.entries == 10


async def test_position_that_moved_without_the_read_counter_is_counted(
    server: RunningServer, patient: Watcher
) -> None:
    """As XCLAIM with LASTID moves it, which servers send to their replicas."""
    if not confirms_lags(server):
        pytest.skip("this server's lag is always believed, or never")
    add_numbered(server, STREAM, 1, 50)
    group_at(server, 0)
    deliver(server, STREAM, "billing", "w", 20)
    assert exact(await patient.lag()) == 30
    server.command("XCLAIM", STREAM, "billing", "w", 0, "2-1", "LASTID", "27-1")
    assert exact(await patient.lag()) == 23
