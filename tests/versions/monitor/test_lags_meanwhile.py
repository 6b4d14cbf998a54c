"""What happens between a reading and its counting makes no lag exact that never was."""

from typing import Any

import pytest

from streamops.model.lag import LagBasis
from streamops.monitor import lag_reader
from streamops.monitor.collect import Collector
from streamops.monitor.counting import CountBudget
from streamops.monitor.lag_reader import MOST_GROUPS
from streamops.monitor.watch import Watch
from streamops.wire import reads
from streamops.wire.server import Server
from streamops.wire.stream_reader import Depth
from tests.support.monitor.lag_watching import (
    STREAM,
    Watcher,
    exact,
    group_at,
    interrupt,
    reports_lag_to_be_believed,
)
from tests.support.servers import RunningServer
from tests.support.streams import add_numbered, deliver

pytestmark = pytest.mark.every_server("what a server counts, permits and answers differs by version")


async def test_what_trimming_took_before_it_was_counted_is_not_missing_from_an_exact_lag(
    server: RunningServer, patient: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nine waited, then sixteen, then twelve: of the first ones five were left to be counted, and five never waited."""
    add_numbered(server, STREAM, 1, 29)
    group_at(server, 20, "billing")
    # The server must be made to forget what it knows.
    server.command("XDEL", STREAM, "25-1")
    add_numbered(server, STREAM, 30, 30)

    def overtake() -> None:
        add_numbered(server, STREAM, 31, 37)
        server.command("XTRIM", STREAM, "MAXLEN", 12)

    interrupt(monkeypatch, overtake)
    assert exact((await patient.lags())["billing"]) == 12
    assert exact((await patient.lags())["billing"]) == 12


def delete_and_read(server: RunningServer) -> None:
    """First the group is given ten, then two that are still to come are deleted, then three come."""
    deliver(server, STREAM, "billing", "w", 10, "NOACK")
    server.command("XDEL", STREAM, "80-1", "81-1")
    add_numbered(server, STREAM, 101, 103)


async def test_what_was_deleted_before_it_was_counted_makes_no_exact_lag_that_never_was(
    server: RunningServer, patient: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """49 waited, then 39, 37 and 40: of the 49, 47 could be counted, which never waited."""
    add_numbered(server, STREAM, 1, 100)
    group_at(server, 50)
    server.command("XDEL", STREAM, "90-1")
    interrupt(monkeypatch, lambda: delete_and_read(server))
    assert exact(await patient.lag()) == 40
    deliver(server, STREAM, "billing", "w", 1, "NOACK")
    assert exact(await patient.lag()) == 39


async def test_a_lag_that_changed_while_more_than_a_page_was_counted_is_between_bounds(
    server: RunningServer, connected: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_numbered(server, STREAM, 1, 100)
    group_at(server, 50)
    server.command("XDEL", STREAM, "90-1")
    interrupt(monkeypatch, lambda: delete_and_read(server))
    lag = await Watcher(connected, CountBudget(per_page=20)).lag()
    assert (lag.entries, lag.lower, lag.upper, lag.basis) == (None, 47, 49, LagBasis.LOWER)


@pytest.mark.parametrize("depth", [Depth.TRANSACTION, Depth.GROUPS])
async def test_without_scripts_a_lag_that_changed_while_it_was_counted_is_not_called_exact(
    server: RunningServer, patient: Watcher, monkeypatch: pytest.MonkeyPatch, depth: Depth
) -> None:
    add_numbered(server, STREAM, 1, 100)
    group_at(server, 50)
    server.command("XDEL", STREAM, "90-1")
    patient.collector._lags._reader.depth = depth
    interrupt(monkeypatch, lambda: delete_and_read(server))
    lag = await patient.lag()
    assert (lag.entries, lag.basis) == (None, LagBasis.LOWER)
    lag = await patient.lag()
    # Lengths alone do not tell that nothing was removed.
    assert (lag.entries, lag.lower) == ((40 if depth is Depth.TRANSACTION else None), 40)


async def test_more_additions_than_a_page_has_leave_a_counted_lag_exact(
    server: RunningServer, patient: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script does not count them all, and cannot tell that nothing was removed: another reading does."""
    add_numbered(server, STREAM, 1, 100)
    group_at(server, 50)
    server.command("XDEL", STREAM, "90-1")
    interrupt(monkeypatch, lambda: add_numbered(server, STREAM, 101, 1000))
    lag = await patient.lag()
    assert (exact(lag), lag.reason) == (49, "counted")


async def test_removals_among_more_additions_than_a_page_has_leave_a_counted_lag_open(
    server: RunningServer, patient: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_numbered(server, STREAM, 1, 100)
    group_at(server, 50)
    server.command("XDEL", STREAM, "90-1")

    def overtake() -> None:
        server.command("XDEL", STREAM, "80-1")
        add_numbered(server, STREAM, 101, 1000)

    interrupt(monkeypatch, overtake)
    lag = await patient.lag()
    assert (lag.entries, lag.lower, lag.basis) == (None, 48, LagBasis.LOWER)
    assert lag.reason == "entries may have been removed while it was counted"


async def test_additions_and_deliveries_leave_a_counted_lag_exact(
    server: RunningServer, patient: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was removed: what was counted is what waited when the stream was read."""
    add_numbered(server, STREAM, 1, 100)
    group_at(server, 50)
    server.command("XDEL", STREAM, "90-1")

    def work() -> None:
        deliver(server, STREAM, "billing", "w", 10, "NOACK")
        add_numbered(server, STREAM, 101, 103)

    interrupt(monkeypatch, work)
    lag = await patient.lag()
    assert (exact(lag), lag.reason) == (49, "counted")


async def test_among_many_groups_none_is_looked_for_anew(
    server: RunningServer, patient: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script that looked for each of them would hold the server for as long as there are groups, squared."""
    add_numbered(server, STREAM, 1, 100)
    names = [f"g{number}" for number in range(MOST_GROUPS + 1)]
    for name in names:
        group_at(server, 50, name)
    server.command("XDEL", STREAM, "90-1")
    interrupt(monkeypatch, lambda: server.command("XDEL", STREAM, "80-1"))
    lags = await patient.lags()
    assert {(lag.entries, lag.lower, lag.upper) for lag in lags.values()} == {(None, 48, 49)}
    assert {exact(lag) for lag in (await patient.lags()).values()} == {48}


async def test_what_was_deleted_before_the_next_entry_was_looked_for_is_no_exact_zero(
    server: RunningServer, connected: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five wait, then the group is gone, then they are: none was left at an instant at which there was a group."""
    collector = Collector(connected, Watch(deep=True))
    add_numbered(server, STREAM, 1, 10)
    await collector.collect([STREAM], discovered=1, complete=True)
    group_at(server, 5)

    async def interrupted(*asked: Any) -> Any:  # noqa: ANN401  # passed on
        server.command("XGROUP", "DESTROY", STREAM, "billing")
        server.command("XDEL", STREAM, *(f"{number}-1" for number in range(6, 11)))
        return await reads.read_entries(*asked)

    monkeypatch.setattr(lag_reader, "read_entries", interrupted)
    snapshot = await collector.collect([STREAM], discovered=1, complete=True)
    (group,) = snapshot.streams[0].groups
    assert not group.lag.known
    assert (group.lag.lower, group.lag.upper) == (0, 5)


async def test_removal_while_counting_backwards(
    server: RunningServer, tight: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trimming between reading and counting looks as if less had been delivered: that must not be called exact."""
    add_numbered(server, STREAM, 1, 100)
    group_at(server, 8)
    server.command("XDEL", STREAM, "90-1")
    interrupt(monkeypatch, lambda: server.command("XTRIM", STREAM, "MAXLEN", "=", 95))
    lag = await tight.lag()
    assert lag.basis is not LagBasis.EXACT
    assert exact(await tight.lag()) == 91


async def test_addition_while_counting_backwards(
    server: RunningServer, tight: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Additions alone do not shake it; on Redis 6.2 they are told from removals by counting them too."""
    add_numbered(server, STREAM, 1, 100)
    group_at(server, 8)
    server.command("XDEL", STREAM, "90-1")
    interrupt(monkeypatch, lambda: add_numbered(server, STREAM, 101, 102))
    assert exact(await tight.lag()) == 91


async def test_capped_addition_while_counting_backwards(
    server: RunningServer, tight: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One in, one out: the length is the same, and yet one of those counted behind is gone."""
    add_numbered(server, STREAM, 1, 100)
    group_at(server, 8)
    server.command("XDEL", STREAM, "90-1")
    interrupt(monkeypatch, lambda: server.command("XADD", STREAM, "MAXLEN", "=", 99, "101-1", "f", "v"))
    assert (await tight.lag()).basis is not LagBasis.EXACT


async def test_removal_while_counting_what_was_delivered(
    server: RunningServer, tight: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    if server.label == "redis-6.2":
        pytest.skip("nothing is carried without entries-added")
    add_numbered(server, STREAM, 1, 100)
    group_at(server, 2)
    server.command("XDEL", STREAM, "90-1")
    assert exact(await tight.lag()) == 97
    deliver(server, STREAM, "billing", "w", 8, "NOACK")
    interrupt(monkeypatch, lambda: server.command("XTRIM", STREAM, "MAXLEN", "=", 95))
    lag = await tight.lag()
    assert lag.basis is not LagBasis.EXACT or lag.entries == 89


async def test_change_between_reading_and_checking_is_no_falsehood(
    server: RunningServer, patient: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A producer that trims makes the count smaller than what was reported a moment ago."""
    if not reports_lag_to_be_believed(server):
        pytest.skip("this server's lag is not believed in the first place")
    add_numbered(server, STREAM, 1, 50)
    server.command("XGROUP", "CREATE", STREAM, "billing", "10-1", "ENTRIESREAD", 10)
    for _ in range(3):
        interrupt(monkeypatch, lambda: server.command("XTRIM", STREAM, "MAXLEN", "=", 20))
        await patient.lag()
        add_numbered(server, STREAM, 51, 60)
        server.command("DEL", STREAM)
        add_numbered(server, STREAM, 1, 50)
        server.command("XGROUP", "CREATE", STREAM, "billing", "10-1", "ENTRIESREAD", 10)
    assert (await patient.lag()).basis is LagBasis.REPORTED
