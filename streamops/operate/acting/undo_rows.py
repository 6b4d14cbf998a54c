"""Pending rows as they were, packed small: what undoing a claim, a nack or an acknowledgement needs."""

import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec import Raw, Struct

from streamops.model.entries import PendingEntry
from streamops.model.ids import EPOCH, EntryId

MILLISECOND = timedelta(milliseconds=1)

_Columns = tuple[list[str], list[int], list[int], list[int | float]]
"""IDs, places of their owners, idle milliseconds, deliveries; a script writes what is beyond 2^53 as a float."""

_Packed = tuple[int, list[str], _Columns]


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
    columns = (
        [str(row.id) for row in rows],
        [place[row.consumer] for row in rows],
        [row.idle // MILLISECOND for row in rows],
        [row.delivery_count for row in rows],
    )
    return pack_columns(msgspec.msgpack.encode(columns), owners, at)


def pack_columns(columns: bytes, owners: Sequence[str], at: datetime) -> bytes:
    """The same of rows that a script packed already: IDs, places of their owners, idle times, deliveries."""
    names = [owner.encode("utf-8", "surrogateescape").hex() for owner in owners]
    return zlib.compress(msgspec.msgpack.encode(((at - EPOCH) // MILLISECOND, names, Raw(columns))), 1)


def unpack_rows(blob: bytes) -> RowsThen:
    """The rows of one batch, in their order."""
    at_ms, names, columns = msgspec.msgpack.decode(zlib.decompress(blob), type=_Packed)
    owners = [bytes.fromhex(name).decode("utf-8", "surrogateescape") for name in names]
    return RowsThen(
        EPOCH + at_ms * MILLISECOND,
        tuple(
            PendingEntry(EntryId.parse(text), owners[owner], idle * MILLISECOND, int(deliveries))
            for text, owner, idle, deliveries in zip(*columns, strict=True)
        ),
    )
