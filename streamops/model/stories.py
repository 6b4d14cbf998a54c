"""Stories: what became of one entry, as far as Redis knows."""

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from streamops.model.delayed import DelayedMessage
from streamops.model.entries import Entry, PendingEntry
from streamops.model.ids import EntryId
from streamops.model.letters import DeadLetter


class StoryKind(StrEnum):
    """What happened."""

    ADDED = "added"
    GONE = "gone"
    WAITING = "waiting"
    PENDING = "pending"
    DONE = "done"
    MARKED = "marked"
    RETRY = "retry"
    DEAD = "dead"
    AGAIN = "again"
    ACTION = "action"


class StoryEvent(Struct, frozen=True, kw_only=True):
    """One thing that happened to an entry, or is so now.

    Attributes:
        kind: What.
        text: In a sentence. Not yet safe to show.
        at: When, by the server's clock; none where that is not kept.
        stream: Where the entry, letter or retry that this is about is to be found; empty for nowhere.
        id: Its ID there; none for nothing.
    """

    kind: StoryKind
    text: str
    at: datetime | None = None
    stream: str = ""
    id: EntryId | None = None


class Story(Struct, frozen=True, kw_only=True):
    """What became of one entry.

    Attributes:
        stream: The stream that it was added to.
        id: Its ID there.
        events: What is known, in the order of an entry's life.
        unknown: What is not known, and why, in sentences. Not yet safe to show.
        now: The server's clock; none where it may not be asked.
    """

    stream: str
    id: EntryId
    events: tuple[StoryEvent, ...]
    unknown: tuple[str, ...]
    now: datetime | None


class InGroup(Struct, frozen=True, kw_only=True):
    """How one group stands to an entry.

    Attributes:
        group: The group.
        position: Its last delivered ID.
        row: The entry's pending row; none where it is not pending there.
        marks: How many of its starts were marked; none where that could not be read.
        problem: Why the row could not be read; empty where it could.
    """

    group: str
    position: EntryId
    row: PendingEntry | None = None
    marks: int | None = 0
    problem: str = ""


class Acted(Struct, frozen=True, kw_only=True):
    """An action of the audit log that had to do with an entry.

    Attributes:
        audit_id: The action.
        at: When it began; none where that cannot be told.
        operation: What was done.
        target: To what.
        actor: By whom.
        row: The entry's pending row as it was before.
    """

    audit_id: str
    at: datetime | None
    operation: str
    target: str
    actor: str
    row: PendingEntry


class StoryFacts(Struct, frozen=True, kw_only=True):
    """Everything that was found about one entry, before it is told.

    Attributes:
        stream: The stream.
        id: The entry's ID there.
        entry: The entry; none where the stream does not have it.
        first_id: The first ID of the stream; none where it is empty, or that was not read.
        last_generated_id: The highest ID that it ever had; none where that was not read.
        groups: How its groups stand to the entry.
        waiting: Retries that wait in the delayed queue.
        retried: Retries in the retry streams, each with its stream and group.
        letters: Its dead letters that are in their queue.
        copies: Entries of the stream that are replays of it.
        actions: Actions that changed its pending rows.
        unknown: What could not be looked at, or not in full, in sentences.
        now: The server's clock; none where it may not be asked.
    """

    stream: str
    id: EntryId
    entry: Entry | None
    first_id: EntryId | None = None
    last_generated_id: EntryId | None = None
    groups: tuple[InGroup, ...] = ()
    waiting: tuple[DelayedMessage, ...] = ()
    retried: tuple[tuple[str, str, Entry], ...] = ()
    letters: tuple[DeadLetter, ...] = ()
    copies: tuple[Entry, ...] = ()
    actions: tuple[Acted, ...] = ()
    unknown: tuple[str, ...] = ()
    now: datetime | None = None
