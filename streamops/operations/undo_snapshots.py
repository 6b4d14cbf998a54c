"""Undo snapshots: pending rows as they were, which undoing a claim, a nack or the removal of a consumer needs; and a group's position.

The script that changes rows keeps them beside the stream, so that whoever is killed right after it leaves them behind; from
there they go into the audit log. Rows come in pages, each of one call of a script, which packs them itself: MessagePack of the
server's clock in milliseconds, the owners as hexadecimal digits, the IDs, and runs of rows that are alike. A run is the place of
its owner, idle milliseconds, deliveries, and how many rows come before it. A position is JSON, as the log has it.
"""

import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, TypedDict

import msgspec
from msgspec import Raw, Struct

from streamops.model.entries import EPOCH, EntryId, PendingEntry
from streamops.model.streams import Mode
from streamops.operations.packing import inflate, reading_ours
from streamops.wire.keys import same_slot, undo_key
from streamops.wire.server import Server
from streamops.wire.writes.audit import SnapshotPage

MILLISECOND: Final = timedelta(milliseconds=1)
RUN: Final = 4
RECORD_BYTES: Final = 1 << 18
"""Rows of one record at most, before they are compressed to an eighth or a quarter of that."""

_Page = tuple[int, list[str], list[str], list[int | float]]
"""A script writes what is beyond 2^53 as a float."""


class UndoOf(TypedDict):
    """What a run is told of rows that were changed."""

    undo: bytes
    kept: int


class RowsThen(Struct, frozen=True):
    """Rows as they were just before something was done to them.

    Attributes:
        at: When that was, by the server's clock.
        rows: The rows; their ``idle`` is as of then.
    """

    at: datetime
    rows: tuple[PendingEntry, ...]


def snapshot_key(server: Server, stream: str, action: str) -> str:
    """The hash that an action's snapshot is kept in; empty if there is no stream, or no script could touch both."""
    key = undo_key(stream, action) if stream else ""
    return key if server.options.mode is not Mode.CLUSTER or same_slot(stream, key) else ""


def snapshot_writes(stream: str) -> tuple[tuple[str, str], ...]:
    """The (command, key) pairs that keeping one sends, besides those that change the rows."""
    key = undo_key(stream, "none")
    return ("HSET", key), ("HGETALL", key), ("HDEL", key), ("EXPIRE", key)


def undo_of(count: int, rows: bytes) -> UndoOf:
    """What to tell a run of so many rows changed; of those that nothing keeps, the script has told what they were."""
    return {"undo": pack_pages([rows]) if rows else b"", "kept": 0 if rows else count}


def in_records(pages: Sequence[SnapshotPage]) -> Iterator[list[SnapshotPage]]:
    """Pages as records of the audit log hold them: as many as one has room for, and at least one."""
    record: list[SnapshotPage] = []
    size = 0
    for page in pages:
        if record and size + len(page.rows) > RECORD_BYTES:
            yield record
            record, size = [], 0
        record.append(page)
        size += len(page.rows)
    if record:
        yield record


def pack_pages(pages: Sequence[bytes]) -> bytes:
    """Pages of rows, as scripts packed them, as one record keeps them; a position as it is."""
    if pages[0].startswith(b"{"):
        return pages[0]
    return zlib.compress(msgspec.msgpack.encode([Raw(page) for page in pages]), 1)


def unpack_pages(blob: bytes) -> tuple[RowsThen, ...]:
    """The pages of one record, in their order; raises ``UnexpectedReply`` if they are none."""
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
