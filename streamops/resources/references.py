"""What an entry refers to: its payload beside its stream, the entry it was made of, the letter it was replayed from. Pure."""

from enum import StrEnum

from msgspec import Struct

from streamops.model.authority import StreamPart, is_part_of
from streamops.model.dead_letters import ORIGIN_ID, PAYLOAD, REPLAY_OF, read_dead_letter
from streamops.model.entries import EntryId, StreamEntry
from streamops.model.streams import StreamRole
from streamops.model.text import name_text

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
        source: The stream that it serves, where it is a dead-letter queue or a retry stream.
        queue: The dead-letter queue of the stream, where one is known.
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
    given_up = f", given up by {letter.group}" if letter.group else ""
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
    words = f"the entry that this is attempt {attempt} of" if attempt else "the entry that this was made of"
    return [Reference(kind=ReferenceKind.ORIGIN, words=words, stream=stream, id=origin_id)]


def _text(value: bytes | None) -> str:
    return "" if value is None else name_text(value)


def _id(value: bytes | None) -> EntryId | None:
    try:
        return EntryId.parse(value) if value else None
    except ValueError:
        return None
