"""From what was found about one entry to its story, in the order of an entry's life."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from streamops.analysis.letters import ORIGIN_ID, REPLAY_OF
from streamops.analysis.wording import counted, idleness, span
from streamops.model.delayed import ATTEMPT
from streamops.model.entries import Entry, PendingEntry
from streamops.model.ids import EntryId
from streamops.model.letters import DeadLetter
from streamops.model.stories import Acted, InGroup, Story, StoryEvent, StoryFacts, StoryKind

SECOND: Final = timedelta(seconds=1)
NO_ACKS: Final = "When it was acknowledged, and by whom: Redis keeps no trace of that."
LAST_OWNER: Final = "To whom it was delivered before its last delivery: Redis keeps the last owner alone."


def tell_story(facts: StoryFacts) -> Story:
    """What became of an entry, and what of that is not known."""
    events = (
        *_birth(facts),
        *(event for group in facts.groups for event in _in_group(facts, group)),
        *map(_action, facts.actions),
        *_retries(facts),
        *(_letter(letter) for letter in facts.letters),
        *(_copy(facts, entry) for entry in facts.copies),
    )
    unknown = (*facts.unknown, *_never_known(facts, events))
    return Story(stream=facts.stream, id=facts.id, events=events, unknown=unknown, now=facts.now)


def _never_known(facts: StoryFacts, events: tuple[StoryEvent, ...]) -> Iterator[str]:
    done = any(event.kind is StoryKind.DONE for event in events)
    if done:
        yield NO_ACKS
    if done or any(group.row is not None and group.row.delivery_count > 1 for group in facts.groups):
        yield LAST_OWNER


def born_as(entry: Entry | None) -> EntryId | None:
    """The ID that an entry had before it was retried or replayed; none where it says none."""
    return next((_id(value) for name, value in entry.fields if name == ORIGIN_ID), None) if entry else None


def _birth(facts: StoryFacts) -> Iterator[StoryEvent]:
    entry, at = facts.entry, facts.id.time
    if entry is None:
        yield StoryEvent(kind=StoryKind.GONE, text=_absence(facts), at=None)
        return
    size = counted(len(entry.fields), "field", "fields")
    yield StoryEvent(
        kind=StoryKind.ADDED, text=f"added to {facts.stream}: {size}, {entry.size:,} bytes", at=at
    )
    told = dict(entry.fields)
    if (letter := told.get(REPLAY_OF)) is not None:
        text = f"it is a replay of dead letter {_text(letter)}"
        origin = born_as(entry)
        if origin is not None and origin != facts.id:
            text += f", which was born as entry {origin}"
        yield StoryEvent(kind=StoryKind.AGAIN, text=text)
    elif (attempt := told.get(ATTEMPT)) is not None:
        text = f"it is attempt {_text(attempt)} of entry {_text(told.get(ORIGIN_ID, b'?'))}"
        yield StoryEvent(kind=StoryKind.AGAIN, text=text)


def _absence(facts: StoryFacts) -> str:
    if facts.last_generated_id is not None and facts.id > facts.last_generated_id:
        return f"never was in {facts.stream}: its highest ID so far is {facts.last_generated_id}"
    if facts.first_id is not None and facts.id > facts.first_id:
        return f"is not in {facts.stream}: it was deleted, or never was there"
    return f"is not in {facts.stream}: it was trimmed or deleted, or never was there"


def _in_group(facts: StoryFacts, group: InGroup) -> Iterator[StoryEvent]:
    row, name = group.row, group.group
    if row is not None:
        text = (
            f"{name}: pending with {row.consumer}, delivered {counted(row.delivery_count, 'time', 'times')}"
            f"{_last_delivered(row)}"
        )
        at = None if facts.now is None or row.free else facts.now - row.idle
        yield StoryEvent(kind=StoryKind.PENDING, text=text, at=at)
    elif group.problem:
        yield StoryEvent(kind=StoryKind.WAITING, text=f"{name}: could not be asked: {group.problem}")
    elif facts.id > group.position:
        yield StoryEvent(kind=StoryKind.WAITING, text=f"{name}: not delivered yet")
    elif any(letter.group == name for letter in facts.letters):
        yield StoryEvent(kind=StoryKind.DONE, text=f"{name}: not pending: it gave the entry up")
    else:
        text = f"{name}: not pending: acknowledged, or the group was set past it (Redis does not tell which)"
        yield StoryEvent(kind=StoryKind.DONE, text=text)
    if group.marks:
        starts = counted(group.marks, "start was", "starts were")
        text = f"{name}: {starts} marked: its worker began that often after the first time"
        yield StoryEvent(kind=StoryKind.MARKED, text=text)


def _last_delivered(row: PendingEntry) -> str:
    if row.free:
        return ", free for any consumer"
    return f", the last {span(row.idle) if row.idle >= SECOND else 'less than a second'} ago"


def _action(acted: Acted) -> StoryEvent:
    row = acted.row
    text = (
        f"{acted.operation} of {acted.target} by {acted.actor}: before, {row.consumer} had it,"
        f" delivered {counted(row.delivery_count, 'time', 'times')}, {idleness(row)}"
    )
    return StoryEvent(kind=StoryKind.ACTION, text=text, at=acted.at)


def _retries(facts: StoryFacts) -> Iterator[StoryEvent]:
    for message in facts.waiting:
        body = message.body
        which = "" if body is None or not body.group else f" for {body.group}, attempt {body.attempt}"
        text = f"a retry{which} waits in the delayed queue as {message.id}"
        yield StoryEvent(kind=StoryKind.RETRY, text=text, at=message.due_at)
    for stream, group, entry in facts.retried:
        text = f"a retry for {group} is in {stream} as {entry.id}"
        yield StoryEvent(kind=StoryKind.RETRY, text=text, at=entry.id.time, stream=stream, id=entry.id)


def _letter(letter: DeadLetter) -> StoryEvent:
    tried = "" if letter.deliveries is None else f", delivered {counted(letter.deliveries, 'time', 'times')}"
    why = f" of {letter.reason}" if letter.reason else ""
    error = f": {letter.error}" if letter.error else ""
    text = f"{letter.group or 'a group'} gave it up{why}{tried}{error}; it is {letter.queue} {letter.id}"
    return StoryEvent(kind=StoryKind.DEAD, text=text, at=letter.failed_at, stream=letter.queue, id=letter.id)


def _copy(facts: StoryFacts, entry: Entry) -> StoryEvent:
    letter = _text(dict(entry.fields).get(REPLAY_OF, b"?"))
    text = f"replayed as {entry.id}, from dead letter {letter}"
    return StoryEvent(kind=StoryKind.AGAIN, text=text, at=entry.id.time, stream=facts.stream, id=entry.id)


def _id(value: bytes) -> EntryId | None:
    try:
        return EntryId.parse(value)
    except ValueError:
        return None


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")
