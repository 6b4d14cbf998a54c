"""How one value of an entry is shown: as JSON, MessagePack, protobuf, text or a hex dump, indented, bounded and safe."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from streamops.model.entries import StreamEntry
from streamops.model.envelopes import Envelope, read_envelope
from streamops.resources.decoders import (
    NO_ZSTD,
    ZSTD_MAGIC,
    inflated,
    is_likely,
    protobuf_text,
    read_protobuf,
    zstd_library,
)
from streamops.resources.text import cut_bytes, safe_bytes, safe_lines, shorten
from streamops.resources.units import size

SHOWN_BYTES: Final = 64 * 1024


INDENTED_BYTES: Final = 4 * SHOWN_BYTES


NAME_BYTES: Final = 256


PREVIEW_VALUE_BYTES: Final = 120


PREVIEW_CHARACTERS: Final = 400


HEX_ROWS: Final = (16, 8, 4, 2, 1)
"""Bytes that a line of a hex dump may have."""


LONG_OFFSET, SHORT_OFFSET = 8, 4


# First bytes of MessagePack maps and arrays. Text is tried before: none of these begins valid UTF-8 of a container's length.
_MSGPACK_CONTAINERS: Final = frozenset({*range(0x80, 0xA0), 0xDC, 0xDD, 0xDE, 0xDF})


_ESCAPED: Final = re.compile(r"\\\\|(?:\\u[0-9a-fA-F]{4})+")


MOST_INFLATED: Final = 64 * 1024 * 1024
"""Bytes that a pager is given of what was compressed: a small value may hold gigabytes of zeros."""


_MAGIC: Final = (
    (b"\x1f\x8b", "gzip"),
    (ZSTD_MAGIC, "zstd"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"\x80\x04\x95", "pickle"),
    (b"\x80\x05\x95", "pickle"),
    (b"\xac\xed\x00\x05", "java object"),
)


class ValueKind(StrEnum):
    """What a value was taken for."""

    EMPTY = "empty"
    JSON = "json"
    MSGPACK = "msgpack"
    PROTOBUF = "protobuf"
    TEXT = "text"
    HEX = "hex"


class Decoding(StrEnum):
    """How a value is decoded: by its looks, or as chosen."""

    AUTO = "auto"
    JSON = "json"
    MSGPACK = "msgpack"
    PROTOBUF = "protobuf"
    TEXT = "text"
    HEX = "hex"


class ValueView(Struct, frozen=True):
    """One value, ready to be drawn.

    Attributes:
        kind: What it was taken for.
        size: Bytes of the whole value.
        lines: Its text, safe, without line ends; none of a hex dump.
        note: What was left out or guessed, in words; empty if nothing was.
        dumped: The bytes of a hex dump.
    """

    kind: ValueKind
    size: int
    lines: tuple[str, ...] = ()
    note: str = ""
    dumped: bytes = b""

    def lines_in(self, width: int) -> Sequence[str]:
        """Its lines; those of a hex dump fit into a width in cells."""
        return hex_lines(self.dumped, width) if self.kind is ValueKind.HEX else self.lines


class FieldView(Struct, frozen=True):
    """One field of an entry: its name, safe, and its value."""

    name: str
    value: ValueView


def preview(entry: StreamEntry, width: int = PREVIEW_CHARACTERS) -> str:
    """The fields of an entry as one line ``name=value name=value``, at most ``width`` characters.

    What another library put into an envelope is shown out of it.
    """
    if (envelope := read_envelope(entry.fields)) is not None:
        return shorten(_opened(envelope), width)
    parts: list[str] = []
    room = width
    for name, value in entry.fields:
        if room <= 0:
            break
        part = f"{safe_bytes(name, NAME_BYTES)}={safe_bytes(value, min(PREVIEW_VALUE_BYTES, room + 1))}"
        parts.append(part)
        room -= len(part) + 1
    return shorten(" ".join(parts), width)


def envelope_fields(entry: StreamEntry) -> tuple[tuple[bytes, bytes], ...]:
    """What another library put into an envelope, as fields; None if it is in none that is known."""
    envelope = read_envelope(entry.fields)
    if envelope is None:
        return ()
    told = (
        ("library", envelope.library),
        *((("task", envelope.task),) if envelope.task else ()),
        *envelope.headers,
    )
    return (*((name.encode(), value.encode()) for name, value in told), (b"body", envelope.body))


def _opened(envelope: Envelope) -> str:
    words = (envelope.library.encode(), envelope.task.encode(), envelope.body[:PREVIEW_CHARACTERS])
    return " ".join(safe_bytes(word, PREVIEW_CHARACTERS) for word in words if word)


def render_entry(entry: StreamEntry, limit: int = SHOWN_BYTES, *, raw: bool = False) -> tuple[FieldView, ...]:
    """Render the fields of an entry in order; all values together show at most ``limit`` bytes.

    Args:
        entry: The entry.
        limit: Bytes of payload to show.
        raw: Show text as it came, without decoding anything.
    """
    views: list[FieldView] = []
    room = limit
    for name, value in entry.fields:
        views.append(FieldView(safe_bytes(name, NAME_BYTES), render_value(value, max(room, 0), raw=raw)))
        room -= len(value) + len(name)
    return tuple(views)


def render_value(value: bytes, limit: int = SHOWN_BYTES, *, raw: bool = False) -> ValueView:
    """Render one value; at most ``limit`` bytes of it are looked at. Arguments as for ``render_entry``."""
    if not value:
        return ValueView(ValueKind.EMPTY, 0, ())
    head, rest = cut_bytes(value, limit)
    note = f"first {size(len(head))} of {size(len(value))}" if rest else ""
    try:
        text = head.decode()
    except UnicodeDecodeError:
        return _binary(value, head, note, raw=raw)
    indented = None if rest or raw else _indented_json(text)
    if indented is not None:
        return _cut(ValueKind.JSON, len(value), indented)
    return ValueView(ValueKind.TEXT, len(value), tuple(safe_lines(text).split("\n")), note)


def decode_as(value: bytes, decoding: Decoding, limit: int = SHOWN_BYTES) -> ValueView:
    """Render one value in a chosen encoding; if it is not in that one, the note says so, and it is shown as it looks.

    Args:
        value: The value.
        decoding: What to take it for.
        limit: Bytes of it to look at; JSON, MessagePack and protobuf cannot be taken apart in part.
    """
    head, rest = cut_bytes(value, limit)
    note = f"first {size(len(head))} of {size(len(value))}" if rest else ""
    match decoding:
        case Decoding.HEX if value:
            return ValueView(ValueKind.HEX, len(value), note=note, dumped=head)
        case Decoding.TEXT if value:
            text = head.decode("utf-8", "backslashreplace")
            return ValueView(ValueKind.TEXT, len(value), tuple(safe_lines(text).split("\n")), note)
        case Decoding.JSON | Decoding.MSGPACK | Decoding.PROTOBUF if value:
            return _insisted(value, ValueKind(decoding.value), limit, cut=bool(rest))
        case _:
            return render_value(value, limit)


def whole_text(value: bytes, decoding: Decoding = Decoding.AUTO) -> bytes:
    """All of a value for a pager, decoded and indented if it can be; nothing is made safe and nothing is cut."""
    if decoding is Decoding.AUTO and (inner := inflated(value, MOST_INFLATED)) is not None and inner.content:
        value = inner.content
    kind = (
        decode_as(value, decoding, len(value)).kind
        if len(value) <= SHOWN_BYTES
        else _kind_of(value, decoding)
    )
    take_apart = _TAKEN_APART.get(kind)
    if take_apart is not None and (text := take_apart(value)) is not None:
        return text.encode()
    return "\n".join(hex_lines(value)).encode() if kind in {ValueKind.HEX, ValueKind.PROTOBUF} else value


def _kind_of(value: bytes, decoding: Decoding) -> ValueKind:
    """What a large value is to be shown as; whether it is that shows when it is decoded."""
    if decoding is not Decoding.AUTO:
        return ValueKind(decoding.value)
    if value.lstrip()[:1] in (b"{", b"["):
        return ValueKind.JSON
    if value[0] in _MSGPACK_CONTAINERS:
        return ValueKind.MSGPACK
    return ValueKind.TEXT if _is_text(value) else ValueKind.HEX


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _insisted(value: bytes, kind: ValueKind, limit: int, *, cut: bool) -> ValueView:
    if cut:
        why = f"too large to be taken apart as {kind} here"
    else:
        indented = _TAKEN_APART[kind](value)
        if indented is not None:
            return _cut(kind, len(value), indented)
        why = f"not {kind}"
    shown = render_value(value, limit, raw=True)
    return replace(shown, note=", ".join(filter(None, (why, shown.note))))


def _any_json(value: bytes) -> str | None:
    """Any JSON value indented, numbers and strings too."""
    try:
        msgspec.json.decode(value)
        return msgspec.json.format(value, indent=2).decode()
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _indented_json(text: str) -> str | None:
    """The text indented if it is a JSON object or array; numbers and repeated keys stay as they were written."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        msgspec.json.decode(text)
        return msgspec.json.format(text, indent=2)
    except (msgspec.DecodeError, RecursionError):
        return None


def _binary(value: bytes, head: bytes, note: str, *, raw: bool) -> ValueView:
    if not raw and (inner := inflated(value, SHOWN_BYTES)) is not None and inner.content:
        # Once: what is inside itself, compressed, would never end.
        view = render_value(inner.content) if _is_text(inner.content) else _taken_apart(inner.content)
        more = f", the first {size(len(inner.content))}" if inner.cut else ""
        told = f"{inner.name} inflated{more}"
        return replace(view, size=len(value), note=", ".join(filter(None, (told, view.note))))
    guess = next((f"looks like {name}" for magic, name in _MAGIC if value.startswith(magic)), "")
    if value.startswith(ZSTD_MAGIC) and zstd_library() is None:
        guess = NO_ZSTD
    if not (note or raw or guess):
        return _taken_apart(value)
    return ValueView(ValueKind.HEX, len(value), note=", ".join(filter(None, (guess, note))), dumped=head)


def _taken_apart(value: bytes) -> ValueView:
    """Bytes that are no text, as MessagePack or protobuf where they look like it."""
    if value[0] in _MSGPACK_CONTAINERS and (unpacked := _indented_msgpack(value)) is not None:
        return _cut(ValueKind.MSGPACK, len(value), unpacked)
    if (fields := read_protobuf(value)) is not None and is_likely(fields):
        return _cut(ValueKind.PROTOBUF, len(value), protobuf_text(fields))
    return ValueView(ValueKind.HEX, len(value), dumped=value)


def _indented_msgpack(value: bytes) -> str | None:
    try:
        unpacked: Any = msgspec.msgpack.decode(value)
        return msgspec.json.format(msgspec.json.encode(unpacked), indent=2).decode()
    except (msgspec.MsgspecError, RecursionError, TypeError, ValueError, OverflowError):
        return None


def _protobuf(value: bytes) -> str | None:
    fields = read_protobuf(value)
    return None if fields is None else protobuf_text(fields)


_TAKEN_APART: Final[Mapping[ValueKind, Callable[[bytes], str | None]]] = {
    ValueKind.JSON: _any_json,
    ValueKind.MSGPACK: _indented_msgpack,
    ValueKind.PROTOBUF: _protobuf,
}


def _cut(kind: ValueKind, whole: int, indented: str) -> ValueView:
    """Indentation can multiply a text: bound what comes out as well."""
    note = f"cut after {size(INDENTED_BYTES)} of indented text" if len(indented) > INDENTED_BYTES else ""
    text = _ESCAPED.sub(_unescaped, indented[:INDENTED_BYTES])
    return ValueView(kind, whole, tuple(safe_lines(text).split("\n")), note)


def _unescaped(escaped: re.Match[str]) -> str:
    """The characters that escapes by code point stand for; those that would not be seen, or would end the string, stay escaped."""
    if escaped[0] == "\\\\":
        return escaped[0]
    text: str = json.loads(f'"{escaped[0]}"')
    return text if text.isprintable() and not {'"', "\\"} & {*text} else escaped[0]


def hex_lines(value: bytes, width: int | None = None) -> list[str]:
    """A hex dump as ``hexdump -C`` has it: offset, sixteen bytes, and the printable ASCII among them.

    Args:
        value: The bytes.
        width: Cells that a line may take: a narrow one has shorter offsets and fewer bytes; none for as many as there are.
    """
    row, digits = _hex_shape(len(value), width)
    lines = []
    for offset in range(0, len(value), row):
        part = value[offset : offset + row]
        shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in part)  # noqa: PLR2004 - printable ASCII
        lines.append(f"{offset:0{digits}x}  {part.hex(' '):<{3 * row - 1}}  |{shown}|")
    return lines


def _hex_shape(size: int, width: int | None) -> tuple[int, int]:
    """How many bytes a line of a hex dump has, and how many digits its offset."""
    offsets = (LONG_OFFSET, SHORT_OFFSET) if size <= 1 << 4 * SHORT_OFFSET else (LONG_OFFSET,)
    shapes = [(row, digits) for row in HEX_ROWS for digits in offsets]
    # Between its three parts, and around the last one, are six cells.
    fitting = (shape for shape in shapes if width is None or shape[1] + 4 * shape[0] + 5 <= width)
    return next(fitting, shapes[-1])
