"""Lags, settled: what the server says, what was counted before, what has to be counted now."""

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from streamops.analysis.lag import Faith, Tally, settle_lag, settle_tally
from streamops.model.ids import LAST_ID, EntryId
from streamops.model.lag import Lag, LagBasis
from streamops.model.readings import GroupReading, StreamReading
from streamops.operate.tallies import CountBudget, Counter, Span, span_ahead, span_behind
from streamops.wire.server import Server
from streamops.wire.stream_reader import Depth

GroupKey = tuple[str, str]


class Anchor(Struct, frozen=True):
    """A lag that was once counted, and the state it was counted in."""

    lag: int
    position: EntryId
    first_id: EntryId | None
    last_generated_id: EntryId | None
    length: int
    entries_added: int | None

    def same(self, stream: StreamReading, group: GroupReading) -> bool:
        """Whether nothing was added, removed or delivered since."""
        return (
            self.position == group.last_delivered_id
            and self.last_generated_id == stream.last_generated_id
            and self.length == stream.length
            and self.first_id == stream.first_id
            and self.entries_added == stream.entries_added
        )

    def added_since(self, stream: StreamReading, group: GroupReading) -> int | None:
        """Entries added since, where it is certain that none was removed meanwhile; none otherwise."""
        if self.entries_added is None or stream.entries_added is None:
            return None
        nothing_removed = self.entries_added - self.length == stream.entries_added - stream.length
        added = stream.entries_added - self.entries_added
        # With nothing removed the first entry stays; another one means another stream under the same name.
        if (
            nothing_removed
            and added >= 0
            and self.first_id == stream.first_id
            and self.position <= group.last_delivered_id
        ):
            return added
        return None


class Case(Struct):
    """One group whose lag one reading leaves open."""

    stream: StreamReading
    group: GroupReading
    lag: Lag
    ahead: Span | None = None
    behind: Span | None = None
    delivered: Span | None = None
    carried: int = 0

    @property
    def key(self) -> GroupKey:
        """Whose lag it is."""
        return self.stream.name, self.group.name

    @property
    def weight(self) -> int:
        """What counting may cost, for serving the cheap ones first."""
        if self.delivered is not None:
            return 0
        return self.lag.upper if self.lag.upper is not None else self.stream.length

    def result(self) -> Lag:
        """The lag after counting."""
        if self.delivered is not None and self.delivered.complete:
            entries = self.carried - self.delivered.counted
            if 1 <= entries < self.stream.length:
                return Lag(entries, entries, entries, LagBasis.EXACT, "counted before and carried on")
        if self.ahead is None or self.ahead.failed:
            return self.lag
        tally = Tally(
            ahead=self.ahead.counted,
            ahead_complete=self.ahead.complete,
            behind=self.behind.counted if self.behind else 0,
            behind_complete=bool(self.behind and self.behind.complete),
        )
        return settle_tally(self.stream, self.group, self.lag, tally)


class LagKeeper:
    """Settles lags, remembers what was counted, and checks one reported lag a collection by counting.

    A group whose reported lag was caught wrong (a foreign XSETID, a false ENTRIESREAD or XCLAIM LASTID can
    do that) is not believed again as long as it lives.
    """

    def __init__(self, server: Server, budget: CountBudget) -> None:
        self._server = server
        self._budget = budget
        self._anchors: dict[GroupKey, Anchor] = {}
        self._caught: set[GroupKey] = set()
        self._checked: set[GroupKey] = set()

    async def settle(
        self, streams: Sequence[tuple[StreamReading, Faith]], depth: Depth
    ) -> dict[GroupKey, Lag]:
        """The lag of every group of these streams, counting within the budget."""
        lags: dict[GroupKey, Lag] = {}
        cases: list[Case] = []
        for stream, faith in streams:
            for group in stream.groups:
                key = stream.name, group.name
                lag = settle_lag(stream, group, Faith.NONE if key in self._caught else faith)
                if not lag.known and (carried := self._recall(stream, group)) is not None:
                    lag = carried
                lags[key] = lag
                if not lag.known:
                    cases.append(self._case(stream, group, lag))
        counter = Counter(self._server, self._budget)
        await self._count(cases, counter, depth)
        for case in cases:
            lags[case.key] = case.result()
            self._remember(case, lags[case.key])
        await self._check_one(streams, lags, counter, depth)
        return lags

    def forget_all_but(self, groups: Collection[GroupKey]) -> None:
        """Drop what is remembered of other groups."""
        self._anchors = {key: anchor for key, anchor in self._anchors.items() if key in groups}
        self._caught.intersection_update(groups)

    def _recall(self, stream: StreamReading, group: GroupReading) -> Lag | None:
        anchor = self._anchors.get((stream.name, group.name))
        if anchor is None:
            return None
        if anchor.same(stream, group):
            return Lag(
                anchor.lag, anchor.lag, anchor.lag, LagBasis.EXACT, "counted before; nothing has moved since"
            )
        added = anchor.added_since(stream, group)
        if added is None or anchor.position != group.last_delivered_id:
            return None
        entries = anchor.lag + added
        return Lag(entries, entries, entries, LagBasis.EXACT, "counted before; only additions since")

    def _case(self, stream: StreamReading, group: GroupReading, lag: Lag) -> Case:
        case = Case(stream, group, lag)
        anchor = self._anchors.get(case.key)
        added = anchor.added_since(stream, group) if anchor else None
        if anchor is not None and added is not None and anchor.lag + added > self._budget.cheap:
            case.carried = anchor.lag + added
            case.delivered = Span(
                stream.name, anchor.position, group.last_delivered_id, stream.entry_bytes or 0
            )
        return case

    async def _count(self, cases: Iterable[Case], counter: Counter, depth: Depth) -> None:
        """First what was delivered since an old count, then ahead of the position, then behind it."""
        queue = sorted(cases, key=lambda case: case.weight)
        await counter.count([case.delivered for case in queue if case.delivered], depth)
        queue = [case for case in queue if not (case.delivered and case.delivered.complete)]
        for case in queue:
            weight = case.stream.entry_bytes or 0
            end = case.stream.last_id or LAST_ID
            case.ahead = span_ahead(case.stream.name, case.group.last_delivered_id, end, weight)
        await counter.count([case.ahead for case in queue if case.ahead], depth)
        queue = [case for case in queue if case.ahead and not case.ahead.complete and not case.ahead.failed]
        for case in queue:
            weight = case.stream.entry_bytes or 0
            case.behind = span_behind(case.stream.name, case.group.last_delivered_id, weight)
        await counter.count([case.behind for case in queue if case.behind], depth)

    def _remember(self, case: Case, lag: Lag) -> None:
        if lag.entries is None or lag.basis is not LagBasis.EXACT or not case.stream.bounds_read:
            self._anchors.pop(case.key, None)
            return
        self._anchors[case.key] = _anchor(case.stream, case.group, lag.entries)

    async def _check_one(
        self,
        streams: Sequence[tuple[StreamReading, Faith]],
        lags: dict[GroupKey, Lag],
        counter: Counter,
        depth: Depth,
    ) -> None:
        """Count one group whose reported lag is believed, the one not checked for longest."""
        candidate = self._next_to_check(streams, lags, counter.left)
        if candidate is None:
            return
        stream, group = candidate
        key = stream.name, group.name
        span = span_ahead(
            stream.name, group.last_delivered_id, stream.last_id or LAST_ID, stream.entry_bytes or 0
        )
        await counter.count([span], depth)
        reported = lags[key].entries or 0
        if span.complete and span.counted != reported:
            self._caught.add(key)
            reason = f"counted; the server says {reported:,}"
            lags[key] = Lag(span.counted, span.counted, span.counted, LagBasis.EXACT, reason)

    def _next_to_check(
        self, streams: Sequence[tuple[StreamReading, Faith]], lags: dict[GroupKey, Lag], left: int
    ) -> tuple[StreamReading, GroupReading] | None:
        for stream, _ in streams:
            within = min(left, self._budget.page_size(stream.entry_bytes or 0))
            for group in stream.groups:
                key = stream.name, group.name
                lag = lags[key]
                if lag.basis is not LagBasis.REPORTED or (lag.entries or 0) > within or key in self._checked:
                    continue
                self._checked.add(key)
                return stream, group
        # Everybody has had a turn: the next collection starts over.
        self._checked.clear()
        return None


def _anchor(stream: StreamReading, group: GroupReading, lag: int) -> Anchor:
    return Anchor(
        lag=lag,
        position=group.last_delivered_id,
        first_id=stream.first_id,
        last_generated_id=stream.last_generated_id,
        length=stream.length,
        entries_added=stream.entries_added,
    )
