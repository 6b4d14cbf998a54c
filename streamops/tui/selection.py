"""What the cursor is on, for an action to act on, and which key opens the plan of which operation. Pure and light."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.ids import EntryId
from streamops.model.observation import Observation
from streamops.model.streams import StreamRole
from streamops.tui.routes import (
    Delayed,
    Entries,
    Group,
    Letters,
    OneDelayed,
    OneEntry,
    OneLetter,
    Pending,
    Place,
    Stream,
    Trace,
)


class Sort(StrEnum):
    """What kind of thing a subject is."""

    STREAM = "stream"
    DEAD_LETTERS = "dead letters"
    GROUP = "group"
    CONSUMER = "consumer"
    PENDING = "pending entries"
    ENTRY = "entries"
    LETTER = "letters"
    QUEUE = "delayed messages"
    MESSAGE = "messages"
    TOPIC = "topic"
    TOPIC_OFF = "topic that is off"
    POOL = "pool"
    POOL_PAUSED = "pool that is paused"


class Subject(Struct, frozen=True, kw_only=True):
    """What an action would act on.

    Attributes:
        sort: What kind of thing it is.
        stream: Its stream.
        group: Its group; none where it is no group's.
        consumer: Its consumer, or the owner; none where there is none.
        ids: The entries: those that are marked, else those that a filter shows, else the one under the cursor.
        dead_letters: Whether the stream is a dead-letter queue.
        where: The expression that holds of all letters that are meant; empty where IDs say which, or nothing does.
        messages: IDs of delayed messages.
        chosen: How many of the rows of a list these are, in words: ``2 shown of 7``; empty for the one under the cursor.
        topic: A topic of HTTP callbacks; none where it is none.
        pool: A pool of workers; none where it is none.
        steered: Whether its controller was told not to follow its policy.
    """

    sort: Sort
    stream: str = ""
    group: str | None = None
    consumer: str | None = None
    ids: tuple[EntryId, ...] = ()
    dead_letters: bool = False
    where: str = ""
    messages: tuple[str, ...] = ()
    chosen: str = ""
    topic: str | None = None
    pool: str | None = None
    steered: bool = False


class Verb(Struct, frozen=True):
    """A key and the operation whose plan it opens.

    Attributes:
        key: The key, a capital.
        operation: The operation's name.
        word: What it does, in a word or two.
        sorts: The subjects that it fits.
        dead_letters: Whether the stream has to be a dead-letter queue.
        edits: Whether its form asks for the fields of the letters too.
        steered: Whether the pool's controller has to have been told not to follow its policy, or must not; none for
            either.
    """

    key: str
    operation: str
    word: str
    sorts: frozenset[Sort]
    dead_letters: bool = False
    edits: bool = False
    steered: bool | None = None


_OF_STREAM: Final = frozenset({Sort.STREAM, Sort.DEAD_LETTERS, Sort.ENTRY})
_OF_GROUP: Final = frozenset({Sort.GROUP, Sort.CONSUMER, Sort.PENDING})
_PENDING: Final = frozenset({Sort.PENDING})
_LETTER: Final = frozenset({Sort.LETTER})
_DELAYED: Final = frozenset({Sort.QUEUE, Sort.MESSAGE})
_POOL: Final = frozenset({Sort.POOL, Sort.POOL_PAUSED})
VERBS: Final[tuple[Verb, ...]] = (
    Verb("C", "claim", "claim", _OF_GROUP),
    Verb("A", "ack", "acknowledge", _PENDING),
    Verb("N", "nack", "give back", _PENDING),
    Verb("D", "streams.rm-entry", "delete entries", frozenset({Sort.PENDING, Sort.ENTRY})),
    Verb("D", "dlq.purge", "purge", frozenset({Sort.DEAD_LETTERS})),
    Verb("D", "dlq.purge", "delete", _LETTER),
    Verb("D", "delayed.cancel", "cancel", _DELAYED),
    Verb("R", "replay", "replay", _OF_STREAM | _LETTER, dead_letters=True),
    Verb("R", "delayed.run-now", "run now", _DELAYED),
    Verb("E", "replay", "edit, replay", _LETTER | {Sort.ENTRY}, dead_letters=True, edits=True),
    Verb("T", "trim", "trim", frozenset({Sort.STREAM, Sort.GROUP, Sort.ENTRY})),
    Verb("W", "groups.rewind", "rewind", frozenset({Sort.GROUP, Sort.CONSUMER})),
    Verb("X", "groups.destroy", "destroy", frozenset({Sort.GROUP})),
    Verb("X", "consumers.rm", "remove", frozenset({Sort.CONSUMER})),
    Verb("P", "topics.off", "switch off", frozenset({Sort.TOPIC})),
    Verb("P", "topics.on", "switch on", frozenset({Sort.TOPIC_OFF})),
    Verb("X", "topics.rm", "remove", frozenset({Sort.TOPIC, Sort.TOPIC_OFF})),
    Verb("P", "pause", "pause pool", frozenset({Sort.POOL})),
    Verb("P", "resume", "resume pool", frozenset({Sort.POOL_PAUSED})),
    Verb("S", "scale.set", "scale", _POOL),
    Verb("A", "autoscale.pause", "pause scaling", _POOL, steered=False),
    Verb("A", "autoscale.resume", "resume scaling", _POOL, steered=True),
    Verb("O", "autoscale.override", "override", _POOL),
    Verb("L", "autoscale.limits", "limits", _POOL),
)
KEYS: Final = tuple(sorted({verb.key for verb in VERBS}))


def subject_at(place: Place, *, dead_letters: bool) -> Subject | None:
    """What a place is about, or the place that a row leads to; none where it is about everything.

    Args:
        place: The place.
        dead_letters: Whether its stream is a dead-letter queue.
    """
    match place:
        case Stream(stream) | Entries(stream):
            sort = Sort.DEAD_LETTERS if dead_letters else Sort.STREAM
            return Subject(sort=sort, stream=stream, dead_letters=dead_letters)
        case Group(stream, group):
            return Subject(sort=Sort.GROUP, stream=stream, group=group, dead_letters=dead_letters)
        case Pending(stream, group, consumer):
            sort = Sort.GROUP if consumer is None else Sort.CONSUMER
            return Subject(
                sort=sort, stream=stream, group=group, consumer=consumer, dead_letters=dead_letters
            )
        case OneEntry(stream, entry_id, group=group, consumer=consumer):
            return Subject(
                sort=Sort.ENTRY if group is None else Sort.PENDING,
                stream=stream,
                group=group,
                consumer=consumer,
                ids=(entry_id,),
                dead_letters=dead_letters,
            )
        case Trace(stream, entry_id):
            return Subject(sort=Sort.ENTRY, stream=stream, ids=(entry_id,), dead_letters=dead_letters)
    return _beside(place)


def _beside(place: Place) -> Subject | None:
    """What a place is about that is about a queue beside a stream, or about one thing in it."""
    match place:
        case Letters(queue):
            return Subject(sort=Sort.DEAD_LETTERS, stream=queue, dead_letters=True)
        case OneLetter(queue, entry_id):
            return Subject(sort=Sort.LETTER, stream=queue, ids=(entry_id,), dead_letters=True)
        case Delayed(stream):
            return Subject(sort=Sort.QUEUE, stream=stream)
        case OneDelayed(stream, message):
            return Subject(sort=Sort.MESSAGE, stream=stream, messages=(message,))
    return None


def together(subjects: Iterable[Subject | None]) -> Subject | None:
    """Several rows of one list as one subject; their owner where it is the same one. None for none."""
    found = [subject for subject in subjects if subject is not None]
    if not found:
        return None
    ids = tuple(entry_id for subject in found for entry_id in subject.ids)
    messages = tuple(message for subject in found for message in subject.messages)
    owners = {subject.consumer for subject in found}
    owner = owners.pop() if len(owners) == 1 else None
    return replace(found[0], ids=ids, messages=messages, consumer=owner)


def holds_dead_letters(observation: Observation | None, stream: str) -> bool:
    """Whether a stream was seen to be a dead-letter queue."""
    streams = () if observation is None else observation.streams
    return any(view.stream.name == stream and view.stream.role is StreamRole.DEAD_LETTERS for view in streams)


def queue_of(observation: Observation | None, stream: str) -> str | None:
    """The dead-letter queue of a stream, or the stream itself where it is one; none where none was seen."""
    if holds_dead_letters(observation, stream):
        return stream
    streams = () if observation is None else observation.streams
    states = (view.stream for view in streams)
    return next(
        (one.name for one in states if one.role is StreamRole.DEAD_LETTERS and one.source == stream), None
    )


def fitting(subject: Subject | None) -> tuple[Verb, ...]:
    """The verbs with a key that fit a subject; none fit none."""
    if subject is None:
        return ()
    return tuple(
        verb
        for verb in VERBS
        if subject.sort in verb.sorts
        and (subject.dead_letters or not verb.dead_letters)
        and verb.steered in (None, subject.steered)
    )


def verb_of(key: str, subject: Subject | None) -> Verb | None:
    """What a key does to a subject; none where it does nothing."""
    return next((verb for verb in fitting(subject) if verb.key == key), None)
