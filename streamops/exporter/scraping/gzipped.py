"""Gzip in pieces that are compressed apart, so that one that did not change serves again. Pure.

Each piece is a run of whole deflate blocks that refers to nothing before it; a file of gzip is such runs one after the
other (RFC 1951, 1952), and a check of the whole text, which is worked out from those of the pieces.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from msgspec import Struct

try:
    # Five times as fast.
    from isal import isal_zlib as deflate
except ImportError:
    import zlib as deflate  # type: ignore[no-redef]  # isal's stands in for it, and is an optional extra

LEVEL: Final = 1
"""Hardly larger than the best, at a fraction of its time."""
BARE: Final = -15
"""Deflate blocks with nothing around them."""
HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"
"""Gzip, deflate, no name, no time, fast, made by nobody knows what system."""
END: Final = b"\x03\x00"
"""A last block without anything."""
POLYNOMIAL: Final = 0xEDB88320
"""CRC-32's, its lowest power first, as all that is worked out with it here."""
ONE: Final = 1 << 31
BYTE: Final = ONE >> 8
"""``x`` to the eighth: what a check is multiplied by as one byte follows."""


class Packed(Struct, frozen=True, gc=False):
    """One piece, compressed.

    Attributes:
        blocks: Whole deflate blocks, none of them the last.
        check: The CRC-32 of its text.
        size: Bytes of its text.
    """

    blocks: bytes
    check: int
    size: int


def pack(text: bytes) -> Packed:
    """A piece of text, compressed."""
    fresh = deflate.compressobj(LEVEL, deflate.DEFLATED, BARE)
    blocks = fresh.compress(text) + fresh.flush(deflate.Z_FULL_FLUSH)
    return Packed(blocks, deflate.crc32(text), len(text))


def whole(pieces: Iterable[Packed]) -> bytes:
    """The pieces as one file of gzip."""
    parts, check, size = [HEAD], 0, 0
    for piece in pieces:
        parts.append(piece.blocks)
        check = _multiplied(check, _shift(piece.size)) ^ piece.check
        size += piece.size
    return b"".join((*parts, END, check.to_bytes(4, "little"), (size & 0xFFFFFFFF).to_bytes(4, "little")))


# Most pieces are as long as they were in the page before.
@lru_cache(maxsize=1 << 10)
def _shift(size: int) -> int:
    """What a check is multiplied by as so many bytes follow; zlib's ``crc32_combine`` does the same."""
    shift, power = ONE, BYTE
    while size:
        if size & 1:
            shift = _multiplied(shift, power)
        power = _multiplied(power, power)
        size >>= 1
    return shift


def _multiplied(left: int, right: int) -> int:
    """The product of two polynomials over GF(2), modulo CRC-32's."""
    product = 0
    while left:
        if left & ONE:
            product ^= right
        left = (left << 1) & 0xFFFFFFFF
        right = right >> 1 ^ (POLYNOMIAL if right & 1 else 0)
    return product
