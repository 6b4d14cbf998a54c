"""What is known of a server beside the snapshot: delayed messages, memory, worker processes, pools."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct

from streamops.model.pools import Pool
from streamops.model.workers import WorkerHeartbeat


class QueueCount(Struct, frozen=True, gc=False):
    """A queue of delayed messages, counted.

    Attributes:
        queue: Its key.
        messages: How many there are.
        due: How many of them are due; none where the server's clock may not be read.
        next_due_at: When the first of them is due; none where there is none.
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
        paused: Whether a pool was told to pause, by pool; pools that were never told anything are missing.
        max_lengths: How many entries the retention policies keep, by stream.
        unread: Which of these cannot be read at present: ``delayed``, ``memory``, ``workers``, ``pools``.
        pools: Pools that have a controller or supervisors.
        pools_at: The server's clock when they were read; none where they were not, or it may not be asked.
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
