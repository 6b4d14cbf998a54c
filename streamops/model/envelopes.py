"""Envelopes in which other libraries put what they send: taken apart for display alone. Pure."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

FASTSTREAM: Final = "FastStream"
TASKIQ: Final = "taskiq"

_LARGEST: Final = 256 * 1024
"""Envelopes of more bytes are shown as they stand."""

_FASTSTREAM_MAGIC: Final = b"\x89BIN\x0d\x0a\x1a\x0a"
_FASTSTREAM_VERSION: Final = 1
_SHORT, _INT = 2, 4


class Envelope(Struct, frozen=True):
    """What an entry carries, out of its library's envelope.

    Attributes:
        library: Whose envelope it is.
        body: The message: FastStream's body, taskiq's call as JSON ``{"args": [...], "kwargs": {...}}``.
        task: The task that is called; empty if the library has none.
        headers: What the library says of the message, in its order.
    """

    library: str
    body: bytes
    task: str = ""
    headers: tuple[tuple[str, str], ...] = ()


class _Task(Struct):
    task_id: str
    task_name: str
    args: Raw
    kwargs: Raw
    labels: dict[str, Any] = {}


class _Call(Struct):
    args: Raw
    kwargs: Raw


class _Legacy(Struct):
    data: str
    headers: dict[str, Any] = {}


_TASK: Final = msgspec.json.Decoder(_Task)
_LEGACY: Final = msgspec.json.Decoder(_Legacy)


def read_envelope(fields: tuple[tuple[bytes, bytes], ...]) -> Envelope | None:
    """Take an entry out of its envelope; None if it is in none that is known."""
    for name, value in fields:
        reader = _READERS.get(name)
        if reader is not None and len(value) <= _LARGEST:
            return reader(value)
    return None


def _read_faststream(value: bytes) -> Envelope | None:
    if value.startswith(_FASTSTREAM_MAGIC):
        return _read_binary(value)
    try:
        told = _LEGACY.decode(value)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return Envelope(FASTSTREAM, told.data.encode(), headers=_texts(told.headers))


def _read_binary(value: bytes) -> Envelope | None:
    """FastStream's binary format, version 1: magic, version, where headers and body begin, headers, body."""
    at = len(_FASTSTREAM_MAGIC)
    if _number(value, at, _SHORT) != _FASTSTREAM_VERSION:
        return None
    at += _SHORT
    headers_at, body_at = _number(value, at, _INT), _number(value, at + _INT, _INT)
    if not at < headers_at <= body_at <= len(value):
        return None
    headers = _binary_headers(value[headers_at:body_at])
    return None if headers is None else Envelope(FASTSTREAM, value[body_at:], headers=headers)


def _binary_headers(block: bytes) -> tuple[tuple[str, str], ...] | None:
    texts, at = [], _SHORT
    for _ in range(2 * _number(block, 0, _SHORT)):
        length = _number(block, at, _SHORT)
        end = at + _SHORT + length
        if len(block) < end:
            return None
        texts.append(block[at + _SHORT : end].decode(errors="replace"))
        at = end
    return tuple(zip(texts[::2], texts[1::2], strict=True))


def _number(value: bytes, at: int, width: int) -> int:
    return int.from_bytes(value[at : at + width], "big")


def _read_taskiq(value: bytes) -> Envelope | None:
    try:
        told = _TASK.decode(value)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    call = msgspec.json.encode(_Call(told.args, told.kwargs))
    return Envelope(TASKIQ, call, told.task_name, (("task_id", told.task_id), *_texts(told.labels)))


def _texts(told: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, value if isinstance(value, str) else msgspec.json.encode(value).decode())
        for name, value in told.items()
    )


_READERS: Final = {b"__data__": _read_faststream, b"data": _read_taskiq}
