"""The live tail: entries as they arrive, in batches, so that a fast stream costs a few messages a second."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from textual.message import Message

from streamops.errors import StreamopsError
from streamops.model.entries import EntryId, StreamEntry
from streamops.tui.polling.app_state import retry_delay
from streamops.tui.source import Source

KEPT_ENTRIES: Final = 2000
KEPT_BYTES: Final = 32 * 1024 * 1024


class RecentEntries:
    """The newest entries of a stream, oldest first; the oldest leave if there are too many.

    Args:
        most: How many entries to keep.
        most_bytes: How many bytes of them to keep; the newest entry stays whatever its size.
    """

    def __init__(self, most: int = KEPT_ENTRIES, most_bytes: int = KEPT_BYTES) -> None:
        self._entries: deque[StreamEntry] = deque()
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self.left = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def full(self) -> bool:
        """Whether the next entry drives another out."""
        return len(self._entries) >= self._most or self._bytes >= self._most_bytes

    def entries(self) -> tuple[StreamEntry, ...]:
        """The entries, oldest first."""
        return tuple(self._entries)

    def add(self, entries: Iterable[StreamEntry]) -> None:
        """Add newer entries, oldest first; ``left`` counts those that had to leave."""
        for entry in entries:
            self._entries.append(entry)
            self._bytes += entry.size
            while len(self._entries) > self._most or (
                self._bytes > self._most_bytes and len(self._entries) > 1
            ):
                self._bytes -= self._entries.popleft().size
                self.left += 1

    def add_older(self, entries: Iterable[StreamEntry]) -> None:
        """Add older entries, newest first, as long as there is room."""
        for entry in entries:
            if self.full:
                return
            self._entries.appendleft(entry)
            self._bytes += entry.size

    def take(self) -> tuple[tuple[StreamEntry, ...], int]:
        """Empty it; return what it held and how many had left."""
        taken, left = self.entries(), self.left
        self._entries.clear()
        self._bytes = self.left = 0
        return taken, left


BATCH_SECONDS: Final = 0.25


class Tailed(Message, bubble=False):
    """Entries that arrived.

    Attributes:
        entries: The entries, oldest first.
        dropped: How many before them were not kept, because more arrived than anybody can read.
    """

    def __init__(self, entries: tuple[StreamEntry, ...], dropped: int) -> None:
        super().__init__()
        self.entries = entries
        self.dropped = dropped


class TailLost(Message, bubble=False):
    """The tail broke off and will be taken up again after the last entry seen.

    Attributes:
        error: Why.
    """

    def __init__(self, error: StreamopsError) -> None:
        super().__init__()
        self.error = error


class Follower:
    """Follows one stream from an entry on.

    Args:
        source: Where to read.
        stream: The stream.
        after: The last entry already known; none for only what arrives from now on.
        deliver: Takes the messages.
    """

    def __init__(
        self, source: Source, stream: str, after: EntryId | None, deliver: Callable[[Message], object]
    ) -> None:
        self._source = source
        self._stream = stream
        self._after = after
        self._deliver = deliver
        self._batch = RecentEntries()
        self._news = asyncio.Event()

    async def run(self) -> None:
        """Run until cancelled."""
        flushing = asyncio.create_task(self._flush_forever())
        try:
            await self._follow_forever()
        finally:
            flushing.cancel()

    async def _follow_forever(self) -> None:
        failures = 0
        while True:
            try:
                async for entry in self._source.tail(self._stream, after=self._after):
                    failures = 0
                    self._after = entry.id
                    self._batch.add((entry,))
                    self._news.set()
            except StreamopsError as error:
                failures += 1
                self._deliver(TailLost(error))
            await asyncio.sleep(retry_delay(failures).total_seconds())

    async def _flush_forever(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            self._deliver(Tailed(*self._batch.take()))
            await asyncio.sleep(BATCH_SECONDS)
