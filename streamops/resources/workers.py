"""Worker processes: rows, columns and JSON."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from streamops.model.entries import EPOCH
from streamops.model.json_text import Json, text_json
from streamops.model.observation import GroupView, Health
from streamops.model.pools import Pool, WorkerHeartbeat, WorkerState
from streamops.model.wording import counted, first_few
from streamops.resources.groups import GroupRow
from streamops.resources.kinds import NAME_WIDTH, NOT_THERE, NUMBER, Columns, of_rows, seconds
from streamops.resources.table import Align, Cell, Column, Resource, Tone
from streamops.resources.units import lag_text, percent, rfc3339


class WorkerRow(Struct, frozen=True):
    """One worker.

    Attributes:
        heart: Its last heartbeat.
        now: The server's clock when that was read; None if it may not be asked.
        pool: Its pool, if it was read.
    """

    heart: WorkerHeartbeat
    now: datetime | None
    pool: Pool | None = None

    @property
    def beat_at(self) -> datetime:
        """When its last heartbeat was written, by the server's clock."""
        return EPOCH + timedelta(milliseconds=self.heart.beat_ms)

    @property
    def age(self) -> timedelta | None:
        """Time since it beat last; None if that is not known."""
        return None if self.now is None else max(self.now - self.beat_at, timedelta())

    @property
    def busy_share(self) -> float | None:
        """How much of what it can do at once it does; None if it can do nothing."""
        return self.heart.busy / self.heart.slots if self.heart.slots else None


def unreadable_words(names: Sequence[str]) -> str:
    """Heartbeats that are there and say nothing that this version knows."""
    number = counted(len(names), "heartbeat", "heartbeats")
    return f"{number} cannot be read, damaged or of another version: {first_few(names)}"


def worker_json(row: WorkerRow) -> Json:
    """One worker."""
    heart, share = row.heart, row.busy_share
    return {
        "worker": text_json(heart.id),
        "pool": text_json(heart.pool),
        "app": text_json(heart.app) if heart.app else None,
        "host": text_json(heart.host),
        "pid": heart.pid,
        "state": heart.state.value,
        "slots": heart.slots,
        "busy": heart.busy,
        "busy_share": None if share is None else round(share, 4),
        "consumers": [
            {"stream": text_json(stream), "group": text_json(group), "consumer": text_json(consumer)}
            for stream, group, consumer in heart.consumers
        ],
        "beat_at": rfc3339(row.beat_at),
        "age_seconds": seconds(row.age),
    }


STATES: Final = {
    WorkerState.STARTING: Cell("? starting", Tone.UNKNOWN),
    WorkerState.RUNNING: Cell("✓ running", Tone.OK),
    WorkerState.PAUSED: Cell("▲ paused", Tone.WARN),
    WorkerState.DRAINING: Cell("▲ draining", Tone.DIM),
    WorkerState.STALLED: Cell("✗ stalled", Tone.CRITICAL),
    WorkerState.OTHER: Cell("? other", Tone.UNKNOWN),
}


def _busy(row: WorkerRow) -> Cell:
    share = row.busy_share
    return NOT_THERE if share is None else Cell(f"{row.heart.busy}/{row.heart.slots} {percent(share)}")


WORKER = of_rows(WorkerRow, "the worker's heartbeat, streamops:worker:ID")


WORKER_COLUMNS: Final[tuple[Column[WorkerRow], ...]] = (
    WORKER.text("worker", "WORKER", NAME_WIDTH, lambda row: row.heart.id, flexible=True, priority=0).means(
        "Its ID, which is its consumers' name unless they were given one."
    ),
    WORKER.column(
        "state",
        "STATE",
        10,
        lambda row: row.heart.state.value,
        lambda row: STATES[row.heart.state],
        priority=0,
    ).means("Its state: starting, running, paused, draining; stalled if a handler blocks its event loop."),
    WORKER.text("pool", "POOL", 10, lambda row: row.heart.pool, flexible=True, priority=0).means(
        "The pool that it belongs to."
    ),
    WORKER.column(
        "busy_share",
        "BUSY",
        12,
        lambda row: row.busy_share,
        _busy,
        align=Align.RIGHT,
        descending=True,
        priority=1,
    ).means("Entries in flight, of its slots."),
    WORKER.age("age_seconds", "SEEN", 7, lambda row: row.age, priority=1).means(
        "Time since its last heartbeat, by the server's clock. After three missed heartbeats it counts as dead.",
        "TIME, less the moment in its heartbeat",
    ),
    WORKER.text("app", "APP", 16, lambda row: row.heart.app or None, flexible=True, priority=2).means(
        "The application that it runs, if known."
    ),
    WORKER.text("host", "HOST", 14, lambda row: row.heart.host, flexible=True, priority=3).means("Its host."),
    WORKER.column(
        "pid",
        "PID",
        7,
        lambda row: row.heart.pid,
        lambda row: Cell(str(row.heart.pid)),
        align=Align.RIGHT,
        priority=3,
    ).means("Its process ID."),
)


WORKER_DETAIL_COLUMNS: Final[tuple[Column[WorkerRow], ...]] = (
    WORKER.count("slots", "SLOTS", 6, lambda row: row.heart.slots, descending=False).means(
        "Entries that it can process at once."
    ),
    WORKER.count("busy", "IN FLIGHT", 9, lambda row: row.heart.busy, descending=False).means(
        "Entries in flight."
    ),
    WORKER.moment("beat_at", "BEAT", 20, lambda row: row.beat_at).means(
        "When its last heartbeat was written, by the server's clock."
    ),
)


def reads_words(row: WorkerRow) -> str:
    """What a worker reads, in a few words."""
    pairs = [f"{stream} ▸ {group}" for stream, group, _ in row.heart.consumers]
    return pairs[0] + (f" +{len(pairs) - 1}" if len(pairs) > 1 else "") if pairs else "nothing"


READS: Final = WORKER.text("reads", "READS", 16, reads_words, flexible=True, priority=2).means(
    "The streams and groups that it reads."
)


def _words(row: WorkerRow) -> str:
    heart = row.heart
    reads = (part for consumer in heart.consumers for part in consumer[:2])
    return " ".join([heart.id, heart.pool, heart.state, heart.app, heart.host, *reads])


WORKERS: Final = Resource[WorkerRow](
    key=lambda row: row.heart.id,
    columns=(*WORKER_COLUMNS[:5], READS, *WORKER_COLUMNS[5:]),
    more=WORKER_DETAIL_COLUMNS,
    text=_words,
    fault=lambda row: row.heart.state is not WorkerState.RUNNING,
)


class WorkerGroupRow(Struct, frozen=True):
    """One group that a worker reads, as it is observed.

    Attributes:
        stream: The stream.
        group: The group.
        consumer: The worker's consumer there.
        seen: The group; None if it is not observed.
    """

    stream: str
    group: str
    consumer: str
    seen: GroupRow | None

    @property
    def view(self) -> GroupView | None:
        """The group; None if it is not observed."""
        return None if self.seen is None else self.seen.group

    @property
    def pending(self) -> int | None:
        """How many entries the consumer holds; None if that is not known."""
        members = None if self.view is None else self.view.group.members
        return next((one.pending for one in members or () if one.name == self.consumer), None)


READ = of_rows(WorkerGroupRow)
OBSERVED = Columns[WorkerGroupRow, GroupView](lambda row: row.view)


WORKER_GROUPS: Final = Resource[WorkerGroupRow](
    key=lambda row: (row.stream, row.group),
    columns=(
        OBSERVED.health("health", "HEALTH", 9, lambda view: view.health, priority=0).means(
            "The group's health."
        ),
        READ.text("stream", "STREAM", NAME_WIDTH, lambda row: row.stream, flexible=True, priority=0).means(
            "The stream that it reads."
        ),
        READ.text("group", "GROUP", 16, lambda row: row.group, flexible=True, priority=0).means(
            "The group that it reads for."
        ),
        READ.count("pending", "PENDING", 8, lambda row: row.pending, absent=True).means(
            "Pending entries of this worker; a dash if its consumer was not observed."
        ),
        OBSERVED.column(
            "lag",
            "LAG",
            9,
            lambda view: view.group.lag.entries,
            lambda view: lag_text(view.group.lag),
            **NUMBER,
        ).means("Entries not yet delivered to the group; a dash if it was not observed."),
        READ.text(
            "consumer", "CONSUMER", NAME_WIDTH, lambda row: row.consumer, flexible=True, priority=2
        ).means("Its consumer's name."),
    ),
    fault=lambda row: row.view is not None and row.view.health >= Health.WARN,
    name=lambda row: row.consumer,
)
