"""Worker processes: what ``workers ls`` tells."""

from typing import Final

from streamops.model.pools import WorkerState
from streamops.resources.cells import NAME_WIDTH, NOT_THERE
from streamops.resources.columns.kinds import of_rows
from streamops.resources.table import Align, Cell, Column, Tone
from streamops.resources.units import percent, rfc3339
from streamops.resources.workers import WorkerRow

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
    ).means(
        "What it is doing: starting, running, paused, draining; stalled where a handler blocks its event loop."
    ),
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
    ).means("How many entries it handles now, of how many it can handle at once."),
    WORKER.age("age_seconds", "SEEN", 7, lambda row: row.age, priority=1).means(
        "Time since its last heartbeat, by the server's clock. After three missed heartbeats it counts as dead.",
        "TIME, less the moment in its heartbeat",
    ),
    WORKER.text("app", "APP", 16, lambda row: row.heart.app or None, flexible=True, priority=2).means(
        "The application that it runs, where that is known."
    ),
    WORKER.text("host", "HOST", 14, lambda row: row.heart.host, flexible=True, priority=3).means(
        "The machine that it runs on."
    ),
    WORKER.column(
        "pid",
        "PID",
        7,
        lambda row: row.heart.pid,
        lambda row: Cell(str(row.heart.pid)),
        align=Align.RIGHT,
        priority=3,
    ).means("Its process there."),
)
WORKER_DETAIL_COLUMNS: Final[tuple[Column[WorkerRow], ...]] = (
    WORKER.count("slots", "SLOTS", 6, lambda row: row.heart.slots, descending=False).means(
        "How many entries it can handle at once."
    ),
    WORKER.count("busy", "HANDLING", 8, lambda row: row.heart.busy, descending=False).means(
        "How many entries it handles now."
    ),
    WORKER.text("beat_at", "BEAT", 24, lambda row: rfc3339(row.beat_at)).means(
        "When its last heartbeat was written, by the server's clock."
    ),
)
