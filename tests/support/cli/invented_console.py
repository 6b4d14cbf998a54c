"""A console without a server: what it tells was made up before."""

from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, Self

from msgspec.structs import replace

from streamops.errors import NotFound
from streamops.model.entries import LAST_ID, ZERO_ID, EntryId, PendingEntry, StreamEntry
from streamops.model.observation import Observation
from streamops.model.pending import PendingProfile
from streamops.monitor.search import (
    EntryPage,
    PendingPage,
    PendingSummary,
    Search,
    SearchProgress,
    SearchResult,
    search_entries,
)
from tests.support.invented import NOW, entry_id, minutes, seconds
from tests.support.resources.observations import OBSERVATION, PROFILE

ENTRIES = (
    StreamEntry(entry_id(minutes(3)), ((b"id", b"1"), (b"body", b'{"amount": 120, "note": "caf\xc3\xa9"}'))),
    StreamEntry(
        entry_id(minutes(2)), ((b"id", b"2"), (b"raw", b"\xff\x00\x1b]0;x\x07"), (b"=1+1", b"@SUM(A1)"))
    ),
    StreamEntry(entry_id(minutes(1)), ((b"id", b"3"), (b"tag", b"a"), (b"tag", b"b"))),
)
PENDING = (
    PendingEntry(entry_id(minutes(40)), "worker-1", minutes(30), 9),
    PendingEntry(entry_id(minutes(4)), "worker-1", minutes(3), 1),
    PendingEntry(entry_id(minutes(3)), "-worker", seconds(2), 1),
    PendingEntry(entry_id(minutes(2)), "worker-1", seconds(1), 2),
)


class InventedConsole:
    """Answers as ``Console`` does, about one invented server.

    Attributes:
        observation: What it observes.
    """

    def __init__(self) -> None:
        self.observation = OBSERVATION
        self.discovery = SimpleNamespace(names=[], is_open=True)

    async def open(self, *_: Any, **__: Any) -> Self:
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def discover(self, *, queues: bool = False) -> None:
        del queues
        self.discovery.names = [view.stream.name for view in self.observation.streams]

    async def observe(self, only: Sequence[str] = ()) -> Observation:
        seen = self.observation
        if not only:
            return seen
        streams = tuple(view for view in seen.streams if view.stream.name in only)
        gaps = tuple(gap for gap in seen.snapshot.gaps if gap.stream in only)
        return replace(seen, streams=streams, snapshot=replace(seen.snapshot, gaps=gaps))

    async def read_entries(
        self,
        stream: str,
        *,
        start: EntryId = ZERO_ID,
        end: EntryId = LAST_ID,
        count: int = 50,
        newest_first: bool = False,
    ) -> EntryPage:
        found = [entry for entry in ENTRIES if stream == "orders" and start <= entry.id <= end]
        if newest_first:
            found.reverse()
        shown = tuple(found[:count])
        return EntryPage(shown, shown[-1].id if len(found) > count else None)

    async def tail(self, stream: str, *, after: EntryId | None = None) -> AsyncIterator[StreamEntry]:
        if stream != "orders":
            raise NotFound(f"stream {stream}: gone", "List what there is with `streamops streams ls`.")
        for entry in ENTRIES:
            if after is None or entry.id > after:
                yield entry

    async def read_pending(
        self,
        stream: str,
        group: str,
        *,
        after: EntryId | None = None,
        count: int = 100,
        consumer: str | None = None,
    ) -> PendingPage:
        self._require(stream, group)
        rows = [
            row for row in PENDING if (after is None or row.id > after) and consumer in (None, row.consumer)
        ]
        shown = tuple(rows[:count])
        return PendingPage(shown, shown[-1].id if len(shown) == count else None, NOW)

    async def read_pending_summary(self, stream: str, group: str) -> PendingSummary:
        self._require(stream, group)
        return PendingSummary(4, PENDING[0].id, PENDING[-1].id, (("-worker", 1), ("worker-1", 3)))

    async def scan_pending(self, stream: str, group: str, *, limit: int = 100_000) -> PendingProfile:
        self._require(stream, group)
        assert limit
        return PROFILE

    async def search(
        self, stream: str, query: Search, progress: Callable[[SearchProgress], None] | None = None
    ) -> SearchResult:
        return await search_entries(partial(self.read_entries, stream), query, progress)

    def _require(self, stream: str, group: str) -> None:
        if (stream, group) != ("orders", "billing"):
            raise NotFound(
                f"group {stream}/{group}: no such group", "List what there is with `streamops groups ls`."
            )
