"""Lags, settled: what the server says, what was counted before, what has to be counted now."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from streamops.model.ids import LAST_ID
from streamops.model.lag import Lag, LagBasis
from streamops.model.readings import GroupReading, StreamReading
from streamops.monitor.counting import CountBudget, Counter, Span, span_ahead, span_behind
from streamops.monitor.lag import Faith, settle_lag
from streamops.monitor.lag_cases import (
    Anchor,
    Case,
    GroupKey,
    entries_added,
    is_same,
    open_case,
    recalled_lag,
)
from streamops.wire.server import Server
from streamops.wire.stream_reader import StreamReader

MOST_GROUPS = 64
"""A script looks for a group among so many at most: to tell of one takes the server some microseconds."""


class LagKeeper:
    """Settles lags, remembers what was counted, and checks one reported lag a collection by counting.

    A group whose reported lag was caught wrong (a foreign XSETID, a false ENTRIESREAD or XCLAIM LASTID can
    do that) is not believed again as long as it lives.
    """

    def __init__(self, server: Server, reader: StreamReader, budget: CountBudget) -> None:
        self._server = server
        self._reader = reader
        self._budget = budget
        self._anchors: dict[GroupKey, Anchor] = {}
        self._caught: set[GroupKey] = set()
        self._checked: set[GroupKey] = set()
        self._served: dict[GroupKey, int] = {}
        self._collections = 0
        self._era = 0

    def heed(self, era: int) -> None:
        """Drop what was counted where another server answers than before: its counts may be the same, and its entries others.

        Who was caught is not believed there either: a replica has the counters of its primary.

        Args:
            era: Which servers answer, as ``Identities`` counts.
        """
        if era != self._era:
            self._era = era
            self._anchors.clear()

    async def settle(self, streams: Sequence[tuple[StreamReading, Faith]]) -> dict[GroupKey, Lag]:
        """The lag of every group of these streams, counting within the budget."""
        self._collections += 1
        lags: dict[GroupKey, Lag] = {}
        cases: list[Case] = []
        for stream, faith in streams:
            for group in stream.groups:
                key = stream.name, group.name
                anchor = self._anchors.get(key)
                if anchor is not None and anchor.lag.known and anchor.same(stream, group):
                    # Counted, and nothing has moved: most groups, most of the time.
                    lags[key] = anchor.lag
                    continue
                lag = settle_lag(stream, group, Faith.NONE if key in self._caught else faith)
                recalled = None if lag.known or anchor is None else recalled_lag(anchor, stream, group)
                lags[key] = recalled or lag
                if not lag.known and recalled is None:
                    cases.append(open_case(anchor, stream, group, lag, self._budget.cheap))
        counter = Counter(self._server, self._budget)
        await self._count(cases, counter)
        await self._confirm(cases, counter)
        for case in cases:
            lags[case.key] = case.result()
            self._remember(case, lags[case.key], counter)
        await self._check_one(streams, lags, counter)
        return lags

    def forget_all_but(self, groups: Collection[GroupKey], unread: Collection[str]) -> None:
        """Drop what is remembered of other groups, except of streams that could not be read."""
        self._anchors = {
            key: anchor for key, anchor in self._anchors.items() if key in groups or key[0] in unread
        }
        self._caught = {key for key in self._caught if key in groups or key[0] in unread}
        self._checked = {key for key in self._checked if key in groups or key[0] in unread}
        self._served = {key: when for key, when in self._served.items() if key in groups or key[0] in unread}

    async def _count(self, cases: Iterable[Case], counter: Counter) -> None:
        """First what was delivered since an old count, then ahead of the position, then behind it."""
        depth = self._reader.depth
        queue = sorted(cases, key=self._turn)
        await counter.count([case.delivered for case in queue if case.delivered], depth)
        queue = [case for case in queue if not (case.delivered and case.delivered.complete)]
        queue = self._affordable(queue, counter)
        for case in queue:
            weight = case.stream.entry_bytes or 0
            end = case.stream.end_id or LAST_ID
            case.ahead = span_ahead(case.stream.name, case.group.last_delivered_id, end, weight)
            case.ahead.length = case.stream.length
            case.ahead.group = case.group.name if len(case.stream.groups) <= MOST_GROUPS else ""
        await counter.count([case.ahead for case in queue if case.ahead], depth)
        queue = [case for case in queue if case.ahead and not case.ahead.complete and not case.ahead.failed]
        for case in queue:
            weight = case.stream.entry_bytes or 0
            case.behind = span_behind(case.stream.name, case.group.last_delivered_id, weight)
        await counter.count([case.behind for case in queue if case.behind], depth)

    def _turn(self, case: Case) -> tuple[bool, int, int]:
        """Cheap ones first; of the others, who has waited for longest."""
        large = case.weight > self._budget.per_range
        return large, self._served.get(case.key, 0) if large else 0, case.weight

    def _affordable(self, queue: Sequence[Case], counter: Counter) -> list[Case]:
        """As many cases as the budget has room for on both sides of their positions, and at least one."""
        left, chosen = counter.left, list[Case]()
        for case in queue:
            large = case.weight > self._budget.per_range
            cost = 2 * self._budget.per_range if large else case.weight
            if chosen and cost > left:
                break
            left -= cost
            chosen.append(case)
            if large:
                self._served[case.key] = self._collections
        return chosen

    async def _confirm(self, cases: Iterable[Case], counter: Counter) -> None:
        """Give up what was counted behind a position where the stream has lost entries since it was read.

        What a script counted ahead of a position mostly tells by itself whether any were lost; other counts do not.
        """
        doubtful = [case for case in cases if case.leans_on_the_past or case.untold]
        streams = {case.stream.name: case.stream for case in doubtful}
        now = await self._read_again(list(streams))
        if self._is_another:
            for case in cases:
                case.forget()
            return
        intact = {name for name, stream in now.items() if _is_intact(streams[name], stream)}
        intact |= await self._intact_by_count(
            [(streams[name], stream) for name, stream in now.items() if name not in intact], counter
        )
        for case in doubtful:
            if case.stream.name not in intact:
                case.give_up()
            else:
                case.vouch()

    async def _intact_by_count(
        self, pairs: Sequence[tuple[StreamReading, StreamReading]], counter: Counter
    ) -> set[str]:
        """Streams whose length changed by just what came after their last entry; Redis 6.2 does not say more."""
        spans = {
            before.name: (
                before,
                after,
                Span(before.name, before.last_id, after.last_id, after.entry_bytes or 0),
            )
            for before, after in pairs
            if before.entries_added is None
            and before.first_id == after.first_id
            and before.last_id is not None
            and after.last_id is not None
        }
        await counter.count([span for _, _, span in spans.values()], self._reader.depth)
        return {
            name
            for name, (before, after, span) in spans.items()
            if span.complete and after.length - span.counted == before.length
        }

    async def _read_again(self, names: Sequence[str]) -> dict[str, StreamReading]:
        if not names:
            return {}
        readings = (await self._reader.read(names)).streams
        return {reading.name: reading for reading in readings if isinstance(reading, StreamReading)}

    @property
    def _is_another(self) -> bool:
        """Whether another server answers by now than the one that what is settled was read from."""
        return self._reader.servers.era != self._era

    def _remember(self, case: Case, lag: Lag, counter: Counter) -> None:
        """Keep what was counted for the reading; bounds too, where counting again would find no more."""
        if (
            case.moved
            or not (lag.known or counter.is_final(case.ahead, case.behind))
            or not case.stream.bounds_read
        ):
            self._anchors.pop(case.key, None)
            return
        self._anchors[case.key] = Anchor(lag, case.stream.alone, case.group.last_delivered_id)

    async def _check_one(
        self,
        streams: Sequence[tuple[StreamReading, Faith]],
        lags: dict[GroupKey, Lag],
        counter: Counter,
    ) -> None:
        """Count one group whose reported lag is believed, the one not checked for longest."""
        candidate = self._next_to_check(streams, lags, counter)
        if candidate is None:
            return
        stream, group = candidate
        key, reported = (stream.name, group.name), lags[stream.name, group.name].entries
        end, weight = stream.end_id or LAST_ID, stream.entry_bytes or 0
        span = span_ahead(stream.name, group.last_delivered_id, end, weight)
        await counter.count([span], self._reader.depth)
        if not span.complete or span.counted == reported or not await self._still_is(stream, group):
            return
        self._caught.add(key)
        reason = f"counted; the server says {reported:,}"
        lags[key] = Lag(span.counted, span.counted, span.counted, LagBasis.EXACT, reason)

    async def _still_is(self, stream: StreamReading, group: GroupReading) -> bool:
        """Whether nothing has moved since the reading: else the count may differ and the server be right."""
        now = (await self._read_again([stream.name])).get(stream.name)
        return (
            now is not None
            and not self._is_another
            and is_same(stream, now)
            and group.last_delivered_id
            in {one.last_delivered_id for one in now.groups if one.name == group.name}
        )

    def _next_to_check(
        self, streams: Sequence[tuple[StreamReading, Faith]], lags: dict[GroupKey, Lag], counter: Counter
    ) -> tuple[StreamReading, GroupReading] | None:
        def believed() -> Iterator[tuple[StreamReading, GroupReading]]:
            for stream, _ in streams:
                for group in stream.groups:
                    lag = lags[stream.name, group.name]
                    if lag.basis is LagBasis.REPORTED and (stream.name, group.name) not in self._checked:
                        yield stream, group

        def countable(candidate: tuple[StreamReading, GroupReading]) -> bool:
            stream, group = candidate
            return counter.allows(lags[stream.name, group.name].entries or 0, stream.entry_bytes or 0)

        chosen = next(filter(countable, believed()), None)
        if chosen is None and self._checked:
            # Everybody has had a turn: it starts over.
            self._checked.clear()
            chosen = next(filter(countable, believed()), None)
        if chosen is not None:
            self._checked.add((chosen[0].name, chosen[1].name))
        return chosen


def _is_intact(before: StreamReading, after: StreamReading) -> bool:
    """Whether it is certain that a stream has lost no entries between two readings."""
    if not before.bounds_read:
        # One removed for every one added shows only in a lag that the server counts from its additions.
        unmoved = before.length == after.length and before.groups == after.groups
        return unmoved and any(_counts_additions(group, before.length) for group in before.groups)
    return entries_added(before, after) is not None


def _counts_additions(group: GroupReading, length: int) -> bool:
    """Whether any addition changes the group's reported lag: that of a group before the first entry is the length."""
    return group.entries_read is not None and group.reported_lag is not None and group.reported_lag < length
