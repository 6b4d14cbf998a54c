"""All that is asked of the server to know lags: next undelivered entries, and counts where a reading leaves a lag open."""

from collections.abc import Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.entries import LAST_ID
from streamops.model.lag import Lag, LagBasis
from streamops.model.streams import GroupReading, StreamReading
from streamops.monitor.counting import CountBudget, Counter
from streamops.monitor.lag import (
    CachedCount,
    LagEstimate,
    LagReliability,
    NextEntry,
    RangeCount,
    exact_lag,
    is_intact,
    is_same,
    lag_without_counting,
    needing_next_entry,
)
from streamops.monitor.pending_scan import PendingScan
from streamops.wire.faults import Fault
from streamops.wire.reads import EntryRange, read_entries
from streamops.wire.server import Server
from streamops.wire.stream_reader import StreamReader

GroupKey = tuple[str, str]


class CachedGroup(Struct, gc=False):
    """What is kept of one group; a number of a collection is 0 before the first.

    Attributes:
        counted: Its lag as counted last.
        next_entry: Its next undelivered entry, where no script read it.
        scan: The scan of its pending entries.
        scanned_in: The collection in which that went on last.
        counted_in: The collection in which it last had a large share of the counting.
        checked_in: The round of checks in which its reported lag was last checked.
        is_wrong: Whether its reported lag was found wrong.
    """

    counted: CachedCount | None = None
    next_entry: NextEntry | None = None
    scan: PendingScan | None = None
    scanned_in: int = 0
    counted_in: int = 0
    checked_in: int = 0
    is_wrong: bool = False


class GroupCache:
    """What is kept of all groups of one server.

    Attributes:
        groups: It, by stream and group.
        epoch: The servers that it was read from, as ``Identities`` numbers them.
    """

    def __init__(self) -> None:
        self.groups: dict[GroupKey, CachedGroup] = {}
        self.epoch = 0

    def of(self, stream: str, group: str) -> CachedGroup:
        """What is kept of a group, to be added to."""
        return self.groups.setdefault((stream, group), CachedGroup())

    def invalidate(self, epoch: int) -> None:
        """Drop what was read in another epoch: another server may have the same counters and other entries.

        A reported lag that was found wrong is not believed there either: a replica has the counters of its primary.
        """
        if epoch == self.epoch:
            return
        self.epoch = epoch
        self.groups = {key: CachedGroup(is_wrong=True) for key, one in self.groups.items() if one.is_wrong}

    def keep_only(self, groups: Collection[GroupKey], unread: Collection[str]) -> None:
        """Drop all other groups, except of streams that could not be read."""
        for key in [key for key in self.groups if key not in groups and key[0] not in unread]:
            del self.groups[key]


MOST_GROUPS = 64
"""A script looks for a group among so many at most: to tell of one takes the server some microseconds."""

MAX_ENTRY_BYTES = 8 << 10
"""The next entry's ID is read with the entry where a script did not read it, but only of streams with smaller ones."""


class LagReader:
    """Verifies lags by counting, within a budget, and checks one reported lag a collection."""

    def __init__(self, server: Server, reader: StreamReader, cache: GroupCache, budget: CountBudget) -> None:
        self._server = server
        self._reader = reader
        self._cache = cache
        self._budget = budget
        self._collection = 0
        self._round = 1

    async def read_next_entries(
        self, streams: Sequence[StreamReading]
    ) -> tuple[list[StreamReading], set[str]]:
        """The readings with the next entries that they leave out, and the names of streams with large entries."""
        known: dict[GroupKey, NextEntry] = {}
        asked: list[tuple[StreamReading, GroupReading]] = []
        for stream in streams:
            if (stream.entry_bytes or 0) > MAX_ENTRY_BYTES:
                continue
            for group in needing_next_entry(stream):
                if group.next_read:
                    continue
                key = stream.name, group.name
                cached = self._cache.groups.get(key)
                if cached and cached.next_entry and cached.next_entry.holds(stream, group):
                    known[key] = cached.next_entry
                else:
                    asked.append((stream, group))
        large = await self._ask_next(asked, known) if asked else set()
        names = {name for name, _ in known}
        return [_completed(stream, known) if stream.name in names else stream for stream in streams], large

    async def _ask_next(
        self, asked: Sequence[tuple[StreamReading, GroupReading]], known: dict[GroupKey, NextEntry]
    ) -> set[str]:
        """Read next entries, unless that fails; the names of streams if one is large."""
        ranges = [EntryRange(stream.name, group.last_delivered_id, LAST_ID, 1) for stream, group in asked]
        alone = {stream.name: stream.without_groups for stream, _ in asked}
        large = set()
        for (stream, group), entries in zip(asked, await read_entries(self._server, ranges), strict=True):
            if isinstance(entries, Fault):
                continue
            first = entries[0] if entries else None
            if first is not None and first.size > MAX_ENTRY_BYTES:
                large.add(stream.name)
            found = NextEntry(alone[stream.name], group.last_delivered_id, first.id if first else None)
            known[stream.name, group.name] = self._cache.of(stream.name, group.name).next_entry = found
        return large

    async def read_lags(
        self, streams: Sequence[StreamReading], reliability: LagReliability
    ) -> dict[GroupKey, Lag]:
        """The lag of every group of these streams, counting within the budget."""
        self._collection += 1
        lags: dict[GroupKey, Lag] = {}
        estimates: list[LagEstimate] = []
        reported: list[tuple[StreamReading, GroupReading]] = []
        for stream in streams:
            for group in stream.groups:
                key = stream.name, group.name
                cached = self._cache.groups.get(key)
                found = lag_without_counting(
                    stream,
                    group,
                    LagReliability.WRONG if cached and cached.is_wrong else reliability,
                    cached.counted if cached else None,
                )
                if isinstance(found, LagEstimate):
                    estimates.append(found)
                    found = found.lag
                elif found.basis is LagBasis.REPORTED:
                    reported.append((stream, group))
                lags[key] = found
        counter = Counter(self._server, self._budget)
        await self._count(estimates, counter)
        await self._confirm(estimates, counter)
        for estimate in estimates:
            lags[estimate.stream.name, estimate.group.name] = self._result(estimate, counter)
        await self._check_one(reported, lags, counter)
        return lags

    async def _count(self, estimates: Sequence[LagEstimate], counter: Counter) -> None:
        """First what was delivered since an old count, then ahead of the position, then behind it."""
        depth = self._reader.depth
        delivered = []
        for estimate in estimates:
            counted = self._cached(estimate).counted
            if counted and (begun := estimate.count_delivered(counted, self._budget.cheap)):
                delivered.append(begun)
        await counter.count(delivered, depth)
        queue = [one for one in estimates if not (one.delivered and one.delivered.complete)]
        queue = self._affordable(sorted(queue, key=self._turn), counter)
        await counter.count(
            [one.count_ahead(with_group=len(one.stream.groups) <= MOST_GROUPS) for one in queue], depth
        )
        await counter.count(
            [
                one.count_behind()
                for one in queue
                if one.ahead and not one.ahead.complete and not one.ahead.failed
            ],
            depth,
        )

    def _turn(self, estimate: LagEstimate) -> tuple[bool, int, int]:
        """Cheap ones first; of the others, the one that was not counted for longest."""
        is_large = estimate.most > self._budget.per_range
        return is_large, self._cached(estimate).counted_in if is_large else 0, estimate.most

    def _affordable(self, queue: Sequence[LagEstimate], counter: Counter) -> list[LagEstimate]:
        """As many as the budget has room for on both sides of their positions, and at least one."""
        left, chosen = counter.left, list[LagEstimate]()
        for estimate in queue:
            is_large = estimate.most > self._budget.per_range
            cost = 2 * self._budget.per_range if is_large else estimate.most
            if chosen and cost > left:
                break
            left -= cost
            chosen.append(estimate)
            if is_large:
                self._cached(estimate).counted_in = self._collection
        return chosen

    async def _confirm(self, estimates: Sequence[LagEstimate], counter: Counter) -> None:
        """Look whether streams have lost entries since they were read, where a result depends on it and is not known."""
        asked = [one for one in estimates if one.needs_confirmation]
        before = {one.stream.name: one.stream for one in asked}
        now = await self._read_again(list(before))
        if self._is_another_server:
            for estimate in estimates:
                estimate.discard_counts()
            return
        intact = {name for name, stream in now.items() if is_intact(before[name], stream)}
        changed = [(before[name], stream) for name, stream in now.items() if name not in intact]
        intact |= await self._intact_by_count(changed, counter)
        for estimate in asked:
            estimate.confirm(intact=estimate.stream.name in intact)

    async def _intact_by_count(
        self, pairs: Sequence[tuple[StreamReading, StreamReading]], counter: Counter
    ) -> set[str]:
        """Streams whose length changed by just what came after their last entry; Redis 6.2 does not say more."""
        since = [
            (before, after, RangeCount(before.name, before.last_id, after.last_id, after.entry_bytes or 0))
            for before, after in pairs
            if before.entries_added is None
            and before.first_id == after.first_id
            and before.last_id is not None
            and after.last_id is not None
        ]
        await counter.count([added for _, _, added in since], self._reader.depth)
        return {
            before.name
            for before, after, added in since
            if added.complete and after.length - added.counted == before.length
        }

    async def _read_again(self, names: Sequence[str]) -> dict[str, StreamReading]:
        readings = (await self._reader.read(names)).streams if names else ()
        return {reading.name: reading for reading in readings if isinstance(reading, StreamReading)}

    @property
    def _is_another_server(self) -> bool:
        """Whether another server answers by now than the one that the readings are of."""
        return self._reader.servers.epoch != self._cache.epoch

    def _result(self, estimate: LagEstimate, counter: Counter) -> Lag:
        """The lag after counting, which is kept for the reading; bounds too, if counting again would find no more."""
        lag, stream, group = estimate.result(), estimate.stream, estimate.group
        is_final = lag.known or counter.is_final(estimate.ahead, estimate.behind)
        holds = is_final and estimate.has_lost is False and stream.bounds_read
        was_right = lag.known and lag.entries == group.reported_lag
        self._cached(estimate).counted = (
            CachedCount(
                lag,
                stream.without_groups,
                group.last_delivered_id,
                group.entries_read if was_right else None,
            )
            if holds
            else None
        )
        return lag

    def _cached(self, estimate: LagEstimate) -> CachedGroup:
        return self._cache.of(estimate.stream.name, estimate.group.name)

    async def _check_one(
        self,
        reported: Sequence[tuple[StreamReading, GroupReading]],
        lags: dict[GroupKey, Lag],
        counter: Counter,
    ) -> None:
        """Count one group whose reported lag is believed, in its turn."""
        candidate = self._next_to_check(reported, lags, counter)
        if candidate is None:
            return
        stream, group = candidate
        key, told = (stream.name, group.name), lags[stream.name, group.name].entries
        ahead = LagEstimate(stream, group, lags[key]).count_ahead(with_group=False)
        ahead.length = None
        await counter.count([ahead], self._reader.depth)
        if not ahead.complete or ahead.counted == told or not await self._is_unmoved(stream, group):
            return
        self._cache.of(*key).is_wrong = True
        lags[key] = exact_lag(ahead.counted, f"counted; the server reports {told:,}")

    async def _is_unmoved(self, stream: StreamReading, group: GroupReading) -> bool:
        """Whether nothing has moved since the reading: else the count may differ and the server be right."""
        now = (await self._read_again([stream.name])).get(stream.name)
        return (
            now is not None
            and not self._is_another_server
            and is_same(stream, now)
            and (group.name, group.last_delivered_id)
            in {(one.name, one.last_delivered_id) for one in now.groups}
        )

    def _next_to_check(
        self,
        reported: Sequence[tuple[StreamReading, GroupReading]],
        lags: dict[GroupKey, Lag],
        counter: Counter,
    ) -> tuple[StreamReading, GroupReading] | None:
        """A group whose reported lag was not checked in this round, and may be counted; after the last one a round begins."""
        was_checked = True
        while was_checked:
            was_checked = False
            for stream, group in reported:
                key = stream.name, group.name
                cached = self._cache.groups.get(key)
                if cached is not None and cached.checked_in == self._round:
                    was_checked = True
                elif counter.allows(lags[key].entries or 0, stream.entry_bytes or 0):
                    self._cache.of(*key).checked_in = self._round
                    return stream, group
            self._round += was_checked
        return None


def _completed(stream: StreamReading, known: dict[GroupKey, NextEntry]) -> StreamReading:
    """The reading with the next entries that are known."""
    groups = [
        replace(group, next_id=found.id, next_read=True)
        if (found := known.get((stream.name, group.name)))
        else group
        for group in stream.groups
    ]
    return replace(stream, groups=tuple(groups))
