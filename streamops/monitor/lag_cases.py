"""One group whose lag a reading leaves open: what is counted for it, what that count is anchored in, and what comes of it."""

from msgspec import Struct

from streamops.model.ids import EntryId
from streamops.model.lag import Lag, LagBasis
from streamops.model.readings import GroupReading, StreamReading
from streamops.monitor.counting import Span
from streamops.monitor.lag import Tally, settle_tally


class Anchor(Struct, frozen=True):
    """A lag that was once counted, as far as the budget went, and the reading, without its groups, that it was counted for."""

    lag: Lag
    stream: StreamReading
    position: EntryId

    def same(self, stream: StreamReading, group: GroupReading) -> bool:
        """Whether nothing was added, removed or delivered since."""
        return self.position == group.last_delivered_id and is_same(self.stream, stream)

    def added_since(self, stream: StreamReading, group: GroupReading) -> int | None:
        """Entries added since, where it is certain that none was removed meanwhile; none otherwise."""
        added = entries_added(self.stream, stream)
        return added if self.position <= group.last_delivered_id else None


def is_same(before: StreamReading, after: StreamReading) -> bool:
    """Whether a stream has the same entries in both readings."""
    return (
        before.last_generated_id == after.last_generated_id
        and before.length == after.length
        and before.first_id == after.first_id
        and before.entries_added == after.entries_added
    )


def entries_added(before: StreamReading, after: StreamReading) -> int | None:
    """Entries added between two readings of a stream, where none was removed; none where that is not certain.

    Before Redis 7.0 servers do not tell, unless nothing changed at all.
    """
    if before.entries_added is None or after.entries_added is None:
        return 0 if is_same(before, after) else None
    added = after.entries_added - before.entries_added
    # With nothing removed the first entry stays, and only additions move the last ID: where that is not so,
    # another stream stands under the same name, or somebody set its counters.
    if (
        added == after.length - before.length
        and added >= 0
        and before.first_id == after.first_id
        and (added > 0) == (before.last_generated_id != after.last_generated_id)
    ):
        return added
    return None


GroupKey = tuple[str, str]


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

    @property
    def leans_on_the_past(self) -> bool:
        """Whether the result holds only if no entry was removed between reading and counting."""
        if self.delivered is not None and self.delivered.complete:
            return True
        return bool(self.behind and self.behind.complete)

    @property
    def moved(self) -> bool:
        """Whether entries were removed, or may have been, before those ahead were counted."""
        return self.ahead is not None and self.ahead.complete and self.ahead.gone != 0

    @property
    def untold(self) -> bool:
        """Whether the count of those ahead does not tell if any were removed, nor what waited at its instant."""
        ahead = self.ahead
        return ahead is not None and ahead.complete and ahead.gone is None and ahead.now is None

    def give_up(self) -> None:
        """Entries were removed in between: what was counted behind the position says nothing."""
        self.delivered = self.behind = None

    def forget(self) -> None:
        """Another server took over in between: nothing that was counted need be of the stream that was read."""
        self.ahead = self.delivered = self.behind = None

    def vouch(self) -> None:
        """None was removed in between: what was counted ahead of the position is what waited."""
        if self.ahead is not None:
            self.ahead.gone = 0

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
            gone=self.ahead.gone,
            now=self.ahead.now,
        )
        return settle_tally(self.stream, self.group, self.lag, tally)


def recalled_lag(anchor: Anchor, stream: StreamReading, group: GroupReading) -> Lag | None:
    """What was counted, where it holds still or only additions came since."""
    if anchor.same(stream, group):
        return anchor.lag
    added = anchor.added_since(stream, group)
    if added is None or not anchor.lag.known or anchor.position != group.last_delivered_id:
        return None
    return _carried(anchor, added)


def open_case(
    anchor: Anchor | None, stream: StreamReading, group: GroupReading, lag: Lag, cheap: int
) -> Case:
    """A case, begun where an older count can be carried on and counting anew is not cheap."""
    case = Case(stream, group, lag)
    added = anchor.added_since(stream, group) if anchor else None
    counted = anchor.lag.entries if anchor is not None and anchor.lag.known else None
    if anchor is not None and counted is not None and added is not None and counted + added > cheap:
        case.carried = counted + added
        case.delivered = Span(stream.name, anchor.position, group.last_delivered_id, stream.entry_bytes or 0)
    return case


def _carried(anchor: Anchor, added: int) -> Lag:
    entries = (anchor.lag.entries or 0) + added
    return Lag(entries, entries, entries, LagBasis.EXACT, "counted before; only additions since")
