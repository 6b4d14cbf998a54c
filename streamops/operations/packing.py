"""Structs as bytes, for the audit log and for jobs: JSON, with names that are not UTF-8 kept losslessly, read back within bounds."""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin

import msgspec
from msgspec import MsgspecError, Struct
from msgspec.structs import fields

from streamops.errors import Forbidden, UnexpectedReply
from streamops.model.fields import Instant

BY_ANOTHER: Final = "Another version of streamops or another program wrote it; use that."
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
    """What ``zlib`` compressed; raises ``zlib.error`` or ``ValueError`` if it is nothing of ours."""
    inflating = zlib.decompressobj()
    found = inflating.decompress(data, MOST_BYTES)
    if not inflating.eof:
        raise ValueError("more than a record holds, or cut off")
    return found


Noun = TypeVar("Noun", bound=Struct)

LONG: Final = 1 << 16
"""From so many bytes on it is compressed."""

_ODD: Final = "$bytes"


def pack(noun: Struct) -> bytes:
    """A struct as JSON, compressed if it is long."""
    data = msgspec.json.encode(_escaped(msgspec.to_builtins(noun)))
    return data if len(data) < LONG else zlib.compress(data, 1)


def unpack(kind: type[Noun], data: bytes) -> Noun:
    """The struct that ``pack`` wrote; raises ``UnexpectedReply`` if it is none."""
    packed = unpack_values(data)
    with reading_ours("a record"):
        return _converted(kind, packed)


def unpack_asked(kind: type[Noun], data: bytes, what: str, hint: str) -> Noun:
    """The intent that ``pack`` wrote, understood whole: a word of a later version may be what narrows it.

    Args:
        kind: Its type.
        data: What ``pack`` wrote.
        what: What was asked for with it, in words.
        hint: What to do where this version does not understand it.

    Raises:
        Forbidden: It is none, or says what this version does not know.
    """
    known = {field.encode_name for field in fields(kind)}
    with suppress(UnexpectedReply):
        asked = unpack(kind, data)
        if unpack_values(data).keys() <= known:
            return asked
    raise Forbidden(f"{what} was begun by another version of streamops", hint)


def _converted(kind: type[Noun], packed: dict[str, Any]) -> Noun:
    moments = {field.name for field in fields(kind) if _is_instant(field.type)}
    if not moments:
        return msgspec.convert(packed, kind, strict=False)
    # msgspec does not report two kinds of text apart, an instant and a span.
    given = {field.name: field.type for field in fields(kind) if field.name in packed}
    return kind(
        **{
            name: _parse_instant(packed[name])
            if name in moments
            else msgspec.convert(packed[name], type_, strict=False)
            for name, type_ in given.items()
        }
    )


def unpack_values(data: bytes) -> dict[str, Any]:
    """The same as plain values by the names of its attributes; raises ``UnexpectedReply``."""
    with reading_ours("a record"):
        text = data if data.startswith(b"{") else inflate(data)
        values = _restored(msgspec.json.decode(text))
        if not isinstance(values, dict):
            raise TypeError("nothing that was packed")
        return values


def _is_instant(type_: Any) -> bool:  # noqa: ANN401 - any annotation
    bare = get_args(type_)[0] if get_origin(type_) is Annotated else type_
    return {datetime, timedelta} <= set(get_args(bare))


def _parse_instant(written: str | None) -> Instant | None:
    if written is None:
        return None
    if written.lstrip("-").startswith("P"):
        return msgspec.convert(written, timedelta)
    return msgspec.convert(written, datetime)


def _escaped(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    match value:
        case str():
            try:
                value.encode()
            except UnicodeEncodeError:
                return {_ODD: b64encode(value.encode("utf-8", "surrogateescape")).decode()}
        case dict():
            return {key: _escaped(part) for key, part in value.items()}
        case list() | tuple():
            return [_escaped(part) for part in value]
    return value


def _restored(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    match value:
        case {"$bytes": str(text)}:
            return b64decode(text).decode("utf-8", "surrogateescape")
        case dict():
            return {key: _restored(part) for key, part in value.items()}
        case list():
            return [_restored(part) for part in value]
    return value
