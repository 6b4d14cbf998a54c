"""Values that are decoded to be shown: gzip, zlib and zstd, inflated up to a bound, and protobuf without a schema. Pure."""

import json
import struct
import sys
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple

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
    """What a value of gzip, zlib or zstd holds, at most ``limit`` bytes of it; None if it is none of them.

    None, too, if it is broken, or if it is zstd and ``zstd_library`` has none.
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
    """Python's own module from 3.14 on, before that the one of the extra ``zstd``; None if that is not installed."""
    try:
        return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ImportError:
        return None


VARINT, I64, LEN, I32 = 0, 1, 2, 5
WIRE_TYPES: Final = {VARINT: "VARINT", I64: "I64", LEN: "LEN", I32: "I32"}
MOST_FIELDS: Final = 10_000
"""Fields that are looked at in one value, nested ones included."""
DEEPEST: Final = 8
"""Messages inside messages; what lies deeper is shown as bytes."""
SHOWN_BYTES: Final = 1024
"""Bytes of a field that are written in hex."""
GREATEST_NUMBER: Final = (1 << 29) - 1
LIKELY_NUMBER: Final = 1_000
"""Numbers above it are allowed and rare: bytes that only happen to parse are full of them."""
_VARINT_BYTES: Final = 10
_UINT64: Final = 1 << 64
_NEGATIVE: Final = 1 << 63
_FIXED: Final = {I64: ("<Qd", 8), I32: ("<If", 4)}


class ProtobufField(NamedTuple):
    """One field.

    Attributes:
        number: Its number.
        wire_type: ``VARINT``, ``I64``, ``LEN`` or ``I32``.
        value: The number, as written, of a varint; the bytes of any other; the fields of a nested message.
    """

    number: int
    wire_type: int
    value: "int | bytes | Sequence[ProtobufField]"


class _NoMessageError(Exception):
    """The bytes are no message."""


def read_protobuf(value: bytes) -> Sequence[ProtobufField] | None:
    """The fields of a value; none if it is empty, does not parse to its last byte, or has more than ``MOST_FIELDS``."""
    try:
        return _Reader().fields(value, 0) or None
    except _NoMessageError:
        return None


def is_likely(fields: Sequence[ProtobufField]) -> bool:
    """Whether fields look like those of a real message.

    Their numbers are low, no number has two wire types, and there is more than one number of fixed size: any five bytes of
    which the first is right are one.
    """
    types = {(field.number, field.wire_type) for field in fields}
    numbers = {field.number for field in fields}
    lone = len(fields) == 1 and fields[0].wire_type in _FIXED
    return not lone and len(types) == len(numbers) and max(numbers, default=0) <= LIKELY_NUMBER


def protobuf_text(fields: Sequence[ProtobufField]) -> str:
    """The fields, one a line: ``1 VARINT 150``; those of a nested message are indented between braces."""
    return "\n".join(_lines(fields, ""))


class _Reader:
    """Reads fields, as many as one value may have."""

    def __init__(self) -> None:
        self._left = MOST_FIELDS

    def fields(self, value: bytes, depth: int) -> Sequence[ProtobufField]:
        """All fields of a message; raises ``_NoMessageError``."""
        found: list[ProtobufField] = []
        at = 0
        while at < len(value):
            self._left -= 1
            tag, at = _varint(value, at)
            number, wire_type = tag >> 3, tag & 7
            if self._left < 0 or not 0 < number <= GREATEST_NUMBER or wire_type not in WIRE_TYPES:
                raise _NoMessageError
            if wire_type == VARINT:
                content, at = _varint(value, at)
                found.append(ProtobufField(number, wire_type, content))
                continue
            size, at = _varint(value, at) if wire_type == LEN else (_FIXED[wire_type][1], at)
            if size > len(value) - at:
                raise _NoMessageError
            inner = value[at : at + size]
            at += size
            found.append(
                ProtobufField(number, wire_type, self._inside(inner, depth) if wire_type == LEN else inner)
            )
        return found

    def _inside(self, value: bytes, depth: int) -> bytes | Sequence[ProtobufField]:
        """A nested message, if it looks like one and not like text."""
        if depth >= DEEPEST or _text(value) is not None:
            return value
        try:
            fields = self.fields(value, depth + 1)
        except _NoMessageError:
            return value
        return fields if is_likely(fields) else value


def _varint(value: bytes, at: int) -> tuple[int, int]:
    """The number at a place, and the place after it."""
    number = 0
    for place, byte in enumerate(value[at : at + _VARINT_BYTES]):
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80 and number < _UINT64:  # noqa: PLR2004 - the bit that says that more follows
            return number, at + place + 1
    raise _NoMessageError


def _text(value: bytes) -> str | None:
    """The value as text, if it is nothing else than text."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return None
    return text if text.translate({9: None, 10: None, 13: None}).isprintable() else None


def _lines(fields: Sequence[ProtobufField], indent: str) -> Iterator[str]:
    for number, wire_type, value in fields:
        head = f"{indent}{number} {WIRE_TYPES[wire_type]}"
        if isinstance(value, int):
            signed = f" (signed {value - _UINT64})" if value >= _NEGATIVE else ""
            yield f"{head} {value}{signed}"
        elif not isinstance(value, bytes):
            yield f"{head} {{"
            yield from _lines(value, f"{indent}  ")
            yield f"{indent}}}"
        elif wire_type == LEN:
            yield f"{head} {_bytes_words(value)}"
        else:
            form, _ = _FIXED[wire_type]
            integer, real = struct.unpack(form[:2], value)[0], struct.unpack(form[0] + form[2], value)[0]
            yield f"{head} {integer} ({'double' if wire_type == I64 else 'float'} {real:.17g})"


def _bytes_words(value: bytes) -> str:
    if (text := _text(value)) is not None:
        return json.dumps(text, ensure_ascii=False)
    more = f" … +{len(value) - SHOWN_BYTES} bytes" if len(value) > SHOWN_BYTES else ""
    return f"{value[:SHOWN_BYTES].hex(' ')}{more}"
