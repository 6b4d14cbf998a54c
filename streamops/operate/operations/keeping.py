"""What scripts take that keep rows as they were beside the stream, until the audit log has them."""

from typing import TypedDict

from streamops.operate.acting.undo_rows import pack_pages
from streamops.wire.keys import undo_key


class UndoOf(TypedDict):
    """What a run is told of rows that were changed."""

    undo: bytes
    kept: int


def keeping(stream: str) -> tuple[tuple[str, str], ...]:
    """The (command, key) pairs that are sent, besides those that change the rows."""
    key = undo_key(stream, "none")
    return ("HSET", key), ("HGETALL", key), ("HDEL", key), ("EXPIRE", key)


def undo_of(count: int, rows: bytes) -> UndoOf:
    """What to tell a run of so many rows changed; of those that nothing keeps, the script has told what they were."""
    return {"undo": pack_pages([rows]) if rows else b"", "kept": 0 if rows else count}
