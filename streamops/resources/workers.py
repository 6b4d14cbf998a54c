"""Worker processes as rows and as documents."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from streamops.model.entries import EPOCH
from streamops.model.json_text import Json, text_json
from streamops.model.pools import WorkerHeartbeat
from streamops.model.wording import counted, first_few
from streamops.resources.cells import seconds
from streamops.resources.units import rfc3339


class WorkerRow(Struct, frozen=True):
    """One worker, and the server's clock when its heartbeat was read; none where that may not be asked."""

    heart: WorkerHeartbeat
    now: datetime | None

    @property
    def beat_at(self) -> datetime:
        """When its last heartbeat was written, by the server's clock."""
        return EPOCH + timedelta(milliseconds=self.heart.beat_ms)

    @property
    def age(self) -> timedelta | None:
        """Time since it beat last; none where that cannot be told."""
        return None if self.now is None else max(self.now - self.beat_at, timedelta())

    @property
    def busy_share(self) -> float | None:
        """How much of what it can do at once it does; none where it can do nothing."""
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
