"""What the console needs from below of what stands beside streams, as protocols."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from streamops.model.dead_letters import DeadLetter, QueueSummary
from streamops.model.delayed import DelayedMessage
from streamops.model.ids import EntryId
from streamops.model.pools import Pool, PoolDecision
from streamops.model.selections import LetterSelection
from streamops.monitor.dead_letters import DeadLetterQueues, LetterPage
from streamops.monitor.delayed import DelayedPage
from streamops.monitor.entry_trace import EntryTrace
from streamops.monitor.workers import Crowd
from streamops.settings.topic_rows import TopicSource

__all__ = ["DelayedSource", "LetterSource", "PoolSource", "TopicSource", "TraceSource", "WorkerSource"]


class LetterSource(Protocol):
    """Reads dead letters; every method raises ``StreamopsError`` where that cannot be."""

    async def queues(self, streams: Iterable[str]) -> DeadLetterQueues:
        """Those of the streams, and of the configuration, that are dead-letter queues."""

    async def queue(self, name: str) -> QueueSummary:
        """One queue as a whole."""

    async def page(self, selection: LetterSelection, limit: int) -> LetterPage:
        """The first letters that a selection means."""

    async def newest(self, queue: str, *, before: EntryId | None = None, count: int = 100) -> LetterPage:
        """The newest letters of a queue, the newest first, or those before an ID."""

    async def letters(self, queue: str, ids: Sequence[EntryId]) -> list[DeadLetter]:
        """Those of some letters that are in the queue."""

    async def letter(self, queue: str, entry_id: EntryId) -> DeadLetter:
        """One letter."""

    async def clock(self, queue: str) -> datetime | None:
        """The clock of the server of a queue."""


class DelayedSource(Protocol):
    """Reads delayed messages; every method raises ``StreamopsError`` where that cannot be."""

    async def page(self, stream: str, limit: int) -> DelayedPage:
        """The first messages of a stream's queue."""

    async def messages(self, stream: str, ids: Sequence[str]) -> list[DelayedMessage]:
        """Messages by their IDs."""

    async def clock(self, stream: str) -> datetime | None:
        """The clock of the server of a queue."""


class WorkerSource(Protocol):
    """Reads heartbeats; every method raises ``StreamopsError`` where that cannot be."""

    async def with_pools(self, share: float = 1.0) -> Crowd:
        """Every worker with a heartbeat, and every pool; goes through all keys."""

    async def again(self, known: Crowd) -> Crowd:
        """Those of a crowd that still have one."""


class PoolSource(Protocol):
    """Reads pools; every method raises ``StreamopsError`` where that cannot be."""

    async def all(self, names: Iterable[str] = ()) -> list[Pool]:
        """Pools that have a controller or supervisors, and those that are named."""

    async def one(self, name: str) -> Pool:
        """A pool; with nothing but its name where nobody ever told it anything."""

    async def decisions(self, name: str, count: int = 20) -> list[PoolDecision]:
        """The last decisions about a pool, newest first."""

    async def clock(self) -> datetime | None:
        """The server's clock."""


class TraceSource(Protocol):
    """Reads what became of entries; raises ``StreamopsError`` where that cannot be."""

    async def trace(self, stream: str, entry_id: EntryId) -> EntryTrace:
        """One entry's trace."""
