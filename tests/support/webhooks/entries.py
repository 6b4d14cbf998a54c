"""Entries as a callback sees them."""

from msgspec import Struct


class InventedEntry(Struct, frozen=True):
    """An entry that no server holds."""

    fields: tuple[tuple[bytes, bytes], ...] = ((b"id", b"m-1"), (b"data", b'{"n":1}'))
    origin_id: str = "1700000000000-0"
    attempt: int = 1
    payload: bytes | None = None
