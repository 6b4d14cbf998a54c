"""Worker processes: what ``workers ls`` tells."""

from typing import Final

from streamops.model.pools import WorkerState
from streamops.present.cells import NAME_WIDTH, NOT_THERE, duration_cell, name_cell, seconds
from streamops.present.table import Align, Cell, Column, Tone
from streamops.present.units import percent, rfc3339
from streamops.present.workers import WorkerRow

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


WORKER_COLUMNS: Final[tuple[Column[WorkerRow], ...]] = (
    Column(
        key="worker",
        title="WORKER",
        help="Its ID, which is its consumers' name unless they were given one.",
        source="the worker's heartbeat, streamops:worker:ID",
        cell=lambda row: name_cell(row.heart.id),
        value=lambda row: row.heart.id,
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="state",
        title="STATE",
        help="What it is doing: starting, running, paused, draining; stalled where a handler blocks its event loop.",
        source="the worker's heartbeat, streamops:worker:ID",
        cell=lambda row: STATES[row.heart.state],
        value=lambda row: row.heart.state.value,
        width=10,
        priority=0,
    ),
    Column(
        key="pool",
        title="POOL",
        help="The pool that it belongs to.",
        source="the worker's heartbeat, streamops:worker:ID",
        cell=lambda row: name_cell(row.heart.pool),
        value=lambda row: row.heart.pool,
        width=10,
        flexible=True,
        priority=0,
    ),
    Column(
        key="busy_share",
        title="BUSY",
        help="How many entries it handles now, of how many it can handle at once.",
        source="the worker's heartbeat, streamops:worker:ID",
        cell=_busy,
        value=lambda row: row.busy_share,
        width=12,
        align=Align.RIGHT,
        priority=1,
        descending=True,
    ),
    Column(
        key="age_seconds",
        title="SEEN",
        help="Time since its last heartbeat, by the server's clock. After three missed heartbeats it counts as dead.",
        source="TIME, less the moment in its heartbeat",
        cell=lambda row: duration_cell(row.age),
        value=lambda row: seconds(row.age),
        width=7,
        align=Align.RIGHT,
        priority=1,
        descending=True,
    ),
    Column(
        key="app",
        title="APP",
        help="The application that it runs, where that is known.",
        source="the worker's heartbeat, streamops:worker:ID",
        cell=lambda row: name_cell(row.heart.app) if row.heart.app else NOT_THERE,
        value=lambda row: row.heart.app or None,
        width=16,
        flexible=True,
        priority=2,
    ),
    Column(
        key="host",
        title="HOST",
        help="The machine that it runs on.",
        source="the worker's heartbeat, streamops:worker:ID",
        cell=lambda row: name_cell(row.heart.host),
        value=lambda row: row.heart.host,
        width=14,
        flexible=True,
        priority=3,
    ),
    Column(
        key="pid",
        title="PID",
        help="Its process there.",
        source="the worker's heartbeat, streamops:worker:ID",
        cell=lambda row: Cell(str(row.heart.pid)),
        value=lambda row: row.heart.pid,
        width=7,
        align=Align.RIGHT,
        priority=3,
    ),
)
WORKER_DETAIL_COLUMNS: Final[tuple[Column[WorkerRow], ...]] = (
    Column(
        key="slots",
        title="SLOTS",
        help="How many entries it can handle at once.",
        source="the worker's heartbeat, streamops:worker:ID",
        cell=lambda row: Cell(str(row.heart.slots)),
        value=lambda row: row.heart.slots,
        width=6,
        align=Align.RIGHT,
    ),
    Column(
        key="busy",
        title="HANDLING",
        help="How many entries it handles now.",
        source="the worker's heartbeat, streamops:worker:ID",
        cell=lambda row: Cell(str(row.heart.busy)),
        value=lambda row: row.heart.busy,
        width=8,
        align=Align.RIGHT,
    ),
    Column(
        key="beat_at",
        title="BEAT",
        help="When its last heartbeat was written, by the server's clock.",
        source="the worker's heartbeat, streamops:worker:ID",
        cell=lambda row: Cell(rfc3339(row.beat_at)),
        value=lambda row: rfc3339(row.beat_at),
        width=24,
    ),
)
