"""Pending rows as they were, packed small: what undoing a claim or an acknowledgement needs."""

import zlib
from collections.abc import Iterable, Sequence
from datetime import timedelta

import msgspec

from streamops.model.entries import PendingEntry
from streamops.model.ids import EntryId

_Packed = tuple[list[str], list[tuple[int, int, int, int, int]]]


def pack_rows(rows: Sequence[PendingEntry]) -> bytes:
    """Rows as bytes; IDs as differences from the one before, owners as numbers."""
    owners = sorted({row.consumer for row in rows})
    number = {owner: at for at, owner in enumerate(owners)}
    packed = []
    ms = 0
    for row in rows:
        idle = row.idle // timedelta(milliseconds=1)
        packed.append((row.id.ms - ms, row.id.seq, number[row.consumer], idle, row.delivery_count))
        ms = row.id.ms
    names = [owner.encode("utf-8", "surrogateescape").hex() for owner in owners]
    return zlib.compress(msgspec.msgpack.encode((names, packed)), 1)


def unpack_rows(blobs: Iterable[bytes]) -> list[PendingEntry]:
    """The rows of all batches, in their order."""
    rows: list[PendingEntry] = []
    for blob in blobs:
        names, packed = msgspec.msgpack.decode(zlib.decompress(blob), type=_Packed)
        owners = [bytes.fromhex(name).decode("utf-8", "surrogateescape") for name in names]
        ms = 0
        for step, seq, owner, idle, count in packed:
            ms += step
            rows.append(PendingEntry(EntryId(ms, seq), owners[owner], timedelta(milliseconds=idle), count))
    return rows
