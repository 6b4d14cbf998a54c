"""How a group's lag is known, and how well. Pure.

What a server reports is nil after deletions ahead of a group, missing before Redis 7.0, and on some versions too high once
trimming has overtaken the group. These cases are tried in this order:

1. **Cached** (6.2 on). A ``CachedCount`` of the same stream and position, if nothing has moved since: most groups, most
   of the time.
2. **Bounds** (all versions): exact, whatever the server reports. The stream is empty, or the group is at or past the last
   entry: 0. The group is before the first entry: the length. Otherwise the lag is between 1 and the length less 1.
3. **Reported**, within these bounds (Redis 7.4.4 to 7.4.x and 8.0.0 on, Valkey 8.1.1 on): believed. No error was found there
   in 4,800 random histories a version, but what somebody set by XSETID, ENTRIESREAD or XCLAIM LASTID. So one such group
   a collection is checked by counting, and one that was found wrong is counted from then on.
4. **Carried** (7.0 on): a ``CachedCount`` at the same position, where only additions came since: their sum.
5. **Still right** (primaries of Redis 7.0 to 7.4.3, and of Valkey before 8.1.1): the reported lag, where an older ``CachedCount``
   was what the server reported too, and the stream has lost nothing since. Only removals make it wrong. Those behind the position
   count as well: meanwhile the group may have been set back, overtaken by them, and read on to if it is now.

What is left is *unverified*: bounds, and on versions before those of case 3 the reported lag as an upper bound, because every
known error there is an overestimate. A ``LagEstimate`` is verified by counting, within a budget:

6. **Delivered** (7.0 on): an older ``CachedCount`` plus additions less what was counted between its position and this one.
   Holds if the stream has lost nothing since the reading.
7. **Ahead** (all versions): all entries after the position. Holds if the stream has lost nothing since the reading, which the
   script sees at the instant of counting; if it has, what the script found to wait at that instant holds.
8. **Behind** (all versions): the length less all entries up to the position. Holds if the stream has lost nothing.
9. **Unverified**: what counting reached narrows the bounds. Where IDs are times, they give an estimate within them.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.entries import EARLIEST_PLAUSIBLE, LAST_ID, NO_TIME, ZERO_ID, EntryId, id_age
from streamops.model.lag import Lag, LagBasis, TimeLag
from streamops.model.streams import Flavour, GroupReading, ServerNode, StreamReading

NOTHING_WAITS = TimeLag(NO_TIME)

RELIABLE_REDIS = (8, 0, 0)
RELIABLE_REDIS_7_4 = (7, 4, 4)
RELIABLE_VALKEY = (8, 1, 1)


class LagReliability(IntEnum):
    """What a lag that a server reports is worth, if it is within bounds."""

    RELIABLE = 0
    CONFIRMABLE = 1
    """An upper bound; once it is found right, it stays so as long as nothing is removed."""
    UPPER_BOUND = 2
    WRONG = 3


def reliability_of(nodes: Iterable[ServerNode]) -> LagReliability:
    """What the lag that these servers report is worth; in a cluster of mixed versions the least reliable decides.

    Source: redis #13338, #13473, #13958; valkey #1952; and 4,800 random histories a version.
    """
    return max(map(_reliability, nodes), default=LagReliability.UPPER_BOUND)


def _reliability(node: ServerNode) -> LagReliability:
    version = node.version
    if (
        version >= RELIABLE_VALKEY
        if node.flavour is Flavour.VALKEY
        else version >= RELIABLE_REDIS or (7, 5, 0) > version >= RELIABLE_REDIS_7_4
    ):
        return LagReliability.RELIABLE
    # To a replica a delivery comes as XCLAIM with LASTID, which moves the position and not the read counter.
    return LagReliability.UPPER_BOUND if node.is_replica else LagReliability.CONFIRMABLE


class RangeCount(Struct):
    """One range of a stream's entries under count.

    Attributes:
        stream: The stream.
        after: Where to go on, exclusive.
        until: Where to stop, inclusive.
        entry_bytes: What an entry may weigh.
        length: How many entries the stream had when ``until`` was its end; None if it does not matter.
        group: The group that waits for the entries, where its lag at the instant of counting is wanted; else empty.
        counted: Entries counted so far.
        walked: Bytes of payload that those have.
        complete: Whether the whole range has been counted.
        failed: Whether the server refused.
        gone: Entries that the stream had lost when the count was complete; None if that is not known.
        now: What waited for the group at that instant, where some were gone; None if that is not known.
    """

    stream: str
    after: EntryId
    until: EntryId
    entry_bytes: int
    length: int | None = None
    group: str = ""
    counted: int = 0
    walked: int = 0
    complete: bool = False
    failed: bool = False
    gone: int | None = None
    now: int | None = None

    @property
    def weight(self) -> int:
        """Bytes that the next entries are expected to have, each; at least one."""
        return max(1, self.entry_bytes, self.walked // max(1, self.counted))


class CachedCount(Struct, frozen=True):
    """A lag as counted, with what it holds for.

    Attributes:
        lag: The lag.
        stream: The reading of the stream, without its groups.
        position: The group's position.
        entries_read: The group's read counter, where the lag that the server made of it was right; else none.
    """

    lag: Lag
    stream: StreamReading
    position: EntryId
    entries_read: int | None = None

    def is_unchanged(self, stream: StreamReading, group: GroupReading) -> bool:
        """Whether nothing was added, removed or delivered since."""
        return self.position == group.last_delivered_id and is_same(self.stream, stream)

    def added_since(self, stream: StreamReading, group: GroupReading) -> int | None:
        """Entries added since, if it is certain that none was removed and the group did not move back; else none."""
        return entries_added(self.stream, stream) if self.position <= group.last_delivered_id else None

    def still_right(self, stream: StreamReading, group: GroupReading) -> bool:
        """Whether the server's lag was right then, the group was delivered more, and nothing was removed since."""
        before, now = self.entries_read, group.entries_read
        is_counted = before is not None and now is not None and before < now
        return is_counted and self.added_since(stream, group) is not None


class NextEntry(Struct, frozen=True, gc=False):
    """The next undelivered entry of a group, with the reading, without its groups, for which it was read.

    Attributes:
        stream: The reading of the stream.
        position: The group's position.
        id: The entry's ID; none if no entry comes after.
    """

    stream: StreamReading
    position: EntryId
    id: EntryId | None

    def holds(self, stream: StreamReading, group: GroupReading) -> bool:
        """Whether it is the next one in a later reading too: the group has not moved, and nothing was removed."""
        if self.position != group.last_delivered_id:
            return False
        added = entries_added(self.stream, stream)
        return added == 0 or (added is not None and self.id is not None)


def is_same(before: StreamReading, after: StreamReading) -> bool:
    """Whether a stream has the same entries in both readings."""
    return (
        before.last_generated_id == after.last_generated_id
        and before.length == after.length
        and before.first_id == after.first_id
        and before.entries_added == after.entries_added
    )


def entries_added(before: StreamReading, after: StreamReading) -> int | None:
    """Entries added between two readings of a stream, if none was removed; None if that is not certain.

    Redis 6.2 does not report, unless nothing changed at all.
    """
    if before.entries_added is None or after.entries_added is None:
        return 0 if is_same(before, after) else None
    added = after.entries_added - before.entries_added
    # With nothing removed the first entry stays, and only additions move the last ID: if that is not so,
    # the key was created again, or its counters were set.
    if (
        added == after.length - before.length
        and added >= 0
        and before.first_id == after.first_id
        and (added > 0) == (before.last_generated_id != after.last_generated_id)
    ):
        return added
    return None


def is_intact(before: StreamReading, after: StreamReading) -> bool:
    """Whether it is certain that a stream has lost no entries between two readings."""
    if not before.bounds_read:
        # One removed for every one added shows only in a lag that the server counts from its additions.
        unmoved = before.length == after.length and before.groups == after.groups
        return unmoved and any(_counts_additions(group, before.length) for group in before.groups)
    return entries_added(before, after) is not None


def _counts_additions(group: GroupReading, length: int) -> bool:
    """Whether any addition changes the group's reported lag: before the first entry it is the length."""
    return group.entries_read is not None and group.reported_lag is not None and group.reported_lag < length


class LagEstimate(Struct):
    """The lag of one group in one reading while it is being verified by counting."""

    stream: StreamReading
    group: GroupReading
    lag: Lag
    carried: int = 0
    delivered: RangeCount | None = None
    ahead: RangeCount | None = None
    behind: RangeCount | None = None

    @property
    def most(self) -> int:
        """The most entries that counting ahead may find, to serve the cheap ones first."""
        if self.delivered is not None:
            return 0
        return self.stream.length if self.lag.upper is None else self.lag.upper

    def count_ahead(self, *, with_group: bool) -> RangeCount:
        """Begin to count what is after the position, and with the group what waits at that instant."""
        end = self.stream.end_id or LAST_ID
        self.ahead = self._range(self.group.last_delivered_id, end)
        self.ahead.length = self.stream.length
        self.ahead.group = self.group.name if with_group else ""
        return self.ahead

    def count_behind(self) -> RangeCount:
        """Begin to count what is up to the position."""
        self.behind = self._range(ZERO_ID, self.group.last_delivered_id)
        return self.behind

    def count_delivered(self, cached: CachedCount, cheap: int) -> RangeCount | None:
        """Begin to count what was delivered since a cached count, unless that does not hold or counting again is cheap."""
        added = cached.added_since(self.stream, self.group)
        if added is None or not cached.lag.known or (cached.lag.entries or 0) + added <= cheap:
            return None
        self.carried = (cached.lag.entries or 0) + added
        self.delivered = self._range(cached.position, self.group.last_delivered_id)
        return self.delivered

    def _range(self, after: EntryId, until: EntryId) -> RangeCount:
        return RangeCount(self.stream.name, after, until, self.stream.entry_bytes or 0)

    @property
    def needs_confirmation(self) -> bool:
        """Whether the result holds only if no entry was removed since the reading, and counting did not tell."""
        if any(one is not None and one.complete for one in (self.delivered, self.behind)):
            return True
        return self.has_lost is None and self.ahead is not None and self.ahead.now is None

    @property
    def has_lost(self) -> bool | None:
        """Whether entries were removed before those ahead were counted; none if that is not known."""
        if self.ahead is None or not self.ahead.complete:
            return False
        return None if self.ahead.gone is None else self.ahead.gone > 0

    def confirm(self, *, intact: bool) -> None:
        """Take note whether the stream has lost entries since the reading: what was counted behind may say nothing then."""
        if not intact:
            self.delivered = self.behind = None
        elif self.ahead is not None:
            self.ahead.gone = 0

    def discard_counts(self) -> None:
        """Discard all counts: another server answered than the one that the reading is of."""
        self.ahead = self.delivered = self.behind = None

    def result(self) -> Lag:
        """The lag after counting."""
        if self.delivered is not None and self.delivered.complete:
            entries = self.carried - self.delivered.counted
            if 1 <= entries < self.stream.length:
                return exact_lag(entries, "counted earlier, and updated by what was delivered since")
        if self.ahead is None or self.ahead.failed:
            return self.lag
        return self._by_counts(self.ahead)

    def _by_counts(self, ahead: RangeCount) -> Lag:
        lag, length, counted = self.lag, self.stream.length, ahead.counted
        behind = self.behind.counted if self.behind else 0
        # If none is left of those that waited, they were removed since, and others may wait now.
        waited = bool(lag.lower) or self.group.next_id is not None
        if ahead.complete and ahead.gone == 0 and (counted or not waited):
            return exact_lag(counted, "counted")
        if ahead.complete and ahead.now is not None:
            return exact_lag(ahead.now, "counted a moment later, together with the position", later=True)
        if self.behind is not None and self.behind.complete:
            return exact_lag(length - behind, "counted from the stream's beginning")
        lower = max(counted, lag.lower or 0)
        upper = max(lower, length - behind)
        if ahead.complete and ahead.gone:
            upper = max(lower, min(upper, counted + ahead.gone))
        # A server whose counters were set may report less than was counted: then its report is worth nothing.
        is_bound = lag.upper is not None and lag.upper >= lower
        if lag.upper is not None and is_bound:
            upper = min(upper, lag.upper)
        if lower == upper:
            return exact_lag(lower, "the lower and the upper bound are equal")
        if lag.basis is LagBasis.UPPER and is_bound:
            return Lag(None, lower, upper, LagBasis.UPPER, f"{lag.reason}; at least {lower:,} counted")
        if ahead.complete:
            basis = LagBasis.LOWER if counted else LagBasis.UNKNOWN
            removed = "entries may have been removed" if ahead.gone is None else "entries were removed"
            return Lag(None, lower, upper, basis, f"{removed} while it was counted")
        if (guess := _interpolated(self.stream, self.group.last_delivered_id)) is not None:
            reason = f"{lag.reason}; estimated from the times in IDs"
            return Lag(min(max(guess, lower), upper), lower, upper, LagBasis.ESTIMATED, reason)
        return Lag(None, lower, upper, LagBasis.LOWER, f"{lag.reason}; counting stopped at its budget")


def lag_without_counting(
    stream: StreamReading, group: GroupReading, reliability: LagReliability, cached: CachedCount | None
) -> Lag | LagEstimate:
    """The lag by cases 1 to 5, or what is still to be verified by counting."""
    unchanged = cached is not None and cached.is_unchanged(stream, group)
    if cached is not None and unchanged and cached.lag.known:
        return cached.lag
    lag = lag_of_reading(stream, group, reliability)
    if lag.known or cached is None:
        return lag if lag.known else LagEstimate(stream, group, lag)
    if unchanged:
        # Bounds that counting again would not narrow.
        return cached.lag
    if cached.lag.known and cached.position == group.last_delivered_id:
        added = cached.added_since(stream, group)
        if added is not None:
            return exact_lag(
                (cached.lag.entries or 0) + added, "counted earlier; entries were only added since"
            )
    if (
        reliability is LagReliability.CONFIRMABLE
        and lag.basis is LagBasis.UPPER
        and cached.still_right(stream, group)
    ):
        why = "reported by the server; an earlier report was verified, and nothing was removed since"
        return replace(lag, entries=lag.upper, lower=lag.upper, basis=LagBasis.REPORTED, reason=why)
    return LagEstimate(stream, group, lag)


def lag_of_reading(stream: StreamReading, group: GroupReading, reliability: LagReliability) -> Lag:
    """The lag by cases 2 and 3, or its bounds."""
    if stream.length == 0:
        return exact_lag(0, "the stream is empty")
    position, reported = group.last_delivered_id, group.reported_lag
    end = stream.end_id
    if end is not None and position >= end:
        return CAUGHT_UP
    if stream.first_id is not None and position < stream.first_id:
        return exact_lag(stream.length, "the group has read nothing that is still in the stream")
    next_id = group.next_id
    # One that came after the reading does not report whether any waited at the reading.
    is_behind = stream.last_id is not None or (next_id is not None and (end is None or next_id <= end))
    lower, upper = int(is_behind), stream.length - 1 if stream.bounds_read else stream.length
    if reliability is LagReliability.WRONG:
        return Lag(None, lower, upper, LagBasis.UNKNOWN, "the server's report was found wrong for this group")
    if reported and group.next_read and next_id is None:
        return Lag(
            None, lower, upper, LagBasis.UNKNOWN, "no undelivered entry was left when the next one was read"
        )
    if reported is None or not lower <= reported <= upper:
        why = (
            "the server reports no lag"
            if reported is None
            else f"the server reports an impossible lag of {reported:,}"
        )
        return Lag(None, lower, upper, LagBasis.UNKNOWN, why)
    if reliability is LagReliability.RELIABLE:
        return Lag(reported, reported, reported, LagBasis.REPORTED, "reported by the server")
    why = "this server reports too much once trimming has overtaken the group"
    return Lag(None, lower, reported, LagBasis.UPPER, why)


def exact_lag(entries: int, reason: str, *, later: bool = False) -> Lag:
    """A verified lag."""
    return Lag(entries, entries, entries, LagBasis.EXACT, reason, later)


CAUGHT_UP = exact_lag(0, "the group has been delivered the last entry")


def _interpolated(stream: StreamReading, position: EntryId) -> int | None:
    """The share of entries after the position if they came evenly over time."""
    first, last = stream.first_id, stream.end_id
    if first is None or last is None or last.ms <= first.ms:
        return None
    if first.time is None or first.time < EARLIEST_PLAUSIBLE:
        return None
    return round(stream.length * (last.ms - position.ms) / (last.ms - first.ms))


def needing_next_entry(stream: StreamReading) -> Sequence[GroupReading]:
    """The groups whose time lag takes the ID of the next undelivered entry, because no bound tells it."""
    first, end = stream.first_id, stream.end_id
    if stream.length == 0 or not stream.bounds_read or first is None or end is None:
        return ()
    return [group for group in stream.groups if first <= group.last_delivered_id < end]


def time_lag(stream: StreamReading, group: GroupReading, now: datetime | None) -> TimeLag:
    """How long the next undelivered entry has waited, on the server's clock if that is known."""
    position, end, next_id = group.last_delivered_id, stream.end_id, group.next_id
    if stream.length == 0 or (end is not None and position >= end):
        return NOTHING_WAITS
    if next_id is None and stream.first_id is not None and position < stream.first_id:
        next_id = stream.first_id
    if next_id is None:
        return NOTHING_WAITS if group.next_read else TimeLag(None, "the next entry's ID could not be read")
    if now is None:
        return TimeLag(None, "the server's clock could not be read")
    age = id_age(next_id, now)
    return (
        TimeLag(age)
        if age is not None
        else TimeLag(None, f"unavailable: the ID {next_id} is not a timestamp")
    )
