"""The work of one group and the workers of its pool, read again and again."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.autoscaling.assignment import Assignment
from streamops.autoscaling.demand import (
    Tallied,
    Uncounted,
    begin_tally,
    busy_share,
    demand_of,
    rejoin,
    tally,
    uncounted,
)
from streamops.errors import NotFound
from streamops.model.ids import EntryId
from streamops.model.pools import PoolSize, RosterWorker
from streamops.model.scaling import Demand
from streamops.model.snapshot import Snapshot
from streamops.model.streams import ConsumerGroup, StreamState
from streamops.monitor.pools import PoolReader, Staff

MOST_COUNTED: Final = 100_000
"""Entries that are counted by hand at one look, where the server does not count additions."""


class Seen(Struct, frozen=True):
    """What one collection brought, for all pools.

    Attributes:
        snapshot: It.
        streams: Its streams, by name.
    """

    snapshot: Snapshot
    streams: Mapping[str, StreamState]

    @property
    def now(self) -> datetime:
        """The server's clock."""
        return self.snapshot.collected_at

    def find(self, stream: str, group: str) -> tuple[StreamState, ConsumerGroup]:
        """A group and its stream; raises ``NotFound`` where it was not there, or not read."""
        state = self.streams.get(stream)
        found = next((one for one in state.groups if one.name == group), None) if state else None
        if state is not None and found is not None:
            return state, found
        reasons = [gap.reason for gap in self.snapshot.gaps if gap.stream in {None, stream}]
        why = f": {reasons[0]}" if reasons else ""
        raise NotFound(f"no group {group} of stream {stream}{why}", "Its workers create it when they start.")


class Sense:
    """What is remembered of one pool between two looks, so that the next one can tell what moved.

    Args:
        pools: Counts entries where the server does not.
        assignment: The pool.
    """

    def __init__(self, pools: PoolReader, assignment: Assignment) -> None:
        self._pools = pools
        self._assignment = assignment
        self._tallied: Tallied | None = None
        self._missed = False
        self._roster: tuple[RosterWorker, ...] = ()
        self._beats = False

    async def look(self, seen: Seen, staff: Staff, size: PoolSize) -> tuple[Demand, PoolSize]:
        """One reading.

        Args:
            seen: What was just read of the pool's stream.
            staff: Who works in it.
            size: How many workers its target has.

        Raises:
            NotFound: The stream or its group is not there.
            StreamopsError: What the server does not count cannot be counted.
        """
        size = self._really(size, staff)
        busy = busy_share(self._roster, staff.workers)
        self._roster = staff.workers
        try:
            stream, group = seen.find(self._assignment.stream, self._assignment.group)
        except NotFound:
            self._missed = True
            raise
        self._tallied = await self._tally(stream, group)
        oldest = group.oldest_pending
        idle = timedelta(0) if oldest is None or oldest.free else oldest.idle
        return demand_of(self._tallied, group, size, at=seen.now, busy=busy, idle=idle), size

    def _really(self, size: PoolSize, staff: Staff) -> PoolSize:
        """The size with as many ready workers as beat: targets count processes, some of which do not work yet.

        Workers that do not beat are of another library, and the target has to be believed.
        """
        self._beats = self._beats or bool(staff.workers)
        if not self._beats:
            return size
        beating = len(staff.workers)
        return replace(size, ready=beating if size.ready is None else min(beating, size.ready))

    async def _tally(self, stream: StreamState, group: ConsumerGroup) -> Tallied:
        past, missed = self._tallied, self._missed
        self._missed = False
        if past is None:
            return begin_tally(stream, group)
        if missed:
            return rejoin(past, stream, group)
        left = uncounted(past, stream, group)
        if left == Uncounted():
            return tally(past, stream, group)
        added, delivered = await self._count(left.added), await self._count(left.delivered)
        return tally(past, stream, group, added=added, delivered=delivered)

    async def _count(self, between: tuple[EntryId, EntryId] | None) -> int | None:
        """Entries after one ID and up to another, as many as may be counted; none where none may be."""
        if between is None:
            return None
        return await self._pools.count_between(self._assignment.stream, *between, MOST_COUNTED)
