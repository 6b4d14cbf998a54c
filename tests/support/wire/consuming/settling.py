"""What is retried or dead-lettered."""

from datetime import timedelta

from streamops.model.deliveries import Letter
from tests.support.wire.consuming.shop import Flat

MINUTE, WEEK = timedelta(minutes=1), timedelta(days=7)
BINARY = [b"n", b"1", b"", b"\x00\xff", b"n", b"2"]
PAIRS = tuple(zip(BINARY[::2], BINARY[1::2], strict=True))


def letter_of(one: bytes, **changes: str | int | None) -> Letter:
    words: dict[str, str | int | None] = {"reason": "rejected", "error": "no", "deliveries": 2, "attempt": 3}
    return Letter(one, **(words | changes))  # type: ignore[arg-type]


def about(fields: Flat, own: int) -> dict[bytes, bytes]:
    """What a letter says about itself, after so many own fields and values."""
    return dict(zip(fields[own::2], fields[own + 1 :: 2], strict=True))


OOM = "65536"
