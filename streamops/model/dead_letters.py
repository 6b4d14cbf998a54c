"""Dead letters: entries that a group gave up, the fields that say why, and what they are when replayed. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from streamops.model.entries import EntryId, StreamEntry
from streamops.model.text import name_bytes, name_text

Fields = tuple[tuple[bytes, bytes], ...]


class DeadLetterShape(StrEnum):
    """Who wrote a letter, by its shape."""

    OURS = "ours"
    """The entry's own fields, then reserved ones that say where it came from and why."""

    FOREIGN = "foreign"
    """``{orig_id, reason, payload}`` with the entry's fields as a JSON object."""

    PLAIN = "plain"
    """Anything else: an entry as it stands."""


class DeadLetter(Struct, frozen=True, kw_only=True, gc=False):
    """One dead letter; what it does not say is none or empty.

    Attributes:
        entry: The letter itself, byte for byte.
        queue: The dead-letter queue.
        fields: The entry's own fields, in order and byte for byte.
        shape: Who wrote it.
        origin: The stream that the entry came from; by the queue's name where the letter does not say.
        origin_id: The entry's ID there.
        born_id: The ID that it had before any replay; the same where there was none.
        group: The group that gave it up.
        consumer: The consumer that tried last.
        reason: Why, in one word.
        error: The last error in words.
        deliveries: How often it had been delivered.
        attempt: How often it had been tried.
        failed_at: When it was given up.
        replays: How often it was replayed before.
        payload_key: The key of a payload that is stored outside the stream.
        problem: Why a letter that looks like others' could not be taken apart; empty if it could.
    """

    entry: StreamEntry
    queue: str
    fields: Fields
    shape: DeadLetterShape
    origin: str | None = None
    origin_id: EntryId | None = None
    born_id: EntryId | None = None
    group: str | None = None
    consumer: str | None = None
    reason: str = ""
    error: str = ""
    deliveries: int | None = None
    attempt: int | None = None
    failed_at: datetime | None = None
    replays: int = 0
    payload_key: str | None = None
    problem: str = ""

    @property
    def id(self) -> EntryId:
        """Its ID in the queue."""
        return self.entry.id


class DeadLetterKind(Struct, frozen=True, order=True):
    """What letters have in common: the stream and group they name, and the reason; empty if they do not."""

    stream: str
    group: str
    reason: str


class DeadLetterCounts(Struct, frozen=True):
    """Letters of a queue, counted.

    Attributes:
        letters: How many were counted.
        kinds: How many of each kind, the most frequent first.
        payloads: How many refer to a payload that is kept beside the stream.
        last_id: The last one's ID; None if there is none.
    """

    letters: int
    kinds: tuple[tuple[DeadLetterKind, int], ...] = ()
    payloads: int = 0
    last_id: EntryId | None = None

    @property
    def reasons(self) -> tuple[tuple[str, int], ...]:
        """How many died of each reason, the most frequent first."""
        counts: dict[str, int] = {}
        for kind, number in self.kinds:
            counts[kind.reason] = counts.get(kind.reason, 0) + number
        return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


class QueueSummary(Struct, frozen=True, kw_only=True):
    """A dead-letter queue as a whole.

    Attributes:
        queue: Its name.
        length: How many dead letters it holds.
        source: The stream it serves; None if neither its name nor the configuration tells.
        oldest_id: Its first letter's ID; None if it is empty.
        newest_id: Its last letter's ID.
        tally: The letters that were looked at: a sample if there are many.
        now: The server's clock; None if it may not be asked.
    """

    queue: str
    length: int
    source: str | None
    oldest_id: EntryId | None
    newest_id: EntryId | None
    tally: DeadLetterCounts
    now: datetime | None

    @property
    def coverage(self) -> float:
        """The share of the letters that were looked at."""
        return min(1.0, self.tally.letters / self.length) if self.length else 1.0


PAYLOAD: Final = b"_so_payload"
REPLAY_OF: Final = b"_so_replay_of"
ORIGIN_ID: Final = b"_so_origin_id"

ABOUT: Final = frozenset(
    {
        b"_so_origin",
        ORIGIN_ID,
        b"_so_group",
        b"_so_consumer",
        b"_so_reason",
        b"_so_error",
        b"_so_deliveries",
        b"_so_attempt",
        b"_so_failed_at",
    }
)
"""What a letter says about itself; every other field is the entry's own, and goes with it."""

_FULL_ID: Final = re.compile(rb"\A(0|[1-9][0-9]{0,18})-(0|[1-9][0-9]{0,18})\Z")
_FOREIGN: Final = frozenset({b"orig_id", b"reason", b"payload"})
_OBJECT: Final = msgspec.json.Decoder(dict[str, Raw])


def read_dead_letter(entry: StreamEntry, queue: str, source: str | None) -> DeadLetter:
    """What an entry of a dead-letter queue says. Whatever it holds, it is some letter.

    Args:
        entry: The entry.
        queue: The queue.
        source: The stream that the queue serves, for letters that do not name one.
    """
    about = {name: value for name, value in entry.fields if name in ABOUT and value}
    own = tuple(pair for pair in entry.fields if pair[0] not in ABOUT)
    origin_ids = [EntryId.parse(value) for name, value in entry.fields if name == ORIGIN_ID and _is_id(value)]
    if b"_so_origin" not in about and not origin_ids and {name for name, _ in own} >= _FOREIGN:
        return _foreign(entry, queue, source)
    return DeadLetter(
        entry=entry,
        queue=queue,
        fields=own,
        shape=DeadLetterShape.OURS if about else DeadLetterShape.PLAIN,
        origin=_text(about.get(b"_so_origin")) or source,
        origin_id=origin_ids[-1] if origin_ids else None,
        born_id=origin_ids[0] if origin_ids else None,
        group=_text(about.get(b"_so_group")) or None,
        consumer=_text(about.get(b"_so_consumer")) or None,
        reason=_text(about.get(b"_so_reason")),
        error=_text(about.get(b"_so_error")),
        deliveries=_number(about.get(b"_so_deliveries")),
        attempt=_number(about.get(b"_so_attempt")),
        failed_at=_parse_time(about.get(b"_so_failed_at")) or entry.id.time,
        replays=_replays(own),
        payload_key=_payload(own),
    )


def _foreign(entry: StreamEntry, queue: str, source: str | None) -> DeadLetter:
    told = dict(entry.fields)
    origin_id = EntryId.parse(told[b"orig_id"]) if _is_id(told[b"orig_id"]) else None
    fields, problem = _taken_apart(told[b"payload"])
    return DeadLetter(
        entry=entry,
        queue=queue,
        fields=entry.fields if problem else fields,
        shape=DeadLetterShape.PLAIN if problem else DeadLetterShape.FOREIGN,
        origin=source,
        origin_id=origin_id,
        born_id=origin_id,
        reason=_text(told[b"reason"]),
        failed_at=entry.id.time,
        replays=_replays(fields),
        payload_key=_payload(fields),
        problem=problem,
    )


def _taken_apart(payload: bytes) -> tuple[Fields, str]:
    """The fields of a JSON object, other values than strings as they were written; or why it is none."""
    try:
        members = _OBJECT.decode(payload)
        fields = tuple((name.encode(), _written(raw)) for name, raw in members.items())
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return (), "its payload is no JSON object; it is replayed unchanged"
    return (fields, "") if fields else ((), "its payload has no fields; it is replayed unchanged")


def _written(raw: Raw) -> bytes:
    text = bytes(raw)
    return msgspec.json.decode(text, type=str).encode() if text.startswith(b'"') else text


def republished(letter: DeadLetter, edits: Fields = ()) -> Fields:
    """The fields with which an entry returns to a stream: its own, then where it comes from."""
    return (*edited(letter.fields, edits), *_born(letter), (REPLAY_OF, str(letter.id).encode()))


def retried(letter: DeadLetter, stream: str, group: str, edits: Fields = ()) -> Fields:
    """The fields with which an entry goes to the retry stream of one group."""
    return (
        *edited(letter.fields, edits),
        (b"_so_origin", name_bytes(stream)),
        (ORIGIN_ID, str(letter.born_id or letter.id).encode()),
        (b"_so_group", name_bytes(group)),
        (b"_so_attempt", b"1"),
        (REPLAY_OF, str(letter.id).encode()),
    )


def edited(fields: Fields, edits: Iterable[tuple[bytes, bytes]]) -> Fields:
    """Fields with values put in: at every field of that name, or at the end if there is none."""
    for name, value in edits:
        if any(one == name for one, _ in fields):
            fields = tuple((one, value if one == name else old) for one, old in fields)
        else:
            fields = (*fields, (name, value))
    return fields


def dead_letter_document(letter: DeadLetter, *, with_json: bool = True) -> dict[str, Any]:
    """What an expression sees of a letter: ``{id, time, reason, group, deliveries, error, fields, json}``."""
    # The library behind expressions is paid for by those who filter.
    from streamops.model.expressions import entry_document  # noqa: PLC0415

    return entry_document(StreamEntry(letter.id, letter.fields), with_json=with_json) | {
        "reason": letter.reason,
        "group": letter.group,
        "deliveries": letter.deliveries,
        "error": letter.error,
    }


def kind_of(letter: DeadLetter) -> DeadLetterKind:
    """What it has in common with others."""
    return DeadLetterKind(letter.origin or "", letter.group or "", letter.reason)


def counts_of(letters: Sequence[DeadLetter]) -> DeadLetterCounts:
    """Letters of one queue, counted; they stand in its order."""
    counts: dict[DeadLetterKind, int] = {}
    for letter in letters:
        counts[kind_of(letter)] = counts.get(kind_of(letter), 0) + 1
    return DeadLetterCounts(
        len(letters),
        ordered_kinds(counts),
        sum(letter.payload_key is not None for letter in letters),
        letters[-1].id if letters else None,
    )


def ordered_kinds(counts: Mapping[DeadLetterKind, int]) -> tuple[tuple[DeadLetterKind, int], ...]:
    """Kinds with their numbers, the most frequent first."""
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _born(letter: DeadLetter) -> Fields:
    return () if letter.born_id is None else ((ORIGIN_ID, str(letter.born_id).encode()),)


def _replays(own: Fields) -> int:
    return sum(name == REPLAY_OF for name, _ in own)


def _payload(own: Fields) -> str | None:
    return _text(dict(own).get(PAYLOAD)) or None


def _is_id(value: bytes) -> bool:
    """Whether it is an ID in full, as a server writes it; the script that moves letters judges alike."""
    return _FULL_ID.match(value) is not None


def _number(value: bytes | None) -> int | None:
    # More digits than a counter has are no count.
    return int(value) if value is not None and value.isdigit() and len(value) < len(str(2**63)) else None


def _parse_time(value: bytes | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(_text(value))
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _text(value: bytes | None) -> str:
    return name_text(value or b"")
