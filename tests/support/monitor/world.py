"""A stream and one group that keep their own true account, to hold what history makes of them against."""

from datetime import datetime, timedelta
from enum import Enum

from streamops.model.entries import ZERO_ID, EntryId
from streamops.model.streams import Snapshot
from tests.support.invented import NOW, bounded, consumer, group, snapshot, stream

FIRST_MS = round(NOW.timestamp() * 1000)


class Counter(Enum):
    """What the server makes of entries-read."""

    DELIVERED = "counts deliveries, as Redis 7.0 does even when trimming overtook the group"
    LOGICAL = "jumps over trimmed entries, as Redis 8.0 does"
    NIL = "has none"


class World:
    """A stream with one group, in which every entry is followed.

    Attributes:
        now: The server's clock.
        added: Entries truly added so far.
        delivered: Entries truly delivered so far, also those delivered again.
        acked: Entries truly acknowledged so far.
        lost: Entries truly trimmed away undelivered so far.
    """

    def __init__(self, counter: Counter = Counter.DELIVERED, *, counts_added: bool = True) -> None:
        self.now: datetime = NOW
        self.added = self.delivered = self.acked = self.lost = 0
        self._counter = counter
        self._counts_added = counts_added
        self._entries_read: int | None = None if counter is Counter.NIL else 0
        self._ever: list[EntryId] = []
        self._first = 0
        self._position = 0
        self._pending: set[EntryId] = set()

    def add(self, count: int) -> None:
        """XADD."""
        self._ever += [EntryId(FIRST_MS + len(self._ever) + place, 1) for place in range(count)]
        self.added += count

    def read(self, count: int) -> None:
        """XREADGROUP."""
        start = max(self._first, self._position)
        given = self._ever[start : start + count]
        if not given:
            return
        self.delivered += len(given)
        self._pending.update(given)
        self._position = start + len(given)
        if self._entries_read is not None:
            logical = self._counter is Counter.LOGICAL
            self._entries_read = self._position if logical else self._entries_read + len(given)

    def acknowledge(self, count: int) -> None:
        """XACK."""
        done = sorted(self._pending)[:count]
        self._pending.difference_update(done)
        self.acked += len(done)

    def trim(self, length: int) -> None:
        """XTRIM MAXLEN."""
        first = max(self._first, len(self._ever) - length)
        self.lost += max(0, first - max(self._first, self._position))
        self._first = first

    def rewind(self, back: int) -> None:
        """XGROUP SETID to an earlier entry, which leaves the server without a read counter."""
        self._position = max(0, self._position - back)
        self._entries_read = None

    @property
    def position(self) -> EntryId:
        """The last delivered ID."""
        return self._ever[self._position - 1] if self._position else ZERO_ID

    def poll(self, after: timedelta, *, lag_known: bool = True) -> Snapshot:
        """A snapshot, ``after`` the one before."""
        self.now += after
        live = self._ever[self._first :]
        lag = len(self._ever) - max(self._first, self._position)
        judged = group(
            lag=lag if lag_known else bounded(0, len(live)),
            waiting=None if lag else timedelta(0),
            pending=len(self._pending),
            position=self.position,
            entries_read=self._entries_read,
            members=[consumer(pending=len(self._pending))],
        )
        state = stream(
            groups=[judged],
            length=len(live),
            first_id=live[0] if live else None,
            last_generated_id=self._ever[-1] if self._ever else ZERO_ID,
            entries_added=len(self._ever) if self._counts_added else None,
            max_deleted_id=ZERO_ID if self._counts_added else None,
        )
        return snapshot(state, at=self.now - NOW)
