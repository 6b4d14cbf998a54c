"""How one entry is shown: each value as JSON, MessagePack, text or a hex dump, indented, bounded and safe."""

import json
import re
import zlib
from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import Struct

from streamops.model.entries import StreamEntry
from streamops.model.envelopes import Envelope, read_envelope
from streamops.present.text import cut_bytes, safe_bytes, safe_lines, shorten
from streamops.present.units import size

SHOWN_BYTES: Final = 64 * 1024
INDENTED_BYTES: Final = 4 * SHOWN_BYTES
NAME_BYTES: Final = 256
PREVIEW_VALUE_BYTES: Final = 120
PREVIEW_CHARACTERS: Final = 400
HEX_WIDTH: Final = 16

# First bytes of MessagePack maps and arrays. Text is tried before: none of these begins valid UTF-8 of a container's length.
_MSGPACK_CONTAINERS: Final = frozenset({*range(0x80, 0xA0), 0xDC, 0xDD, 0xDE, 0xDF})
_GZIP_OR_ZLIB: Final = 47
"""What tells zlib to look for the header of either."""
_ESCAPED: Final = re.compile(r"\\\\|(?:\\u[0-9a-fA-F]{4})+")
MOST_INFLATED: Final = 64 * 1024 * 1024
"""Bytes that a pager is given of what was compressed: a small value may hold gigabytes of zeros."""
_MAGIC: Final = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
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
    TEXT = "text"
    HEX = "hex"


class Decoding(StrEnum):
    """How a value is to be taken: as it looks, or as somebody says."""

    AUTO = "auto"
    JSON = "json"
    MSGPACK = "msgpack"
    TEXT = "text"
    HEX = "hex"


class ValueView(Struct, frozen=True):
    """One value, ready to be drawn.

    Attributes:
        kind: What it was taken for.
        size: Bytes of the whole value.
        lines: Its text, safe, without line ends.
        note: What was left out or guessed, in words; empty where nothing was.
    """

    kind: ValueKind
    size: int
    lines: tuple[str, ...]
    note: str = ""


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
    """What another library put into an envelope, as fields; none where it is in none that is known."""
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
        raw: Show text as it came, without decoding JSON or MessagePack.
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
    """Render one value as somebody says it is; where it is not, the note says so, and it is shown as it looks.

    Args:
        value: The value.
        decoding: What to take it for.
        limit: Bytes of it to look at; JSON and MessagePack cannot be taken apart in part.
    """
    head, rest = cut_bytes(value, limit)
    note = f"first {size(len(head))} of {size(len(value))}" if rest else ""
    match decoding:
        case Decoding.HEX if value:
            return ValueView(ValueKind.HEX, len(value), tuple(hex_lines(head)), note)
        case Decoding.TEXT if value:
            text = head.decode("utf-8", "backslashreplace")
            return ValueView(ValueKind.TEXT, len(value), tuple(safe_lines(text).split("\n")), note)
        case Decoding.JSON | Decoding.MSGPACK if value:
            return _insisted(value, decoding, limit, cut=bool(rest))
        case _:
            return render_value(value, limit)


def whole_text(value: bytes, decoding: Decoding = Decoding.AUTO) -> bytes:
    """All of a value for a pager, decoded and indented where it can be; nothing is made safe and nothing is cut."""
    if decoding is Decoding.AUTO and (inner := inflated(value, MOST_INFLATED)) is not None and inner.content:
        value = inner.content
    kind = (
        decode_as(value, decoding, len(value)).kind
        if len(value) <= SHOWN_BYTES
        else _kind_of(value, decoding)
    )
    if kind is ValueKind.JSON and (text := _any_json(value)) is not None:
        return text.encode()
    if kind is ValueKind.MSGPACK and (text := _indented_msgpack(value)) is not None:
        return text.encode()
    return "\n".join(hex_lines(value)).encode() if kind is ValueKind.HEX else value


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


def _insisted(value: bytes, decoding: Decoding, limit: int, *, cut: bool) -> ValueView:
    kind = ValueKind.JSON if decoding is Decoding.JSON else ValueKind.MSGPACK
    if cut:
        why = f"too large to be taken apart as {kind} here"
    else:
        indented = _any_json(value) if kind is ValueKind.JSON else _indented_msgpack(value)
        if indented is not None:
            return _cut(kind, len(value), indented)
        why = f"not {kind}"
    shown = render_value(value, limit, raw=True)
    return ValueView(shown.kind, shown.size, shown.lines, ", ".join(filter(None, (why, shown.note))))


def _any_json(value: bytes) -> str | None:
    """Any JSON value indented, numbers and strings too."""
    try:
        msgspec.json.decode(value)
        return msgspec.json.format(value, indent=2).decode()
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _indented_json(text: str) -> str | None:
    """The text indented where it is a JSON object or array; numbers and repeated keys stay as they were written."""
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
        view = _plain(inner.content)
        more = f", the first {size(len(inner.content))}" if inner.cut else ""
        told = f"{inner.name} inflated{more}"
        return ValueView(view.kind, len(value), view.lines, ", ".join(filter(None, (told, view.note))))
    unpacked = None if note or raw or value[0] not in _MSGPACK_CONTAINERS else _indented_msgpack(value)
    if unpacked is not None:
        return _cut(ValueKind.MSGPACK, len(value), unpacked)
    guess = next((f"looks like {name}" for magic, name in _MAGIC if value.startswith(magic)), "")
    words = ", ".join(part for part in (guess, note) if part)
    return ValueView(ValueKind.HEX, len(value), tuple(hex_lines(head)), words)


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
    """What a value of gzip or zlib holds, at most ``limit`` bytes of it; none where it is neither."""
    is_gzip = value.startswith(b"\x1f\x8b")
    # A header of zlib is a multiple of 31, so that few other bytes look like one.
    is_zlib = value[:1] == b"\x78" and int.from_bytes(value[:2]) % 31 == 0
    if not (is_gzip or is_zlib):
        return None
    inflater = zlib.decompressobj(_GZIP_OR_ZLIB)
    try:
        content = inflater.decompress(value, limit)
    except zlib.error:
        return None
    return Inflated("gzip" if is_gzip else "zlib", content, not inflater.eof)


def _plain(content: bytes) -> ValueView:
    if _is_text(content):
        return render_value(content)
    unpacked = _indented_msgpack(content) if content[0] in _MSGPACK_CONTAINERS else None
    if unpacked is not None:
        return _cut(ValueKind.MSGPACK, len(content), unpacked)
    return ValueView(ValueKind.HEX, len(content), tuple(hex_lines(content)))


def _indented_msgpack(value: bytes) -> str | None:
    try:
        unpacked: Any = msgspec.msgpack.decode(value)
        return msgspec.json.format(msgspec.json.encode(unpacked), indent=2).decode()
    except (msgspec.MsgspecError, RecursionError, TypeError, ValueError, OverflowError):
        return None


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


def hex_lines(value: bytes) -> list[str]:
    """A hex dump as ``hexdump -C`` has it: offset, sixteen bytes, and the printable ASCII among them."""
    lines = []
    for offset in range(0, len(value), HEX_WIDTH):
        row = value[offset : offset + HEX_WIDTH]
        shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)  # noqa: PLR2004 - printable ASCII
        lines.append(f"{offset:08x}  {row.hex(' '):<47}  |{shown}|")
    return lines
