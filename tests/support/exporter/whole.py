"""A reading in which there is something of every family."""

from datetime import timedelta

from msgspec.structs import replace

from streamops.exporter.shown import ExporterHealth
from streamops.model.observation import QueueCount, QueueMetrics
from streamops.model.pools import Lead, Pool, PoolDecision, ScaleCode, Signals, WorkerHeartbeat, WorkerState
from streamops.model.streams import ReadError, Snapshot, StreamRole
from tests.support.exporter.readings import reading
from tests.support.invented import (
    NOW,
    consumer,
    entry_id,
    exact,
    group,
    minutes,
    node,
    pending_entry,
    seconds,
    snapshot,
    stream,
)

SCALED = Pool(
    name="shop",
    lead=Lead(holder="web-1", until=NOW + seconds(15), term=2),
    stream="orders",
    group="billing",
    minimum=1,
    maximum=8,
    last=PoolDecision(
        at=NOW - seconds(2),
        code=ScaleCode.BACKLOG,
        text="300 waiting",
        ordered=2,
        ready=2,
        target=4,
        signals=Signals(
            arrivals=110.5,
            coming=121.0,
            rate=36.25,
            wait=4.1,
            predicted=8.3,
            objective=10.0,
            busy=0.98,
            start_up=3.2,
            cap=6,
        ),
    ),
    decisions={("up", "backlog"): 1, ("hold", "steady"): 700},
    errors=3,
)
"""A pool that grows."""
EXTRAS = QueueMetrics(
    queues=(QueueCount("{orders}:delayed", 3, 1, NOW - seconds(5)),),
    memory={"orders": 4096},
    workers=(
        WorkerHeartbeat(
            id="so-1",
            host="h",
            pid=1,
            app="shop:app",
            pool="shop",
            consumers=(),
            slots=8,
            busy=3,
            state=WorkerState.RUNNING,
        ),
    ),
    paused={"shop": False},
    max_lengths={"orders": 1000},
    pools=(SCALED,),
    pools_at=NOW,
)
HEALTH = ExporterHealth(
    phases={"collect": 0.02, "judge": 0.003, "render": 0.004},
    commands=12,
    errors={"collect": 1},
    omitted={("stream", "max_streams"): 4},
    discovered=6,
)


def _snapshot(at: timedelta, position: timedelta) -> Snapshot:
    worker = replace(consumer("worker-1", pending=2), oldest_delivered=minutes(3))
    billing = group(
        lag=exact(4),
        waiting=seconds(9),
        pending=2,
        position=entry_id(position),
        entries_read=96,
        oldest=pending_entry(minutes(5), idle=minutes(3), deliveries=2),
        oldest_age=minutes(5),
        members=[worker],
    )
    orders = stream(groups=[billing], max_deleted_id=entry_id(minutes(50)))
    letters = stream("orders:dlq", role=StreamRole.DEAD_LETTERS, source="orders")
    gaps = [ReadError("no permission for this key", "secrets", denied=True)]
    return snapshot(orders, letters, at=at, nodes=[node(max_memory=2**30)], gaps=gaps)


BEFORE, AFTER = _snapshot(seconds(0), minutes(1)), _snapshot(seconds(15), minutes(2))
WHOLE = reading(BEFORE, AFTER, extras=EXTRAS, health=HEALTH)
"""The group's position moved back between two snapshots, which is what cannot be counted."""
