"""What the rules judge a group by, and what several of them make of it."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from streamops.model.entries import PendingEntry
from streamops.model.observation import Rates
from streamops.model.streams import MILLISECOND, Consumer, ConsumerGroup, Members, StreamState
from streamops.monitor.history import GroupHistory
from streamops.monitor.pending_scan import gone_below
from streamops.monitor.thresholds import Thresholds

NO_TIME = timedelta(0)


class GroupEvidence(Struct, frozen=True, gc=False):
    """What a group is judged by.

    Attributes:
        stream: Its stream.
        group: The group.
        history: Its history, up to and including this reading.
        trimmed_at: The last reading at which trimming had provably shortened the stream; None if it
            never did.
        rates: Its movement.
        now: The server's clock.
        members: Its consumers; None if they were not read, or where their idle times tell nothing
            because the server is a replica.
        sees_asking: Whether a consumer's ``idle`` starts again whenever it asks for entries (Redis 7.2
            and later, Valkey), and not only when it gets some.
    """

    stream: StreamState
    group: ConsumerGroup
    history: GroupHistory
    trimmed_at: datetime | None
    rates: Rates
    now: datetime
    members: Sequence[Consumer] | None
    sees_asking: bool

    @property
    def has_waiting(self) -> bool:
        """Whether an entry is known to wait for delivery."""
        return self.group.lag.waits


class GroupTriage:
    """One cheap test of a group by all rules: most groups are healthy, and need no other.

    Args:
        thresholds: When the rules speak.
        now: The server's clock.
    """

    def __init__(self, thresholds: Thresholds, now: datetime) -> None:
        self._thresholds = thresholds
        self._now = now
        self._unseen = thresholds.consumer_unseen / MILLISECOND
        self._late = min(thresholds.stopped_after, thresholds.time_lag)

    def is_quiet(
        self,
        stream: StreamState,
        group: ConsumerGroup,
        history: GroupHistory,
        trimmed_at: datetime | None,
        members: Sequence[Consumer] | None,
    ) -> bool:
        """Whether no rule can hold; the arguments are the fields of ``GroupEvidence``.

        Nothing ever happened to its position or to entries before it, what waits is little and young, and what is
        pending is young, acknowledged now and then, and held by consumers that are seen.
        """
        thresholds = self._thresholds
        if history.lost_before or not (trimmed_at is history.lost_at is history.rewound_at is None):
            return False
        if history.waiting_since is not None or group.lag.waits:
            age = group.time_lag.age
            if age is None or age >= self._late or not group.consumers:
                return False
            if (history.lag or 0) >= thresholds.lag_growing_entries:
                return False
        if not group.pending:
            return True
        if self._now - history.unacked_since >= thresholds.stalled_after:
            return False
        if members is not None and not (isinstance(members, Members) and members.idle_within(self._unseen)):
            return False
        oldest = group.oldest_pending
        return oldest is None or self._is_young(oldest, stream, group)

    def _is_young(self, oldest: PendingEntry, stream: StreamState, group: ConsumerGroup) -> bool:
        """Whether the pending entries, as far as they are known, are neither old, nor delivered often, nor gone."""
        thresholds, profile = self._thresholds, group.profile
        limit, age, first = thresholds.pending_age, group.oldest_pending_age, stream.first_id
        if (
            first is None
            or oldest.id < first
            or oldest.delivery_count >= thresholds.poison_deliveries
            or oldest.idle >= limit
            or (age is not None and age >= limit)
        ):
            return False
        if profile is None:
            return True
        most, longest = profile.most_delivered, profile.longest_idle
        return (
            not profile.deleted
            and (most is None or most.delivery_count < thresholds.poison_deliveries)
            and (longest is None or longest.idle < limit)
        )


def waited(evidence: GroupEvidence) -> timedelta | None:
    """How long, at the least, entries have waited for the group; None if none is known to wait.

    One reading can tell, by the time in the ID of the first entry that waits. Yet an entry may carry an
    old ID, and a position moved back makes old entries wait again: so never longer than since a reading
    that showed nothing waiting.
    """
    history = evidence.history
    if history.waiting_since is None:
        return None
    age = evidence.group.time_lag.age
    if age is None:
        return evidence.now - history.waiting_since
    return age if history.clear_at is None else min(age, evidence.now - history.clear_at)


def undelivered_for(evidence: GroupEvidence) -> timedelta:
    """How long, at the least, the group has been given nothing.

    By the position, since watching began; by the consumers, since the last of them got an entry.
    """
    watched = evidence.now - evidence.history.position_since
    fed = _fed_ago(evidence.members or ())
    return watched if fed is None else max(watched, fed)


def holders_seen_ago(members: Sequence[Consumer]) -> timedelta | None:
    """Time since one of the consumers that hold pending entries was last seen; None if no consumer holds any."""
    if isinstance(members, Members):
        return members.holders_seen_ago
    return min([member.idle for member in members if member.pending], default=None)


def _fed_ago(members: Sequence[Consumer]) -> timedelta | None:
    """The least time for which no consumer was given an entry; None if there is no consumer."""
    if isinstance(members, Members):
        return members.fed_ago
    return min([one.idle if one.inactive is None else one.inactive for one in members], default=None)


def suspects(evidence: GroupEvidence, thresholds: Thresholds) -> tuple[Consumer, ...]:
    """The consumers that hold pending entries and have not been seen for too long.

    Where ``idle`` tells when a consumer last asked, that decides. If it tells when a consumer last got
    an entry, a consumer with nothing to get looks the same dead or alive. There it is suspected if
    entries waited all that time; else only once what it holds is too old, which it is then for certain,
    since it has got nothing younger.

    Of our own workers their heartbeats tell it for certain, either way.
    """
    members, limit = evidence.members, thresholds.consumer_unseen
    if members is None or not evidence.group.pending:
        return ()
    if isinstance(members, Members) and members.idle_within(limit / MILLISECOND):
        # There may be none of them at all.
        return ()
    found = _unseen(members, limit)
    if found and not evidence.sees_asking and (waited(evidence) or NO_TIME) < limit:
        found = _unseen(found, max(limit, thresholds.pending_age))
    return tuple(found)


def _unseen(members: Sequence[Consumer], limit: timedelta) -> list[Consumer]:
    """Those with pending entries that have not been seen for so long, or that their heartbeats tell to be dead."""
    return [
        member
        for member in members
        if member.pending and (member.idle >= limit if member.alive is None else not member.alive)
    ]


def poison_entry(evidence: GroupEvidence, thresholds: Thresholds) -> PendingEntry | None:
    """The pending entry delivered most often, if that is too often; not one that is gone from the stream."""
    oldest = evidence.group.oldest_pending
    if oldest is None or not evidence.group.pending:
        return None
    profile = evidence.group.profile
    most = _still_pending(profile.most_delivered if profile else None, oldest)
    worst = oldest if most is None or most.delivery_count <= oldest.delivery_count else most
    if worst.delivery_count < thresholds.poison_deliveries:
        return None
    below = gone_below(evidence.stream)
    return None if below is not None and worst.id < below else worst


def old_entries(
    evidence: GroupEvidence, thresholds: Thresholds
) -> tuple[tuple[PendingEntry, timedelta], ...]:
    """Pending entries that consumers have had for too long, and for how long at the least.

    For an entry that was delivered once, that is its idle time. One delivered again and again is never idle for long:
    there it is its age, less the group's present wait for delivery. Entries that are gone from the stream are left out.
    """
    group = evidence.group
    oldest = group.oldest_pending
    if oldest is None or not group.pending:
        return ()
    held, age, wait = NO_TIME if oldest.free else oldest.idle, group.oldest_pending_age, group.time_lag.age
    redelivered = oldest.free or oldest.delivery_count > 1
    if redelivered and age is not None and wait is not None and age - wait > held:
        held = age - wait
    rows = [(oldest, held)] if held >= thresholds.pending_age else []
    if group.profile is not None:
        longest = _still_pending(group.profile.longest_idle, oldest)
        if longest is not None and longest.idle >= thresholds.pending_age:
            rows.append((longest, longest.idle))
    if not rows:
        return ()
    below = gone_below(evidence.stream)
    return tuple(row for row in rows if below is None or row[0].id >= below)


def _still_pending(row: PendingEntry | None, oldest: PendingEntry) -> PendingEntry | None:
    """A row of an earlier scan, unless it must have been acknowledged meanwhile."""
    return row if row is not None and row.id > oldest.id else None
