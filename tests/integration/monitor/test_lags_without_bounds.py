"""Where only lengths and groups may be read, a count is exact only if a reported lag shows that nothing came."""

import pytest

from streamops.model.lag import LagBasis
from streamops.monitor.counting import CountBudget
from streamops.wire.server import Server
from streamops.wire.stream_reader import Depth
from tests.support.monitor.lag_watching import STREAM, Watcher, group_at, interrupt
from tests.support.servers import RunningServer
from tests.support.streams import add_numbered


async def test_one_in_and_one_out_behind_a_stalled_group_is_not_called_exact_by_the_length(
    server: RunningServer, connected: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """49 waited when it was read, and 50 could be counted: length and groups are the same before and after."""
    patient = Watcher(connected, CountBudget())
    add_numbered(server, STREAM, 1, 100)
    group_at(server, 50)
    server.command("XDEL", STREAM, "90-1")
    patient.collector._lags._reader.depth = Depth.GROUPS
    interrupt(monkeypatch, lambda: server.command("XADD", STREAM, "MAXLEN", "=", 99, "101-1", "f", "v"))
    lag = await patient.lag()
    assert (lag.entries, lag.basis) == (None, LagBasis.LOWER)
    assert lag.reason == "entries may have been removed while it was counted"
