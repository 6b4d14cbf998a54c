"""Bodies of requests as they were before they were encoded for the way."""

import zlib
from typing import Final

ENCODINGS: Final = frozenset({"", "identity", "gzip", "deflate"})
"""What a body may be encoded as."""

GZIP: Final = zlib.MAX_WBITS | 16


class MalformedBody(Exception):
    """A body is not encoded as it says, or was cut off."""


class LargeBody(Exception):
    """A body is larger than it may be once it is decoded."""


def encoding_of(header: str | None) -> str:
    """The name of an encoding as a header tells it; empty for none."""
    return (header or "").strip().lower()


def decoded(body: bytes, encoding: str, most: int) -> bytes:
    """Return a body decoded, up to a number of bytes.

    Raises:
        MalformedBody: It is not encoded like that, or not to its end.
        LargeBody: It is larger.
    """
    if encoding in {"", "identity"}:
        return body
    # Some send deflate without the header that zlib puts before it.
    deflate = zlib.MAX_WBITS if body[:1] and body[0] & 0x0F == zlib.DEFLATED else -zlib.MAX_WBITS
    inflating = zlib.decompressobj(GZIP if encoding == "gzip" else deflate)
    try:
        plain = inflating.decompress(body, most + 1)
    except zlib.error:
        raise MalformedBody from None
    if len(plain) > most:
        raise LargeBody
    if not inflating.eof or inflating.unused_data:
        raise MalformedBody
    return plain
