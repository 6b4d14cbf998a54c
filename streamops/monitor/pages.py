"""What the reads on demand return: pages of entries, of pending entries, of a search."""

from datetime import datetime

from msgspec import Struct

from streamops.model.entries import Entry, PendingEntry
from streamops.model.ids import EntryId


class EntryPage(Struct, frozen=True):
    """Entries of a stream in one direction.

    Attributes:
        entries: The entries, in the order asked for.
        next_id: Where to go on, exclusive; none at the end.
    """

    entries: tuple[Entry, ...]
    next_id: EntryId | None


class PendingPage(Struct, frozen=True):
    """Rows of a pending entries list, by ID.

    Attributes:
        rows: The rows, lowest ID first.
        next_id: Where to go on, exclusive; none at the end.
        now: The server's clock when they were read; none where it may not be asked.
    """

    rows: tuple[PendingEntry, ...]
    next_id: EntryId | None
    now: datetime | None


class PendingSummary(Struct, frozen=True):
    """XPENDING's summary of one group.

    Attributes:
        pending: All pending entries.
        smallest_id: Smallest pending ID; none where none is pending.
        greatest_id: Greatest pending ID; none where none is pending.
        consumers: Pending entries by consumer, only consumers that have some.
    """

    pending: int
    smallest_id: EntryId | None
    greatest_id: EntryId | None
    consumers: tuple[tuple[str, int], ...]
