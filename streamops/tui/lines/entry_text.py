"""One entry as text with parts one can stand on: what it refers to, and its fields, each decoded as one wants. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

from msgspec import Struct

from streamops.model.deliveries import KeptPayload
from streamops.model.entries import PendingEntry, StreamEntry
from streamops.model.wording import counted, span
from streamops.resources.entries import Reference, ReferenceKind
from streamops.resources.payloads import (
    NAME_BYTES,
    Decoding,
    ValueView,
    decode_as,
    envelope_fields,
)
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe, safe_bytes
from streamops.resources.units import count, duration, size
from streamops.tui.lines.details import paragraph
from streamops.tui.lines.payload import GUESSED, MOST_LINES, head_lines, value_lines
from streamops.tui.widgets.paint import BLANK_LINE, Line, cell_width

SHOWN_BYTES: Final = 64 * 1024
LEAST_BYTES: Final = 512
"""What is shown of a field however much the fields before it took."""

INDENT: Final = 4
GAP: Final = 2
LONGEST_NAME: Final = 20
"""Cells that short values leave for the names before them."""

HERE: Final = "▸"
CYCLE: Final = (
    Decoding.AUTO,
    Decoding.JSON,
    Decoding.MSGPACK,
    Decoding.PROTOBUF,
    Decoding.TEXT,
    Decoding.HEX,
)


class EntryPart(Struct, frozen=True):
    """Something of an entry that one can stand on: a value, or a reference.

    Attributes:
        name: What it is called, safe to show.
        value: The value; none for a reference that was not read.
        reference: What is referred to; none for a value of the entry's own.
        about: What is known of it besides, in words.
    """

    name: str
    value: bytes | None = None
    reference: Reference | None = None
    about: str = ""


def parts_of(
    entry: StreamEntry, references: Sequence[Reference], payloads: Mapping[str, KeptPayload | str]
) -> tuple[EntryPart, ...]:
    """What an entry refers to, then its fields, then what another library put into an envelope among them.

    Args:
        entry: The entry.
        references: What it refers to.
        payloads: Payloads that were read, by their keys; or why they could not be.
    """
    return (
        *(_reference_part(reference, payloads) for reference in references),
        *(EntryPart(safe_bytes(name, NAME_BYTES) or "(no name)", value) for name, value in entry.fields),
        *(
            EntryPart(f"envelope ▸ {safe_bytes(name, NAME_BYTES)}", value)
            for name, value in envelope_fields(entry)
        ),
    )


def _reference_part(reference: Reference, payloads: Mapping[str, KeptPayload | str]) -> EntryPart:
    if reference.kind is not ReferenceKind.PAYLOAD:
        name = f"{safe(reference.stream)} {reference.id}"
        return EntryPart(name, None, reference, f"{safe(reference.words)} (Enter)")
    kept = payloads.get(reference.key)
    name = safe(reference.key)
    match kept:
        case None:
            return EntryPart(name, None, reference, f"{safe(reference.words)} · Enter reads it")
        case str():
            return EntryPart(name, None, reference, f"{safe(reference.words)} · {safe(kept)}")
        case _:
            stays = "without expiry" if kept.ttl is None else f"for {duration(kept.ttl)} more"
            return EntryPart(name, kept.head, reference, f"{size(kept.size)}, kept {stays}")


def row_words(row: PendingEntry) -> str:
    """An entry's pending row in words. Not yet safe to show."""
    deliveries = f"delivered {counted(row.delivery_count, 'time', 'times')}"
    if row.free:
        return f"pending, free for any consumer, {deliveries}"
    return f"pending with {row.consumer}, {deliveries}, last delivered or claimed {span(row.idle)} ago"


class EntryText(Struct, frozen=True):
    """The text for one width.

    Attributes:
        lines: Its lines.
        anchors: The line at which each part begins.
    """

    lines: tuple[Line, ...]
    anchors: tuple[int, ...]


def entry_text(
    entry: StreamEntry,
    parts: Sequence[EntryPart],
    now: datetime | None,
    width: int,
    *,
    pending: str = "",
    at: int = 0,
    decodings: Mapping[int, Decoding] | None = None,
    every: Decoding = Decoding.AUTO,
) -> EntryText:
    """Build the text of an entry.

    Args:
        entry: The entry.
        parts: Its parts.
        now: The server's clock; None if it is not known.
        width: Cells there are.
        pending: Who owns it in the group that it was opened from, safe to show; empty if it was not opened as pending.
        at: The part one stands on.
        decodings: How single parts are taken, by their place.
        every: How all others are.
    """
    lines: list[Line] = head_lines(entry, now, width)
    if pending:
        lines[-1:] = [*paragraph(pending, width, Tone.PLAIN), BLANK_LINE]
    anchors: list[int] = []
    room, apart = SHOWN_BYTES, False
    names = min(max((cell_width(part.name) for part in parts if not part.reference), default=0), LONGEST_NAME)
    for number, part in enumerate(parts):
        decoding = (decodings or {}).get(number, every)
        drawn = _Part(part, decoding, max(room, LEAST_BYTES), here=number == at).lines(width, names)
        room -= len(part.value or b"")
        # What takes one line stands together, what takes several stands apart.
        if number and (apart or len(drawn) > 1 or (parts[number - 1].reference and not part.reference)):
            lines.append(BLANK_LINE)
        apart = len(drawn) > 1
        anchors.append(len(lines))
        if len(lines) <= MOST_LINES:
            lines += drawn
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], (Cell(f" cut after {count(MOST_LINES)} lines", Tone.WARN),)]
    return EntryText(tuple(lines), tuple(min(anchor, len(lines) - 1) for anchor in anchors))


class _Part:
    """A part as it is drawn: decoded as somebody wants, at most so many bytes of it."""

    def __init__(self, part: EntryPart, decoding: Decoding, limit: int, *, here: bool) -> None:
        self._part = part
        self._view = None if part.value is None else _decoded(part.value, decoding, limit)
        self._notes = " · ".join([*([part.about] if part.about else []), *_notes(part, self._view, decoding)])
        self._mark = Cell(HERE if here else " ", Tone.OK)
        self._tone = Tone.STRONG if here else Tone.OK

    def lines(self, width: int, names: int) -> list[Line]:
        """Its lines: one where all of it fits there."""
        view, name = self._view, self._part.name
        shown = () if view is None else view.lines_in(width)
        if view is not None and len(shown) <= 1 and not self._part.reference:
            text, label = "".join(shown), name.ljust(names + len(name) - cell_width(name))
            if cell_width(f"{label}{text}{self._notes}") + 2 * GAP + 2 <= width:
                notes = Cell(f"{' ' * GAP if text else ''}{self._notes}", Tone.DIM)
                return [(self._mark, Cell(label, self._tone), Cell(" " * GAP), Cell(text), notes)]
        return [*self._title(width), *self._body(width)]

    def _title(self, width: int) -> list[Line]:
        arrow = "→ " if self._part.reference else ""
        head = (self._mark, Cell(f"{arrow}{self._part.name}", self._tone))
        if cell_width(f"{arrow}{self._part.name}{self._notes}") + GAP + 2 <= width:
            return [(*head, Cell(f"{' ' * GAP}{self._notes}", Tone.DIM))]
        return [head, *paragraph(self._notes, width, Tone.DIM, indent=GAP)]

    def _body(self, width: int) -> list[Line]:
        if self._view is None:
            return []
        room, kind = max(width - INDENT - 1, 1), self._view.kind
        return [
            line
            for text in self._view.lines_in(room)[:MOST_LINES]
            for line in value_lines(text, kind, room, " " * INDENT)
        ]


def _notes(part: EntryPart, view: ValueView | None, decoding: Decoding) -> list[str]:
    """What the value was taken for, how large it is, and what was left out."""
    if view is None:
        return []
    kind = GUESSED[view.kind] if decoding is Decoding.AUTO else str(view.kind)
    notes = [kind] if part.about else [kind, size(len(part.value or b""))]
    if view.note:
        more = "; Enter pages all of it" if "first " in view.note else ""
        notes.append(f"{view.note}{more}")
    return notes


@lru_cache(maxsize=64)
def _decoded(value: bytes, decoding: Decoding, limit: int) -> ValueView:
    return decode_as(value, decoding, limit)
