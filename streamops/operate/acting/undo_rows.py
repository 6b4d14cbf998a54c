"""Pending rows as they were, packed small: what undoing a claim, a nack or an acknowledgement needs.

Rows come in pages, each of one call of a script, which packs them itself: MessagePack of the server's clock in
milliseconds, the owners as hexadecimal digits, the IDs, and runs of rows that are alike. A run is the place of its
owner, idle milliseconds, deliveries, and how many rows come before it.
"""

import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec import Raw, Struct

from streamops.model.entries import PendingEntry
from streamops.model.ids import EPOCH, EntryId
from streamops.operate.acting.ours import inflate, reading_ours

MILLISECOND = timedelta(milliseconds=1)
RUN = 4

_Page = tuple[int, list[str], list[str], list[int | float]]
"""A script writes what is beyond 2^53 as a float."""


class RowsThen(Struct, frozen=True):
    """Rows as they were just before something was done to them.

    Attributes:
        at: When that was, by the server's clock.
        rows: The rows; their ``idle`` is as of then.
    """

    at: datetime
    rows: tuple[PendingEntry, ...]


def pack_rows(rows: Sequence[PendingEntry], at: datetime = EPOCH) -> bytes:
    """Rows as bytes; without a time they are kept for the record alone, and no undo restores them."""
    owners = tuple(dict.fromkeys(row.consumer for row in rows))
    place = {owner: number for number, owner in enumerate(owners)}
    runs: list[int] = []
    for number, row in enumerate(rows):
        alike = [place[row.consumer], row.idle // MILLISECOND, row.delivery_count]
        if alike != runs[-RUN:-1]:
            runs += (*alike, number)
    names = [owner.encode("utf-8", "surrogateescape").hex() for owner in owners]
    page = ((at - EPOCH) // MILLISECOND, names, [str(row.id) for row in rows], runs)
    return pack_pages([msgspec.msgpack.encode(page)])


def pack_pages(pages: Sequence[bytes]) -> bytes:
    """Pages of rows, as scripts packed them, as one record keeps them."""
    return zlib.compress(msgspec.msgpack.encode([Raw(page) for page in pages]), 1)


def unpack_pages(blob: bytes) -> tuple[RowsThen, ...]:
    """The pages of one record, in their order; raises ``UnexpectedReply`` where they are none."""
    with reading_ours("what undoing needs"):
        return tuple(map(_rows_then, msgspec.msgpack.decode(inflate(blob), type=list[_Page])))


def _rows_then(page: _Page) -> RowsThen:
    at_ms, names, ids, runs = page
    owners = [bytes.fromhex(name).decode("utf-8", "surrogateescape") for name in names]
    return RowsThen(EPOCH + at_ms * MILLISECOND, tuple(_rows(owners, ids, [int(part) for part in runs])))


def _rows(owners: Sequence[str], ids: Sequence[str], runs: Sequence[int]) -> Iterator[PendingEntry]:
    ends = [*runs[RUN - 1 + RUN :: RUN], len(ids)]
    if any(end <= start for start, end in zip(runs[RUN - 1 :: RUN], ends, strict=False)):
        # Runs that overlap would make any number of rows of a few bytes.
        raise ValueError("runs that do not follow each other")
    for number, end in enumerate(ends if runs else ()):
        place, idle, deliveries, start = runs[number * RUN : (number + 1) * RUN]
        for text in ids[start:end]:
            yield PendingEntry(EntryId.parse(text), owners[place], idle * MILLISECOND, deliveries)
