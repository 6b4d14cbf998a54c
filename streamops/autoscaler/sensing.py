"""The work of one group and the workers of its pool, read again and again."""

from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from streamops.analysis.demand import Tallied, begin_tally, busy_share, demand_of, tally, uncounted_since
from streamops.autoscaler.assignment import Assignment
from streamops.errors import NotFound
from streamops.model.ids import EntryId
from streamops.model.observation import GroupView, Observation, StreamView
from streamops.model.pools import PoolSize, RosterWorker
from streamops.model.scaling import Demand
from streamops.operate.console import Console

MOST_COUNTED: Final = 100_000
"""Entries that are counted by hand at one look, where the server does not count additions."""


class Sense:
    """What is remembered of one pool between two looks, so that the next one can tell what moved.

    Args:
        console: Reads.
        assignment: The pool.
    """

    def __init__(self, console: Console, assignment: Assignment) -> None:
        self._console = console
        self._assignment = assignment
        self._tallied: Tallied | None = None
        self._roster: tuple[RosterWorker, ...] = ()

    async def look(self, observation: Observation) -> tuple[Demand, PoolSize]:
        """One reading.

        Args:
            observation: What was just read of the pool's stream.

        Raises:
            NotFound: The stream or its group is not there.
            StreamopsError: They, the workers or the target cannot be read.
        """
        stream, view = self._find(observation)
        size = await self._console.pools.size(self._assignment.pool)
        now = observation.snapshot.collected_at
        staff = await self._console.pools.staff(self._assignment.pool, now)
        if size.ready is None and staff.workers:
            size = replace(size, ready=len(staff.workers))
        busy = busy_share(self._roster, staff.workers)
        self._roster = staff.workers
        self._tallied = await self._tally(stream, view)
        oldest = view.group.oldest_pending
        demand = demand_of(
            self._tallied,
            view.group,
            size,
            at=now,
            busy=busy,
            idle=timedelta(0) if oldest is None else oldest.idle,
        )
        return demand, size

    def _find(self, observation: Observation) -> tuple[StreamView, GroupView]:
        wanted = self._assignment
        for stream in observation.streams:
            for view in stream.groups:
                if (stream.stream.name, view.group.name) == (wanted.stream, wanted.group):
                    return stream, view
        reasons = [gap.reason for gap in observation.snapshot.gaps if gap.stream in {None, wanted.stream}]
        why = f": {reasons[0]}" if reasons else ""
        raise NotFound(
            f"no group {wanted.group} of stream {wanted.stream}{why}",
            "Its workers create it when they start; until then nothing is decided.",
        )

    async def _tally(self, stream: StreamView, view: GroupView) -> Tallied:
        state = stream.stream
        if self._tallied is None:
            return begin_tally(state, view.group)
        since = uncounted_since(self._tallied, state)
        counted = None if since is None else await self._count(since, state.last_generated_id)
        return tally(self._tallied, state, view.group, counted)

    async def _count(self, after: EntryId, until: EntryId | None) -> int | None:
        """Entries added meanwhile; none where they are too many, or may not be counted."""
        if until is None:
            return None
        return await self._console.pools.count_added(self._assignment.stream, after, until, MOST_COUNTED)
