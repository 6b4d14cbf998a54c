"""Reading what lies in Redis as ours. Whoever may write there may have written it: it takes no more than its share of memory."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from msgspec import MsgspecError

from streamops.errors import UnexpectedReply

BY_ANOTHER: Final = "Another version of streamops wrote it, or somebody else did; use that version."
"""What to do about what cannot be read."""

MOST_BYTES: Final = 128 << 20
"""Of one record, unpacked: six million IDs are less."""


@contextmanager
def reading_ours(what: str) -> Iterator[None]:
    """Say of anything that cannot be read that it cannot.

    Args:
        what: What is read, in words.

    Raises:
        UnexpectedReply: It is nothing that was ever written so.
    """
    try:
        yield
    except (
        zlib.error,
        MsgspecError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ):
        # Outside the handler's reach: what is wrong with it may quote what is in it.
        readable = False
    else:
        readable = True
    if not readable:
        raise UnexpectedReply(f"{what} in Redis cannot be read", BY_ANOTHER)


def inflate(data: bytes) -> bytes:
    """What ``zlib`` compressed; raises ``zlib.error`` or ``ValueError`` where it is nothing of ours."""
    inflating = zlib.decompressobj()
    found = inflating.decompress(data, MOST_BYTES)
    if not inflating.eof:
        raise ValueError("more than a record holds, or cut off")
    return found
