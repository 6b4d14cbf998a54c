"""Streams whose lags are looked at, and what happens between a reading and a count."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from streamops.model.lag import Lag, LagBasis
from streamops.monitor import counting
from streamops.monitor.collect import Collector
from streamops.monitor.counting import CountBudget
from streamops.monitor.watch import Watch
from streamops.wire import reads
from streamops.wire.reads import CountRange
from streamops.wire.server import Server
from tests.support.servers import RunningServer

TIGHT = CountBudget(per_range=10, per_collection=20, per_page=5, cheap=1)
STREAM = "orders"


def group_at(server: RunningServer, position: int, name: str = "billing", stream: str = STREAM) -> None:
    server.command("XGROUP", "CREATE", stream, name, f"{position}-1")


class Watcher:
    """Collects one server and tells lags."""

    def __init__(self, server: Server, budget: CountBudget) -> None:
        self.collector = Collector(server, Watch(), budget)

    async def lags(self, *names: str, partial: bool = False) -> dict[str, Lag]:
        """By group, of these streams; of ``STREAM`` without any."""
        snapshot = await self.collector.collect(
            names or (STREAM,), discovered=1, complete=True, partial=partial
        )
        return {group.name: group.lag for stream in snapshot.streams for group in stream.groups}

    async def lag(self) -> Lag:
        return (await self.lags())["billing"]


def exact(lag: Lag) -> int | None:
    assert lag.basis is LagBasis.EXACT, lag
    return lag.entries


def interrupt(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Do something once, after the reading and before the first count."""
    count_entries = reads.count_entries
    waiting = [act]

    async def interrupted(server: Server, ranges: Sequence[CountRange], **how: Any) -> Any:  # noqa: ANN401  # passed on
        if waiting:
            waiting.pop()()
        return await count_entries(server, ranges, **how)

    monkeypatch.setattr(counting, "count_entries", interrupted)


def reports_lag_to_be_believed(server: RunningServer) -> bool:
    """Whether the server's own count holds after trimming: since Redis 7.4.4 and 8.0, and Valkey 8.1.1."""
    if server.program.flavour == "valkey":
        return server.program.version >= (8, 1, 1)
    return server.program.version >= (7, 4, 4)
