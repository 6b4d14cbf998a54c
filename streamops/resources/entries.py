"""Entries: rows, columns and JSON."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct

from streamops.model.authority import StreamPart, is_part_of
from streamops.model.dead_letters import ORIGIN_ID, PAYLOAD, REPLAY_OF, read_dead_letter
from streamops.model.entries import EntryId, StreamEntry, id_age
from streamops.model.envelopes import Envelope, read_envelope
from streamops.model.json_text import Json, payload_json, text_json
from streamops.model.streams import StreamRole
from streamops.model.text import name_text
from streamops.resources.kinds import NAME_WIDTH, of_rows, seconds
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


ORIGIN = b"_so_origin"
ATTEMPT = b"_so_attempt"


class ReferenceKind(StrEnum):
    """What is referred to."""

    PAYLOAD = "payload"
    ORIGIN = "origin"
    DEAD_LETTER = "letter"


class Reference(Struct, frozen=True, kw_only=True):
    """Something that an entry refers to. Nothing here is safe to show yet.

    Attributes:
        kind: What it is.
        words: What it is to the entry, in words.
        stream: The stream of the entry referred to; empty for a payload.
        id: That entry's ID; none for a payload.
        key: The payload's key; empty for an entry.
    """

    kind: ReferenceKind
    words: str
    stream: str = ""
    id: EntryId | None = None
    key: str = ""


def references_of(
    entry: StreamEntry,
    stream: str,
    role: StreamRole = StreamRole.EVENTS,
    source: str | None = None,
    queue: str | None = None,
) -> tuple[Reference, ...]:
    """What an entry of a stream refers to.

    Args:
        entry: The entry.
        stream: Its stream.
        role: What the stream is for.
        source: The stream that it serves, if it is a dead-letter queue or a retry stream.
        queue: The dead-letter queue of the stream, if one is known.
    """
    fields = dict(entry.fields)
    found: list[Reference] = []
    key = _text(fields.get(PAYLOAD))
    if is_part_of(key, source or stream, StreamPart.PAYLOADS):
        found.append(Reference(kind=ReferenceKind.PAYLOAD, words="its payload, in a key of its own", key=key))
    found += (
        _dead_letter(entry, stream, source) if role is StreamRole.DEAD_LETTERS else _origin(fields, source)
    )
    if queue is not None:
        found += _replays(entry, queue)
    return tuple(found)


def _replays(entry: StreamEntry, queue: str) -> list[Reference]:
    """The letters that an entry was replayed from, the oldest first: each replay adds its letter's ID."""
    ids = (_id(value) for name, value in entry.fields if name == REPLAY_OF)
    words = "the dead letter that this was replayed from"
    return [
        Reference(kind=ReferenceKind.DEAD_LETTER, words=words, stream=queue, id=one) for one in ids if one
    ]


def _dead_letter(entry: StreamEntry, queue: str, source: str | None) -> list[Reference]:
    letter = read_dead_letter(entry, queue, source)
    if letter.origin is None or letter.origin_id is None:
        return []
    given_up = f", by group {letter.group}" if letter.group else ""
    reason = f": {letter.reason}" if letter.reason else ""
    words = f"the entry that was dead-lettered{given_up}{reason}"
    found = [Reference(kind=ReferenceKind.ORIGIN, words=words, stream=letter.origin, id=letter.origin_id)]
    if letter.born_id is not None and letter.born_id != letter.origin_id:
        found.append(
            Reference(
                kind=ReferenceKind.ORIGIN,
                words="the entry before any replay",
                stream=letter.origin,
                id=letter.born_id,
            )
        )
    return found


def _origin(fields: dict[bytes, bytes], source: str | None) -> list[Reference]:
    """The entry that a retry, or a replay, was made of."""
    stream, origin_id = _text(fields.get(ORIGIN)) or source, _id(fields.get(ORIGIN_ID))
    if stream is None or not stream or origin_id is None:
        return []
    attempt = _text(fields.get(ATTEMPT))
    words = (
        f"the entry that this is attempt {attempt} of" if attempt else "the entry that this one was made from"
    )
    return [Reference(kind=ReferenceKind.ORIGIN, words=words, stream=stream, id=origin_id)]


def _text(value: bytes | None) -> str:
    return "" if value is None else name_text(value)


def _id(value: bytes | None) -> EntryId | None:
    try:
        return EntryId.parse(value) if value else None
    except ValueError:
        return None
