"""Entry trace: what became of one entry, as far as Redis knows, in sentences. Pure."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct

from streamops.model.acting import Outcome
from streamops.model.dead_letters import ORIGIN_ID, REPLAY_OF, DeadLetter
from streamops.model.delayed import ATTEMPT, DelayedMessage
from streamops.model.entries import EntryId, PendingEntry, StreamEntry
from streamops.model.wording import counted, idleness, span

SECOND: Final = timedelta(seconds=1)
NO_ACKS: Final = "When it was acknowledged, and by which consumer: Redis does not record it."
LAST_OWNER: Final = "Earlier deliveries: Redis keeps only the last owner."


class TraceKind(StrEnum):
    """What happened."""

    ADDED = "added"
    GONE = "gone"
    WAITING = "waiting"
    PENDING = "pending"
    DONE = "done"
    UNKNOWN = "unknown"
    MARKED = "marked"
    RETRY = "retry"
    DEAD = "dead"
    AGAIN = "again"
    ACTION = "action"


class TraceEvent(Struct, frozen=True):
    """One thing that happened to an entry, or is so now.

    Attributes:
        kind: What.
        text: In a sentence. Not yet safe to show.
        at: When, by the server's clock; none if that is not kept.
        stream: The stream of the entry, dead letter or retry that this is about; empty for none.
        id: Its ID there; none for nothing.
    """

    kind: TraceKind
    text: str
    at: datetime | None = None
    stream: str = ""
    id: EntryId | None = None


class EntryTrace(Struct, frozen=True, kw_only=True):
    """What became of one entry.

    Attributes:
        stream: The stream that it was added to.
        id: Its ID there.
        events: What is known, in the order of an entry's life.
        unknown: What is not known, and why, in sentences. Not yet safe to show.
        now: The server's clock; none if it may not be asked.
    """

    stream: str
    id: EntryId
    events: tuple[TraceEvent, ...]
    unknown: tuple[str, ...]
    now: datetime | None


class InGroup(Struct, frozen=True, kw_only=True):
    """How one group stands to an entry.

    Attributes:
        group: The group.
        position: Its last delivered ID.
        row: The entry's pending row; none if it is not pending there.
        marks: How many of its starts were marked; none if that could not be read.
        problem: Why the row could not be read; empty if it could.
    """

    group: str
    position: EntryId
    row: PendingEntry | None = None
    marks: int | None = 0
    problem: str = ""


def origin_of(entry: StreamEntry | None) -> EntryId | None:
    """The ID that an entry had before it was retried or replayed; none if it says none."""
    return _id_field(entry, ORIGIN_ID) if entry else None


def replay_of(entry: StreamEntry) -> EntryId | None:
    """The dead letter that an entry was added for by a replay; none if it says none."""
    return _id_field(entry, REPLAY_OF)


def added(stream: str, entry: StreamEntry) -> Iterator[TraceEvent]:
    """That an entry was added, and what it says it is a retry or replay of."""
    size = counted(len(entry.fields), "field", "fields")
    yield TraceEvent(TraceKind.ADDED, f"added to {stream}: {size}, {entry.size:,} bytes", entry.id.time)
    fields = dict(entry.fields)
    if (letter := fields.get(REPLAY_OF)) is not None:
        text = f"it is a replay of dead letter {_text(letter)}"
        origin = origin_of(entry)
        if origin is not None and origin != entry.id:
            text += f", first added as entry {origin}"
        yield TraceEvent(TraceKind.AGAIN, text)
    elif (attempt := fields.get(ATTEMPT)) is not None:
        text = f"it is attempt {_text(attempt)} of entry {_text(fields.get(ORIGIN_ID, b'?'))}"
        yield TraceEvent(TraceKind.AGAIN, text)


def gone(
    stream: str,
    entry_id: EntryId,
    first: EntryId | None,
    last: EntryId | None,
    *,
    was_there: bool = False,
    was_replayed: bool = False,
) -> TraceEvent:
    """That a stream does not have an entry.

    Args:
        stream: The stream.
        entry_id: The entry.
        first: The stream's first ID, where known.
        last: The highest that it ever had, where known.
        was_there: Whether a pending row or a dead letter proves that it had the entry.
        was_replayed: Whether the entry is a dead letter that was replayed.
    """
    if was_replayed:
        return TraceEvent(TraceKind.GONE, f"is no longer in {stream}: it was replayed")
    never = "" if was_there else ", or never added"
    if last is not None and entry_id > last and not was_there:
        text = f"was never in {stream}: its highest ID so far is {last}"
    elif first is not None and entry_id > first:
        text = f"is not in {stream}: it was deleted{never}"
    else:
        text = f"is not in {stream}: it was trimmed or deleted{never}"
    return TraceEvent(TraceKind.GONE, text)


def in_group(
    entry_id: EntryId,
    group: InGroup,
    now: datetime | None,
    *,
    dead_lettered: bool,
    is_gone: bool = False,
    was_there: bool = False,
) -> Iterator[TraceEvent]:
    """How a group stands to an entry.

    Args:
        entry_id: The entry.
        group: What was read of the group.
        now: The server's clock; none if it may not be asked.
        dead_lettered: Whether a dead letter of that group is known.
        is_gone: Whether the stream does not have the entry.
        was_there: Whether a pending row or a dead letter proves that it had the entry.
    """
    row, name = group.row, group.group
    if row is not None:
        delivered = counted(row.delivery_count, "time", "times")
        text = f"{name}: pending with {row.consumer}, delivered {delivered}{_last_delivered(row)}"
        yield TraceEvent(TraceKind.PENDING, text, None if now is None or row.free else now - row.idle)
    elif group.problem:
        yield TraceEvent(TraceKind.WAITING, f"{name}: could not be asked: {group.problem}")
    elif entry_id > group.position:
        never = "never delivered: it is not in the stream" if is_gone else "not delivered yet"
        yield TraceEvent(TraceKind.WAITING, f"{name}: {never}")
    elif dead_lettered:
        yield TraceEvent(TraceKind.DEAD, f"{name}: not pending: dead-lettered")
    elif is_gone:
        which = (
            "acknowledged or passed over"
            if was_there
            else "acknowledged, passed over, or never in the stream"
        )
        text = f"{name}: not pending: {which} (Redis does not record which)"
        yield TraceEvent(TraceKind.UNKNOWN, text)
    else:
        text = f"{name}: not pending: acknowledged, or passed over by a new position of the group (Redis does not record which)"
        yield TraceEvent(TraceKind.DONE, text)
    if group.marks:
        starts = counted(group.marks, "start was", "starts were")
        text = f"{name}: {starts} marked: its worker began that often after the first time"
        yield TraceEvent(TraceKind.MARKED, text)


def acted_on(what: str, row: PendingEntry, at: datetime | None, undone_by: str = "") -> TraceEvent:
    """That an operator's action changed the entry's pending row, given as it was before, and whether it was undone."""
    delivered = counted(row.delivery_count, "time", "times")
    text = f"{what}: before it, pending with {row.consumer}, delivered {delivered}, {idleness(row)}"
    if undone_by:
        text += f"; undone by action {undone_by}"
    return TraceEvent(TraceKind.ACTION, text, at)


def removed_by(what: str, at: datetime | None, outcome: Outcome, *, named: bool) -> TraceEvent:
    """That an operator's action removed entries of the stream: this one by its ID, or some below an ID, no list of which is kept."""
    which = ", this one by its ID"
    if not named:
        # Actions of earlier releases did not keep the ID.
        below = f" below {outcome.removed_below}" if outcome.removed_below else ", the oldest of the stream"
        which = f"{below}, perhaps this one among them"
    text = f"{what}: removed {counted(outcome.applied, 'entry', 'entries')}{which}"
    return TraceEvent(TraceKind.ACTION, text, at)


def waiting_retry(message: DelayedMessage) -> TraceEvent:
    """That a retry waits in the delayed queue."""
    body = message.body
    which = "" if body is None or not body.group else f" for {body.group}, attempt {body.attempt}"
    return TraceEvent(
        TraceKind.RETRY, f"a retry{which} waits in the delayed queue as {message.id}", message.due_at
    )


def retry(stream: str, group: str, entry: StreamEntry) -> TraceEvent:
    """That a retry for a group is in its retry stream."""
    text = f"a retry for {group} is in {stream} as {entry.id}"
    return TraceEvent(TraceKind.RETRY, text, entry.id.time, stream, entry.id)


def dead_lettered(letter: DeadLetter) -> TraceEvent:
    """That a group gave the entry up."""
    tried = "" if letter.deliveries is None else f", delivered {counted(letter.deliveries, 'time', 'times')}"
    why = f" ({letter.reason})" if letter.reason else ""
    error = f": {letter.error}" if letter.error else ""
    gave_up = f"{letter.group or 'a group'} dead-lettered it{why}{tried}{error}"
    text = f"{gave_up}; the entry is now {letter.id} in the dead-letter queue {letter.queue}"
    return TraceEvent(TraceKind.DEAD, text, letter.failed_at, letter.queue, letter.id)


def replayed(stream: str, entry: StreamEntry) -> TraceEvent:
    """That a replay of the entry is in a stream."""
    letter = _text(dict(entry.fields).get(REPLAY_OF, b"?"))
    text = f"replayed as {entry.id}, from dead letter {letter}"
    return TraceEvent(TraceKind.AGAIN, text, entry.id.time, stream, entry.id)


def never_known(events: Iterable[TraceEvent], groups: Iterable[InGroup]) -> Iterator[str]:
    """What Redis does not keep of what happened."""
    done = any(event.kind in {TraceKind.DONE, TraceKind.UNKNOWN, TraceKind.DEAD} for event in events)
    if done:
        yield NO_ACKS
    if done or any(group.row is not None and group.row.delivery_count > 1 for group in groups):
        yield LAST_OWNER


def _last_delivered(row: PendingEntry) -> str:
    if row.free:
        return ", free for any consumer"
    return f", the last {span(row.idle) if row.idle >= SECOND else 'less than a second'} ago"


def _id_field(entry: StreamEntry, name: bytes) -> EntryId | None:
    return next((_id(value) for field, value in entry.fields if field == name), None)


def _id(value: bytes) -> EntryId | None:
    try:
        return EntryId.parse(value)
    except ValueError:
        return None


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")
