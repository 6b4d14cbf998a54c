"""An observation: a snapshot, what history adds to it, one assessment of it, and what else is known of the server."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum

from msgspec import Struct

from streamops.model.entries import EntryId
from streamops.model.lag import Lag
from streamops.model.pools import Pool, WorkerHeartbeat
from streamops.model.streams import ConsumerGroup, Snapshot, StreamState


class QueueCount(Struct, frozen=True, gc=False):
    """A queue of delayed messages, counted.

    Attributes:
        queue: Its key.
        messages: How many there are.
        due: How many of them are due; None if the server's clock may not be read.
        next_due_at: When the first of them is due; None if there is none.
        bodies: How many bodies there are.
        foreign: How many members another program wrote, at the least.
    """

    queue: str
    messages: int
    due: int | None
    next_due_at: datetime | None
    bodies: int = 0
    foreign: int = 0


class QueueMetrics(Struct, frozen=True):
    """What is read beside the snapshot, each at its own pace.

    Attributes:
        queues: Queues of delayed messages that hold anything, or did when they were last looked for.
        memory: Bytes that streams take, by name, as far as they were measured.
        workers: Worker processes with a heartbeat.
        paused: Whether a pool was asked to pause, by pool; pools that were never told anything are missing.
        max_lengths: How many entries the retention policies keep, by stream.
        unread: Which of these cannot be read at present: ``delayed``, ``memory``, ``workers``, ``pools``.
        pools: Pools that have a controller or supervisors.
        pools_at: The server's clock when they were read; None if they were not, or it may not be asked.
    """

    queues: tuple[QueueCount, ...] = ()
    memory: Mapping[str, int] = {}
    workers: tuple[WorkerHeartbeat, ...] = ()
    paused: Mapping[str, bool] = {}
    max_lengths: Mapping[str, int] = {}
    unread: tuple[str, ...] = ()
    pools: tuple[Pool, ...] = ()
    pools_at: datetime | None = None


NO_QUEUE_METRICS = QueueMetrics()


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
        advice: The fix.
        receiver: The consumer to which the advice hands entries over; none if it names none.
        entry: The entry that it is about; None if it is not about one.
        consumer: The consumer that it is about; None if it is not about one.
        stream: The stream that it is about where there may be none of that name yet: a delayed queue's; else none.
    """

    code: FindingCode
    level: Health
    text: str
    advice: str
    receiver: str | None = None
    entry: EntryId | None = None
    consumer: str | None = None
    stream: str | None = None


class Rates(Struct, frozen=True, gc=False):
    """Movement over the recent past; each is None if it is not known (yet).

    Attributes:
        added_per_second: Entries added to the stream.
        delivered_per_second: Entries given to the group for the first time.
        acked_per_second: Entries the group was done with.
        lag_per_second: Slope of the lag; positive while it grows.
        window: The span the numbers describe; zero if there is none yet.
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


class StreamCounts(Struct, frozen=True, gc=False):
    """What was counted of a stream since it was first seen; neither ever falls.

    Attributes:
        added: Entries added: the server's count when it was first seen, and all that came since; of a stream that is not
            what it was, what must have come.
        removed: Entries trimmed or deleted.
    """

    added: int = 0
    removed: int = 0


class Uncounted(Struct, frozen=True, gc=False):
    """Readings at which it was not known how far the counters of a group moved.

    Attributes:
        delivered: Deliveries were not known.
        acked: Acknowledgements were not known.
        lost: Losses were not known.
    """

    delivered: int = 0
    acked: int = 0
    lost: int = 0


ALL_COUNTED = Uncounted()


class GroupCounts(Struct, frozen=True, gc=False):
    """What was counted of a group since it was first seen; none ever falls.

    Attributes:
        delivered: Entries delivered to it.
        acked: Entries that it was done with.
        lost: Entries trimmed away before they were delivered.
        rewinds: How often its position moved back.
        uncounted: Readings of which nothing was known.
    """

    delivered: int = 0
    acked: int = 0
    lost: int = 0
    rewinds: int = 0
    uncounted: Uncounted = ALL_COUNTED


NOTHING_ADDED = StreamCounts()
NOTHING_COUNTED = GroupCounts()


class GroupView(Struct, frozen=True, gc=False):
    """A group, its movement, and what was found about it.

    Attributes:
        stream: The stream's name.
        group: The group as read.
        rates: Its movement.
        trend: The last lags, oldest first; None if it was not known.
        lost: Entries trimmed before delivery; None if that is not known for certain.
        findings: What the rules found, worst first.
        health: The worst of them, or ``OK``, or ``UNKNOWN``.
        retries: Its retry stream, if that is told with it and not as a stream of its own.
        lost_at_most: The most that ``lost`` can be, before watching began and since; none without a bound.
        counts: Its counters.
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
    counts: GroupCounts = NOTHING_COUNTED


class StreamView(Struct, frozen=True, gc=False):
    """A stream, its movement, and what was found about it (findings about its groups stand there).

    Attributes:
        stream: The stream as read.
        added_per_second: Entries added; None if not known.
        findings: What the rules found about the stream itself.
        groups: Its groups.
        health: The worst of its findings and its groups' healths.
        counts: Its counters.
    """

    stream: StreamState
    added_per_second: float | None
    findings: tuple[Finding, ...]
    groups: tuple[GroupView, ...]
    health: Health
    counts: StreamCounts = NOTHING_ADDED


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
