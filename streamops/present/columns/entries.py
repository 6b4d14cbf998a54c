"""Entries: what ``streams tail`` and ``streams search`` show, one line each."""

from typing import Final

from streamops.present.cells import NAME_WIDTH, count_cell, id_cell, name_cell
from streamops.present.entries import preview
from streamops.present.rows import EntryRow
from streamops.present.table import Align, Cell, Column, Tone
from streamops.present.units import rfc3339, size, timestamp

PREVIEW_WIDTH: Final = 60


def _time(row: EntryRow) -> Cell:
    moment = row.entry.id.time
    return Cell("unavailable", Tone.UNKNOWN) if moment is None else Cell(timestamp(moment))


def _time_value(row: EntryRow) -> str | None:
    moment = row.entry.id.time
    return None if moment is None else rfc3339(moment)


ENTRY_COLUMNS: Final[tuple[Column[EntryRow], ...]] = (
    Column(
        key="stream",
        title="STREAM",
        help="The stream's key.",
        source="SCAN TYPE stream, or the names in the configuration",
        cell=lambda row: name_cell(row.stream),
        value=lambda row: row.stream,
        width=NAME_WIDTH,
        flexible=True,
        priority=3,
    ),
    Column(
        key="id",
        title="ID",
        help="The entry's ID.",
        source="XRANGE or XREVRANGE",
        cell=lambda row: id_cell(row.entry.id),
        value=lambda row: str(row.entry.id),
        rank=lambda row: row.entry.id,
        width=20,
        priority=0,
    ),
    Column(
        key="time",
        title="TIME",
        help="The instant in the ID, in UTC: when the server took the entry, unless its producer chose the ID.",
        source="the first part of the ID, in milliseconds",
        cell=_time,
        value=_time_value,
        rank=lambda row: row.entry.id,
        width=20,
    ),
    Column(
        key="size",
        title="SIZE",
        help="Bytes of all field names and values.",
        source="the entry as it was read",
        cell=lambda row: Cell(size(row.entry.size)),
        value=lambda row: row.entry.size,
        width=10,
        align=Align.RIGHT,
        priority=2,
        descending=True,
    ),
    Column(
        key="field_count",
        title="FIELDS",
        help="How many fields the entry has.",
        source="the entry as it was read",
        cell=lambda row: count_cell(len(row.entry.fields)),
        value=lambda row: len(row.entry.fields),
        width=6,
        align=Align.RIGHT,
        priority=3,
        descending=True,
    ),
    Column(
        key="preview",
        title="CONTENT",
        help="The first fields and values, cut to the width; control characters and bytes that are not UTF-8 are escaped.",
        source="the entry as it was read; known envelopes of other libraries are opened",
        cell=lambda row: Cell(preview(row.entry)),
        value=lambda row: preview(row.entry),
        width=PREVIEW_WIDTH,
        flexible=True,
        priority=0,
    ),
)
