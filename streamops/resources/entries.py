"""Entries: rows, columns and JSON."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from streamops.model.entries import StreamEntry, id_age
from streamops.model.envelopes import Envelope, read_envelope
from streamops.model.json_text import Json, payload_json, text_json
from streamops.resources.cells import NAME_WIDTH, seconds
from streamops.resources.kinds import of_rows
from streamops.resources.payloads import preview
from streamops.resources.table import Cell, Column, Resource, Tone
from streamops.resources.units import rfc3339, timestamp


class EntryRow(Struct, frozen=True):
    """An entry with the name of its stream."""

    stream: str
    entry: StreamEntry


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


def entry_json(stream: str, entry: StreamEntry, now: datetime | None = None) -> Json:
    """One entry, with what ``fields_json`` tells."""
    told = fields_json(entry.fields)
    document: Json = {
        "stream": text_json(stream),
        "id": str(entry.id),
        "time": None if entry.id.time is None else rfc3339(entry.id.time),
        "fields": told["fields"],
    }
    if now is not None:
        document["age_seconds"] = seconds(id_age(entry.id, now))
    return document | told


def fields_json(pairs: Sequence[tuple[bytes, bytes]]) -> Json:
    """``fields`` by name, and where a name repeats or is binary, ``pairs`` with all of them in order.

    ``envelope`` is what another library put into one, taken out of it.
    """
    told = [(payload_json(name), payload_json(value)) for name, value in pairs]
    fields = {name: value for name, value in told if isinstance(name, str)}
    document: Json = {"fields": fields}
    if len(fields) < len(told):
        document["pairs"] = [list(pair) for pair in told]
    if (envelope := read_envelope(tuple(pairs))) is not None:
        document["envelope"] = _envelope_json(envelope)
    return document


def _envelope_json(envelope: Envelope) -> Json:
    return {
        "library": envelope.library,
        "task": envelope.task or None,
        "headers": dict(envelope.headers),
        "body": payload_json(envelope.body),
    }


ENTRIES: Final = Resource[EntryRow](
    key=lambda row: row.entry.id,
    columns=ENTRY_COLUMNS,
    text=lambda row: f"{row.entry.id} {preview(row.entry)}",
)
