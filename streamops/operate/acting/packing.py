"""Structs as bytes, for the audit log and for jobs: JSON, with names that are not UTF-8 kept losslessly."""

from base64 import b64decode, b64encode
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

Noun = TypeVar("Noun", bound=Struct)

_ODD: Final = "$bytes"


def pack(noun: Struct) -> bytes:
    """A struct as JSON."""
    return msgspec.json.encode(_escaped(msgspec.to_builtins(noun)))


def unpack(kind: type[Noun], data: bytes) -> Noun:
    """The struct that ``pack`` wrote; raises ``msgspec.ValidationError`` where it is none."""
    return msgspec.convert(_restored(msgspec.json.decode(data)), kind, strict=False)


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
