"""Entries kept for showing, bounded in number and in bytes."""

from collections import deque
from collections.abc import Iterable
from typing import Final

from streamops.model.entries import StreamEntry

KEPT_ENTRIES: Final = 2000
KEPT_BYTES: Final = 32 * 1024 * 1024


class RecentEntries:
    """The newest entries of a stream, oldest first; the oldest leave where there are too many.

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
