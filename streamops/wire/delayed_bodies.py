"""The bodies of delayed messages: msgpack ``[1, destination, group, attempt, origin_id, [field, value, ...]]``.

Text and bytes alike are written as msgpack's ``str``, which Lua's ``cmsgpack`` reads and writes for any bytes;
its ``bin``, which other writers use, is understood too.
"""

from typing import Final

import msgspec
from msgspec import Raw

from streamops.model.delayed import DelayedBody
from streamops.model.text import name_bytes
from streamops.wire.replies import decode_name

VERSION: Final = 1


class ForeignBodyError(ValueError):
    """What another program wrote: no body of any version."""


_Body = tuple[int, Raw, Raw, int | None, Raw, list[Raw]]
_DECODER: Final = msgspec.msgpack.Decoder(_Body)
_ANY: Final = msgspec.msgpack.Decoder(list[Raw])
_LATEST: Final = 255
"""A greater number at the beginning is no version of anything."""

_FIX_STR: Final = range(0xA0, 0xC0)
_NIL: Final = 0xC0
_HEADS: Final = {0xC4: 2, 0xC5: 3, 0xC6: 5, 0xD9: 2, 0xDA: 3, 0xDB: 5}
"""Bytes before the text, by the first of them: ``bin`` and ``str`` with lengths of 8, 16 and 32 bits."""


def encode_body(body: DelayedBody) -> bytes:
    """A body as it is stored."""
    return msgspec.msgpack.encode(
        [
            VERSION,
            _text(name_bytes(body.destination)),
            _text(name_bytes(body.group)),
            body.attempt,
            _text(name_bytes(body.origin_id)),
            [_text(part) for pair in body.fields for part in pair],
        ]
    )


def decode_body(raw: bytes) -> DelayedBody:
    """A body that was stored.

    Raises:
        ForeignBodyError: It is another program's.
        ValueError: It is a message's, and can never become an entry; or a later version's. With the reason.
    """
    try:
        version, destination, group, attempt, origin_id, parts = _DECODER.decode(raw)
        target, group_name, origin, *flat = map(_plain, (destination, group, origin_id, *parts))
    except (RecursionError, ValueError) as error:
        if later := _later_version(raw):
            raise ValueError(f"written in version {later} of the format") from None
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ForeignBodyError(reason) from None
    if version != VERSION:
        raise ValueError(f"written in version {version} of the format")
    if not target:
        raise ValueError("it names no destination")
    if not flat or len(flat) % 2:
        raise ValueError("its fields are no pairs")
    return DelayedBody(
        decode_name(target),
        tuple(zip(flat[::2], flat[1::2], strict=True)),
        decode_name(group_name),
        attempt or 0,
        decode_name(origin),
    )


def _later_version(raw: bytes) -> int:
    """The version that an array of another shape begins with; zero where it tells none."""
    try:
        first = _ANY.decode(raw)[:1]
        version = msgspec.msgpack.decode(first[0], type=int) if first else 0
    except (msgspec.DecodeError, RecursionError):
        return 0
    return version if VERSION < version <= _LATEST else 0


def _text(value: bytes) -> Raw:
    length = len(value)
    if length < len(_FIX_STR):
        head = bytes([_FIX_STR[length]])
    elif length < 1 << 8:
        head = bytes([0xD9, length])
    elif length < 1 << 16:
        head = b"\xda" + length.to_bytes(2, "big")
    else:
        head = b"\xdb" + length.to_bytes(4, "big")
    return Raw(head + value)


def _plain(part: Raw) -> bytes:
    raw = bytes(part)
    if raw[0] == _NIL:
        return b""
    if raw[0] in _FIX_STR:
        return raw[1:]
    if raw[0] not in _HEADS:
        raise ValueError("a part of it is no text")
    return raw[_HEADS[raw[0]] :]
