"""Compressed values: gzip, zlib and zstd, inflated as far as somebody wants to see them. Pure."""

import sys
import zlib
from functools import cache
from importlib import import_module
from typing import Any, Final

from msgspec import Struct

GZIP_MAGIC: Final = b"\x1f\x8b"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
NO_ZSTD: Final = "zstd, not inflated: pip install 'streamops[zstd]'"
"""What to say of such a value where the library is not installed."""
_GZIP_OR_ZLIB: Final = 47
"""What tells zlib to look for the header of either."""


class Inflated(Struct, frozen=True):
    """What a compressed value holds.

    Attributes:
        name: How it was compressed.
        content: What it holds, from its beginning.
        cut: Whether there is more.
    """

    name: str
    content: bytes
    cut: bool


def inflated(value: bytes, limit: int) -> Inflated | None:
    """What a value of gzip, zlib or zstd holds, at most ``limit`` bytes of it; none where it is none of them.

    None, too, where it is broken, or where it is zstd and ``zstd_library`` has none.
    """
    if value.startswith(ZSTD_MAGIC):
        return _zstd(value, limit)
    is_gzip = value.startswith(GZIP_MAGIC)
    # A header of zlib is a multiple of 31, so that few other bytes look like one.
    is_zlib = value[:1] == b"\x78" and int.from_bytes(value[:2]) % 31 == 0
    if not (is_gzip or is_zlib):
        return None
    inflater = zlib.decompressobj(_GZIP_OR_ZLIB)
    try:
        content = inflater.decompress(value, limit)
    except zlib.error:
        return None
    return Inflated("gzip" if is_gzip else "zlib", content, _is_cut(inflater))


def _is_cut(inflater: Any) -> bool:  # noqa: ANN401 - zlib's and zstd's have nothing in common but what they do
    """Whether there is more: the limit was reached, the end is missing, or another member or frame follows."""
    return not inflater.eof or bool(inflater.unused_data)


def _zstd(value: bytes, limit: int) -> Inflated | None:
    library = zstd_library()
    if library is None:
        return None
    inflater = library.ZstdDecompressor()
    try:
        content = inflater.decompress(value, limit)
    except library.ZstdError:
        return None
    return Inflated("zstd", content, _is_cut(inflater))


@cache
def zstd_library() -> Any:  # noqa: ANN401 - the same interface in two modules, one of which is not there
    """Python's own module from 3.14 on, before that the one of the extra ``zstd``; none where that is not installed."""
    try:
        return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ImportError:
        return None
