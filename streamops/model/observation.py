"""An observation: a snapshot, what history adds to it, and one assessment of it."""

from datetime import datetime, timedelta
from enum import IntEnum, StrEnum

from msgspec import Struct

from streamops.model.ids import EntryId
from streamops.model.lag import Lag
from streamops.model.snapshot import Snapshot
from streamops.model.streams import ConsumerGroup, StreamState


class Health(IntEnum):
    """How a group, a stream or the whole is, ordered so that the worst is the greatest."""

    OK = 0
    UNKNOWN = 1
    WARN = 2
    CRITICAL = 3

    @property
    def word(self) -> str:
        """The word that JSON and screens use."""
        return self.name.lower()


class FindingCode(StrEnum):
    """What a finding is about; also the values of ``group_status`` and the alerts' subjects."""

    STOPPED = "stopped"
    STALLED = "stalled"
    REWOUND = "rewound"
    LAG_GROWING = "lag_growing"
    BEHIND = "behind"
    DEAD_CONSUMER = "dead_consumer"
    POISON = "poison"
    PENDING_OLD = "pending_old"
    DANGLING_PENDING = "dangling_pending"
    DEAD_LETTERS = "dead_letters"
    NO_CONSUMERS = "no_consumers"
    LOST = "lost"
    RETENTION_EDGE = "retention_edge"
    EVICTION_RISK = "eviction_risk"
    OOM = "oom"
    DELAYED_OVERDUE = "delayed_overdue"
    DELAYED_FOREIGN = "delayed_foreign"
    STREAMS_GONE = "streams_gone"


class Finding(Struct, frozen=True, gc=False):
    """One thing that a health rule found.

    Attributes:
        code: What it is.
        level: ``WARN`` or ``CRITICAL``.
        text: One sentence with the numbers.
        advice: What to do about it.
        receiver: The consumer to which the advice hands entries over; none if it names none.
        entry: The entry that it is about; none where it is not about one.
    """

    code: FindingCode
    level: Health
    text: str
    advice: str
    receiver: str | None = None
    entry: EntryId | None = None


class Rates(Struct, frozen=True, gc=False):
    """Movement over the recent past; each is none where it is not known (yet).

    Attributes:
        added_per_second: Entries added to the stream.
        delivered_per_second: Entries given to the group for the first time.
        acked_per_second: Entries the group was done with.
        lag_per_second: Slope of the lag; positive while it grows.
        window: The span the numbers describe; zero where there is none yet.
    """

    added_per_second: float | None = None
    delivered_per_second: float | None = None
    acked_per_second: float | None = None
    lag_per_second: float | None = None
    window: timedelta = timedelta(0)


class Retries(Struct, frozen=True, gc=False):
    """The retry stream of a group: entries due again for that group alone.

    Attributes:
        stream: Its key.
        length: Entries in it: what is done is deleted.
        pending: Of these, delivered and not acknowledged.
        lag: Of these, still to be delivered.
    """

    stream: str
    length: int
    pending: int
    lag: Lag


class GroupView(Struct, frozen=True, gc=False):
    """A group, its movement, and what was found about it.

    Attributes:
        stream: The stream's name.
        group: The group as read.
        rates: Its movement.
        trend: The last lags, oldest first; none where it was not known.
        lost: Entries trimmed away before delivery; none where that is not known for certain.
        findings: What the rules found, worst first.
        health: The worst of them, or ``OK``, or ``UNKNOWN``.
        retries: Its retry stream, where that is told with it and not as a stream of its own.
        lost_at_most: The most that ``lost`` can be, before watching began and since; none without a bound.
    """

    stream: str
    group: ConsumerGroup
    rates: Rates
    trend: tuple[int | None, ...]
    lost: int | None
    findings: tuple[Finding, ...]
    health: Health
    retries: Retries | None = None
    lost_at_most: int | None = None


class StreamView(Struct, frozen=True, gc=False):
    """A stream, its movement, and what was found about it (findings about its groups stand there).

    Attributes:
        stream: The stream as read.
        added_per_second: Entries added; none where not known.
        findings: What the rules found about the stream itself.
        groups: Its groups.
        health: The worst of its findings and its groups' healths.
    """

    stream: StreamState
    added_per_second: float | None
    findings: tuple[Finding, ...]
    groups: tuple[GroupView, ...]
    health: Health


class Observation(Struct, frozen=True, gc=False):
    """What every face shows.

    Attributes:
        snapshot: What was read.
        observed_since: Server time of the first snapshot in the history.
        streams: The streams, in the snapshot's order.
        findings: What the rules found about the server.
        health: The worst of all.
    """

    snapshot: Snapshot
    observed_since: datetime
    streams: tuple[StreamView, ...]
    findings: tuple[Finding, ...]
    health: Health
