"""Where only lengths and groups may be read, a count is exact only if a reported lag shows that nothing came."""

import pytest

from streamops.model.ids import EntryId
from streamops.model.lag import LagBasis
from streamops.model.readings import GroupReading, StreamReading
from streamops.operate.lags import _is_intact
from streamops.operate.tallies import CountBudget
from streamops.wire.server import Server
from streamops.wire.stream_reader import Depth
from tests.operate.lag_watching import STREAM, Watcher, add, group_at, interrupt
from tests.servers import RunningServer


async def test_one_in_and_one_out_behind_a_stalled_group_is_not_called_exact_by_the_length(
    server: RunningServer, connected: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """49 waited when it was read, and 50 could be counted: length and groups are the same before and after."""
    patient = Watcher(connected, CountBudget())
    add(server, 1, 100)
    group_at(server, 50)
    server.command("XDEL", STREAM, "90-1")
    patient.collector._lags._reader.depth = Depth.GROUPS
    interrupt(monkeypatch, lambda: server.command("XADD", STREAM, "MAXLEN", "=", 99, "101-1", "f", "v"))
    lag = await patient.lag()
    assert (lag.entries, lag.basis) == (None, LagBasis.LOWER)
    assert lag.reason == "entries may have been removed while it was counted"


def bare(*groups: GroupReading, length: int = 9) -> StreamReading:
    return StreamReading(STREAM, length, groups)


def stalled(entries_read: int | None, reported_lag: int | None) -> GroupReading:
    return GroupReading("billing", 0, 0, EntryId(5, 0), entries_read, reported_lag)


@pytest.mark.parametrize(
    ("before", "after", "intact"),
    [
        (bare(stalled(5, 4)), bare(stalled(5, 4)), True),
        (bare(stalled(None, None), stalled(5, 4)), bare(stalled(None, None), stalled(5, 4)), True),
        (bare(stalled(5, 4)), bare(stalled(5, 5)), False),
        (bare(stalled(5, 4)), bare(stalled(5, 4), length=8), False),
        (bare(), bare(), False),
        (bare(stalled(None, None)), bare(stalled(None, None)), False),
        # A group before the first entry has the length for its lag, whatever came and went.
        (bare(stalled(5, 9)), bare(stalled(5, 9)), False),
        (bare(stalled(None, 4)), bare(stalled(None, 4)), False),
    ],
)
def test_without_bounds_only_a_reported_lag_tells_that_nothing_came_and_went(
    before: StreamReading, after: StreamReading, *, intact: bool
) -> None:
    assert _is_intact(before, after) is intact
