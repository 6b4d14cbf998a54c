"""An entry with its payload, as lines. Pure; what is cut is said."""

import re
from datetime import datetime
from typing import Final

from streamops.model.entries import StreamEntry, id_age
from streamops.model.wording import counted
from streamops.resources.payloads import FieldView, ValueKind, render_entry
from streamops.resources.table import Cell, Tone
from streamops.resources.units import UNKNOWN, count, duration, size, timestamp
from streamops.tui.lines.details import paragraph
from streamops.tui.widgets.paint import BLANK_LINE, Line, chop

SHOWN_BYTES: Final = 64 * 1024
MOST_LINES: Final = 20_000
INDENT: Final = "  "


def entry_lines(
    entry: StreamEntry, now: datetime | None, width: int, *, limit: int = SHOWN_BYTES, raw: bool = False
) -> list[Line]:
    """An entry in full: its ID, time and size, then every field with its value.

    Args:
        entry: The entry.
        now: The server's clock; None if it is not known.
        width: Cells there are.
        limit: Bytes of payload to show.
        raw: Show text as it came, without decoding anything.
    """
    head = head_lines(entry, now, width)
    return [*head, *field_lines(entry, width, limit=limit, raw=raw, most=MOST_LINES - len(head))]


def field_lines(
    entry: StreamEntry, width: int, *, limit: int = SHOWN_BYTES, raw: bool = False, most: int = MOST_LINES
) -> list[Line]:
    """Every field of an entry with its value, in at most so many lines and one that says what was cut."""
    lines: list[Line] = []
    for field in render_entry(entry, limit, raw=raw):
        lines += _field(field, width)
        if len(lines) > most:
            return [*lines[:most], (Cell(f" cut after {count(MOST_LINES)} lines", Tone.WARN),)]
    return lines


def own_fields(entry: StreamEntry, width: int, *, limit: int = SHOWN_BYTES, raw: bool = False) -> list[Line]:
    """The fields of an entry under a heading, apart from what is said about it."""
    about = f"{counted(len(entry.fields), 'field', 'fields')} · {size(entry.size)}"
    heading: Line = (Cell(" The entry", Tone.STRONG), Cell(f"  {about}", Tone.DIM))
    return [heading, *field_lines(entry, width, limit=limit, raw=raw)]


def head_lines(entry: StreamEntry, now: datetime | None, width: int) -> list[Line]:
    """An entry's ID, time and size."""
    about = f"{_time(entry, now)} · {counted(len(entry.fields), 'field', 'fields')} · {size(entry.size)}"
    return [(Cell(f" {entry.id}", Tone.STRONG),), *paragraph(about, width, Tone.DIM), BLANK_LINE]


def _time(entry: StreamEntry, now: datetime | None) -> str:
    app_state = entry.id.time
    if app_state is None:
        return "the ID is not a timestamp"
    age = id_age(entry.id, now)
    return timestamp(app_state) if age is None else f"{timestamp(app_state)}, {duration(age)} ago"


def _field(field: FieldView, width: int) -> list[Line]:
    value = field.value
    notes = [] if value.kind is ValueKind.TEXT else [GUESSED[value.kind]]
    notes.append(size(value.size))
    notes += [value.note] if value.note else []
    title = (Cell(f" {field.name or UNKNOWN}", Tone.OK), Cell(f"  {' · '.join(notes)}", Tone.DIM))
    lines: list[Line] = [title]
    room = width - 2 * len(INDENT) - 1
    for text in value.lines_in(room)[:MOST_LINES]:
        lines += value_lines(text, value.kind, room, INDENT + INDENT)
    return lines


GUESSED: Final = {
    ValueKind.JSON: "JSON (detected)",
    ValueKind.MSGPACK: "MessagePack (detected)",
    ValueKind.PROTOBUF: "protobuf (detected)",
    ValueKind.HEX: "binary, shown as hex",
    ValueKind.TEXT: "text",
    ValueKind.EMPTY: "empty",
}
"""What a value is called by what it was found to be."""
_JSON_LINE: Final = re.compile(r'( *)("(?:[^"\\]|\\.)*")(: ?)?(.*)')
_LINES: Final = {
    ValueKind.JSON: _JSON_LINE,
    ValueKind.MSGPACK: _JSON_LINE,
    ValueKind.PROTOBUF: re.compile(r"( *)(\d+)( [A-Z0-9]+ )(.*)"),
}
"""Indentation, name, what stands between, and value."""


def value_lines(text: str, kind: ValueKind, width: int, indent: str) -> list[Line]:
    """One line of a value, wrapped; of what is taken apart, names and values have different tones."""
    pieces = chop(text, width)
    found = _LINES[kind].fullmatch(text) if kind in _LINES and len(pieces) == 1 else None
    if found is None or not found[3]:
        return [(Cell(indent + piece),) for piece in pieces]
    blanks, name, between, rest = found.groups()
    is_word = rest[:1] not in ('"', "{", "[", "")
    return [
        (
            Cell(f"{indent}{blanks}"),
            Cell(name, Tone.OK),
            Cell(between, Tone.DIM),
            Cell(rest, Tone.STRONG if is_word else Tone.PLAIN),
        )
    ]
