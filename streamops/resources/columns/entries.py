"""Entries: what ``streams tail`` and ``streams search`` show, one line each."""

from typing import Final

from streamops.resources.cells import NAME_WIDTH
from streamops.resources.columns.kinds import of_rows
from streamops.resources.entries import preview
from streamops.resources.rows import EntryRow
from streamops.resources.table import Cell, Column, Tone
from streamops.resources.units import rfc3339, timestamp

PREVIEW_WIDTH: Final = 60


def _time(row: EntryRow) -> Cell:
    moment = row.entry.id.time
    return Cell("unavailable", Tone.UNKNOWN) if moment is None else Cell(timestamp(moment))


def _time_value(row: EntryRow) -> str | None:
    moment = row.entry.id.time
    return None if moment is None else rfc3339(moment)


ENTRY = of_rows(EntryRow, "the entry as it was read")

ENTRY_COLUMNS: Final[tuple[Column[EntryRow], ...]] = (
    ENTRY.text("stream", "STREAM", NAME_WIDTH, lambda row: row.stream, flexible=True, priority=3).means(
        "The stream's key.", "SCAN TYPE stream, or the names in the configuration"
    ),
    ENTRY.id("id", "ID", 20, lambda row: row.entry.id, priority=0).means(
        "The entry's ID.", "XRANGE or XREVRANGE"
    ),
    ENTRY.column("time", "TIME", 20, _time_value, _time, rank=lambda row: row.entry.id).means(
        "The instant in the ID, in UTC: when the server took the entry, unless its producer chose the ID.",
        "the first part of the ID, in milliseconds",
    ),
    ENTRY.size("size", "SIZE", 10, lambda row: row.entry.size, priority=2).means(
        "Bytes of all field names and values."
    ),
    ENTRY.count("field_count", "FIELDS", 6, lambda row: len(row.entry.fields), priority=3).means(
        "How many fields the entry has."
    ),
    ENTRY.text(
        "preview", "CONTENT", PREVIEW_WIDTH, lambda row: preview(row.entry), flexible=True, priority=0
    ).means(
        "The first fields and values, cut to the width; control characters and bytes that are not UTF-8 are escaped.",
        "the entry as it was read; known envelopes of other libraries are opened",
    ),
)
