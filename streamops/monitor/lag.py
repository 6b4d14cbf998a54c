"""How far behind a group is, and how much of that can be believed.

The server's lag is nil after deletions ahead of a group, missing before Redis 7.0, and on Redis before
7.4.4 too high for ever once trimming has overtaken the group. So it is settled in this order:

1. An empty stream, a group at or past the last entry, a group before the first entry: exact, whatever the
   server says.
2. Otherwise the truth is between 1 and length - 1. A reported lag in that range is believed where the
   server's version is sound, and is an upper bound elsewhere: every known error is an overestimate.
3. Where that leaves it open, a bounded count decides, forwards from the position, then backwards.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from enum import IntEnum

from msgspec import Struct

from streamops.model.ids import EntryId
from streamops.model.lag import Lag, LagBasis, TimeLag
from streamops.model.readings import GroupReading, StreamReading
from streamops.model.server import Flavour, ServerNode

EARLIEST_PLAUSIBLE = datetime(2015, 1, 1, tzinfo=UTC)
CLOCK_TOLERANCE = timedelta(minutes=1)
NO_TIME = timedelta(0)
AT_ONCE = TimeLag(NO_TIME)

SOUND_REDIS = (8, 0, 0)
SOUND_REDIS_7_4 = (7, 4, 4)
SOUND_VALKEY = (8, 1, 1)


class Faith(IntEnum):
    """What a lag that the server reports is worth."""

    SOUND = 0
    UPPER_BOUND = 1
    NONE = 2


class Tally(Struct, frozen=True):
    """What a bounded count of a group's entries found.

    Attributes:
        ahead: Entries counted after the position.
        ahead_complete: Whether the count reached the stream's end.
        behind: Entries counted at or before the position.
        behind_complete: Whether that count reached the stream's beginning.
        gone: Entries of the reading that the stream had lost by the time of counting; none where that is not known.
        now: What waited for the group at the very instant of counting; none where it was not counted.
    """

    ahead: int
    ahead_complete: bool
    behind: int = 0
    behind_complete: bool = False
    gone: int | None = 0
    now: int | None = None


def faith_in(node: ServerNode) -> Faith:
    """What this version's lag is worth, where it gives one within bounds.

    Source: redis #13338, #13473, #13958; valkey #1952; and 4,800 random histories a version.
    """
    if node.flavour is Flavour.VALKEY:
        sound = node.version >= SOUND_VALKEY
    else:
        sound = node.version >= SOUND_REDIS or (7, 5, 0) > node.version >= SOUND_REDIS_7_4
    return Faith.SOUND if sound else Faith.UPPER_BOUND


def settle_lag(stream: StreamReading, group: GroupReading, faith: Faith) -> Lag:
    """The lag as far as one reading of the stream and one of its groups tells it."""
    if stream.length == 0:
        return _exact(0, "the stream is empty")
    position, reported = group.last_delivered_id, group.reported_lag
    end = stream.end_id
    if end is not None and position >= end:
        return _exact(0, "the group has been given the last entry")
    if stream.first_id is not None and position < stream.first_id:
        return _exact(stream.length, "the group stands before the first entry, so all of it is still to come")
    head = group.head_id
    # One that came after the reading does not tell whether any waited at the reading.
    is_behind = stream.last_id is not None or (head is not None and (end is None or head <= end))
    lower, upper = int(is_behind), stream.length - 1 if stream.bounds_read else stream.length
    if faith is Faith.NONE:
        return Lag(None, lower, upper, LagBasis.UNKNOWN, "the server's count was caught wrong for this group")
    if reported and group.head_read and head is None:
        return Lag(None, lower, upper, LagBasis.UNKNOWN, "nothing was there any more when it was looked for")
    if reported is None or not lower <= reported <= upper:
        return Lag(None, lower, upper, LagBasis.UNKNOWN, _why_open(reported))
    if faith is Faith.SOUND:
        return Lag(reported, reported, reported, LagBasis.REPORTED, "the server's own count")
    return Lag(
        None,
        lower,
        reported,
        LagBasis.UPPER,
        "this server's count is too high once trimming overtook the group",
    )


def settle_tally(stream: StreamReading, group: GroupReading, lag: Lag, tally: Tally) -> Lag:
    """The lag once entries have been counted; ``lag`` is what ``settle_lag`` said of the same reading."""
    # Where none is left of those that waited, they were removed meanwhile, and others may wait now.
    waited = bool(lag.lower) or group.head_id is not None
    if tally.ahead_complete and tally.gone == 0 and (tally.ahead or not waited):
        return _exact(tally.ahead, "counted")
    if tally.ahead_complete and tally.now is not None:
        return _exact(tally.now, "counted a moment later, together with the position", later=True)
    if tally.behind_complete:
        return _exact(stream.length - tally.behind, "counted from the stream's beginning")
    lower = max(tally.ahead, lag.lower or 0)
    upper = max(lower, stream.length - tally.behind)
    if tally.ahead_complete and tally.gone:
        upper = max(lower, min(upper, tally.ahead + tally.gone))
    # A server whose counters somebody set may say less than what was counted: then it knows nothing.
    told = lag.upper if lag.upper is not None and lag.upper >= lower else None
    if told is not None:
        upper = min(upper, told)
    if lower == upper:
        return _exact(lower, "the bounds leave one count")
    if lag.basis is LagBasis.UPPER and told is not None:
        return Lag(None, lower, upper, LagBasis.UPPER, f"{lag.reason}; at least {lower:,} counted")
    if tally.ahead_complete:
        basis = LagBasis.LOWER if tally.ahead else LagBasis.UNKNOWN
        removed = "entries may have been removed" if tally.gone is None else "entries were removed"
        return Lag(None, lower, upper, basis, f"{removed} while it was counted")
    if (guess := _interpolated(stream, group.last_delivered_id)) is not None:
        entries = min(max(guess, lower), upper)
        return Lag(
            entries, lower, upper, LagBasis.ESTIMATED, f"{lag.reason}; estimated from the times in IDs"
        )
    return Lag(None, lower, upper, LagBasis.LOWER, f"{lag.reason}; counting stopped at its budget")


def needing_heads(stream: StreamReading) -> Sequence[GroupReading]:
    """The groups whose time lag takes the ID of the first entry after the position, because no bound tells it."""
    first, end = stream.first_id, stream.end_id
    if stream.length == 0 or not stream.bounds_read or first is None or end is None:
        return ()
    return [group for group in stream.groups if first <= group.last_delivered_id < end]


def time_lag(stream: StreamReading, group: GroupReading, now: datetime | None) -> TimeLag:
    """How long the first entry that the group has not been given has waited, on the server's clock if that is known."""
    position = group.last_delivered_id
    end = stream.end_id
    if stream.length == 0 or (end is not None and position >= end):
        return AT_ONCE
    head = group.head_id
    if head is None and stream.first_id is not None and position < stream.first_id:
        head = stream.first_id
    if head is None:
        return AT_ONCE if group.head_read else TimeLag(None, "the next entry's ID could not be read")
    if now is None:
        return TimeLag(None, "the server's clock could not be read")
    age = id_age(head, now)
    return (
        TimeLag(age) if age is not None else TimeLag(None, f"unavailable: the ID {head} does not tell a time")
    )


def id_age(entry_id: EntryId, now: datetime | None) -> timedelta | None:
    """Age of an entry by its ID; none where the ID is no plausible time, or the clock unknown. Never negative."""
    made = entry_id.time
    if now is None or made is None or made < EARLIEST_PLAUSIBLE:
        return None
    age = now - made
    if age >= NO_TIME:
        return age
    return NO_TIME if age >= -CLOCK_TOLERANCE else None


def _exact(entries: int, reason: str, *, later: bool = False) -> Lag:
    return Lag(entries, entries, entries, LagBasis.EXACT, reason, later)


def _why_open(reported: int | None) -> str:
    if reported is None:
        return "the server gives no lag"
    return f"the server's lag of {reported:,} cannot be"


def _interpolated(stream: StreamReading, position: EntryId) -> int | None:
    """The share of entries after the position if they came evenly over time."""
    first, last = stream.first_id, stream.end_id
    if (
        first is None
        or last is None
        or last.ms <= first.ms
        or first.time is None
        or first.time < EARLIEST_PLAUSIBLE
    ):
        return None
    return round(stream.length * (last.ms - position.ms) / (last.ms - first.ms))
