"""What the screens of dead letters, delayed messages, topics, workers and traces have read for them."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from streamops.errors import NotFound
from streamops.model.dead_letters import DeadLetter, QueueSummary
from streamops.model.ids import EntryId
from streamops.model.pending import PendingProfile
from streamops.model.pools import PoolDecision
from streamops.model.selections import LetterSelection
from streamops.monitor.dead_letters import DeadLetterQueues, LetterPage
from streamops.monitor.delayed import DelayedPage, DelayedQueues
from streamops.monitor.entry_trace import EntryTrace
from streamops.monitor.pages import PendingSummary
from streamops.monitor.topics import TopicFailures
from streamops.monitor.workers import Crowd
from streamops.present.delayed import DelayedRow
from streamops.present.letters import LetterRow
from streamops.present.pools import PoolRow
from streamops.present.topics import TopicRow
from streamops.settings.topic_rows import read_topic_rows
from streamops.settings.topics import list_topics
from streamops.tui.source import Source

PAGE: Final = 100
MOST_CHOSEN: Final = 1_000
"""Letters that an expression holds of and that are shown."""
MOST_DECISIONS: Final = 100
FEW_DECISIONS: Final = 20
"""As many as a pane may show."""
MOST_DELAYED: Final = 500
MOST_SCANNED: Final = 10_000
"""Pending rows that a distribution is made of: about 30 ms of the server's time."""
SHARE: Final = 0.25
"""Share of the time that going through all keys may keep a node busy."""


class ReadQueues(Struct, frozen=True):
    """Every dead-letter queue, with what its letters died of."""

    streams: tuple[str, ...]

    async def perform(self, source: Source) -> DeadLetterQueues:
        """Read them."""
        return await source.dead_letters.queues(self.streams)


class ReadQueue(Struct, frozen=True):
    """One dead-letter queue as a whole."""

    queue: str

    async def perform(self, source: Source) -> QueueSummary:
        """Read it."""
        return await source.dead_letters.queue(self.queue)


class ReadLetters(Struct, frozen=True):
    """A page of letters: the newest, or those before one; or the first that an expression holds of."""

    queue: str
    where: str = ""
    before: EntryId | None = None

    async def perform(self, source: Source) -> LetterPage:
        """Read it."""
        if self.where:
            selection = LetterSelection(queue=self.queue, where=self.where)
            return await source.dead_letters.page(selection, MOST_CHOSEN)
        return await source.dead_letters.newest(self.queue, before=self.before, count=PAGE)


class ReadLetter(Struct, frozen=True):
    """One letter."""

    queue: str
    id: EntryId

    async def perform(self, source: Source) -> LetterRow:
        """Read it."""
        letter = await source.dead_letters.letter(self.queue, self.id)
        return LetterRow(letter, await source.dead_letters.clock(self.queue))


class ReadTheseLetters(Struct, frozen=True):
    """Some letters by their IDs, to edit their fields."""

    queue: str
    ids: tuple[EntryId, ...]

    async def perform(self, source: Source) -> Sequence[DeadLetter]:
        """Read them."""
        return await source.dead_letters.letters(self.queue, self.ids)


class FindDelayed(Struct, frozen=True):
    """Every queue of delayed messages."""

    async def perform(self, source: Source) -> DelayedQueues:
        """Find them."""
        return await source.find_delayed()


class ReadDelayed(Struct, frozen=True):
    """The first messages of one queue."""

    stream: str

    async def perform(self, source: Source) -> DelayedPage:
        """Read them."""
        return await source.delayed.page(self.stream, MOST_DELAYED)


class ReadMessage(Struct, frozen=True):
    """One delayed message."""

    stream: str
    id: str

    async def perform(self, source: Source) -> DelayedRow:
        """Read it."""
        (message,) = await source.delayed.messages(self.stream, [self.id])
        return DelayedRow(self.stream, message, await source.delayed.clock(self.stream))


class ReadTopics(Struct, frozen=True):
    """Every topic, of the configuration and of Redis."""

    in_use: str | None

    async def perform(self, source: Source) -> list[TopicRow]:
        """Read them."""
        configured = await asyncio.to_thread(list_topics, os.environ, Path.cwd())
        return await read_topic_rows(source.topics, configured, self.in_use)


class TopicWhole(Struct, frozen=True):
    """A topic, and what failed last of its calls; none where it is another context's, or cannot be read."""

    row: TopicRow
    failures: TopicFailures | None


class ReadTopic(Struct, frozen=True):
    """One topic."""

    topic: str
    in_use: str | None

    async def perform(self, source: Source) -> TopicWhole:
        """Read it."""
        rows = await ReadTopics(self.in_use).perform(source)
        row = next((row for row in rows if row.name == self.topic), None)
        if row is None:
            raise NotFound(f"there is no topic {self.topic}", "It may have been removed.")
        here = row.topic is not None and not row.context
        return TopicWhole(row, await source.topics.failures(row.topic) if row.topic and here else None)


class ReadCrowd(Struct, frozen=True):
    """Workers and pools: all there are, or those of a crowd again."""

    known: Crowd | None = None

    async def perform(self, source: Source) -> Crowd:
        """Read them."""
        if self.known is None:
            return await source.workers.with_pools(SHARE)
        return await source.workers.again(self.known)


class PoolsWhole(Struct, frozen=True):
    """Every pool that is scaled, and the last decisions about one of them.

    Attributes:
        rows: The pools.
        pool: That one; empty for none.
        decisions: The decisions about it, newest first.
    """

    rows: tuple[PoolRow, ...]
    pool: str = ""
    decisions: tuple[PoolDecision, ...] = ()


class ReadPools(Struct, frozen=True):
    """Every pool that is scaled, and the last decisions about one of them; empty for none."""

    pool: str = ""

    async def perform(self, source: Source) -> PoolsWhole:
        """Read them."""
        now = await source.pools.clock()
        rows = tuple(PoolRow(pool, now=now) for pool in await source.pools.all())
        if not self.pool:
            return PoolsWhole(rows)
        return PoolsWhole(rows, self.pool, tuple(await source.pools.decisions(self.pool, FEW_DECISIONS)))


class PoolWhole(Struct, frozen=True):
    """A pool, and the last decisions about it, newest first."""

    row: PoolRow
    decisions: tuple[PoolDecision, ...]


class ReadPool(Struct, frozen=True):
    """One pool."""

    pool: str

    async def perform(self, source: Source) -> PoolWhole:
        """Read it."""
        now = await source.pools.clock()
        row = PoolRow(await source.pools.one(self.pool), now=now)
        return PoolWhole(row, tuple(await source.pools.decisions(self.pool, MOST_DECISIONS)))


class PendingWhole(Struct, frozen=True):
    """A group's pending entries as a whole.

    Attributes:
        summary: How many, and whose.
        profile: How long idle and how often delivered; none where none is pending.
    """

    summary: PendingSummary
    profile: PendingProfile | None


class ReadPendingWhole(Struct, frozen=True):
    """A group's pending entries as a whole, from a bounded number of rows."""

    stream: str
    group: str

    async def perform(self, source: Source) -> PendingWhole:
        """Read it."""
        summary = await source.read_pending_summary(self.stream, self.group)
        profile = await source.scan_pending(self.stream, self.group, limit=MOST_SCANNED)
        return PendingWhole(summary, profile)


class ReadTrace(Struct, frozen=True):
    """What became of one entry."""

    stream: str
    id: EntryId

    async def perform(self, source: Source) -> EntryTrace:
        """Read it."""
        return await source.tracer.trace(self.stream, self.id)
