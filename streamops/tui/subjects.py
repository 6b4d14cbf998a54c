"""What the cursor is on, for an action to act on, and which key opens the plan of which operation. Pure and light."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.ids import EntryId
from streamops.model.observation import Observation
from streamops.model.streams import StreamRole
from streamops.tui.places import Entries, Group, OneEntry, Pending, Place, Stream


class Sort(StrEnum):
    """What kind of thing a subject is."""

    STREAM = "stream"
    DEAD_LETTERS = "dead letters"
    GROUP = "group"
    CONSUMER = "consumer"
    PENDING = "pending entries"
    ENTRY = "entries"


class Subject(Struct, frozen=True, kw_only=True):
    """What an action would act on.

    Attributes:
        sort: What kind of thing it is.
        stream: Its stream.
        group: Its group; none where it is no group's.
        consumer: Its consumer, or the owner; none where there is none.
        ids: The entries: those that are marked, else the one under the cursor.
        dead_letters: Whether the stream is a dead-letter queue.
    """

    sort: Sort
    stream: str
    group: str | None = None
    consumer: str | None = None
    ids: tuple[EntryId, ...] = ()
    dead_letters: bool = False


class Verb(Struct, frozen=True):
    """A key and the operation whose plan it opens.

    Attributes:
        key: The key, a capital.
        operation: The operation's name.
        word: What it does, in a word or two.
        sorts: The subjects that it fits.
        dead_letters: Whether the stream has to be a dead-letter queue.
    """

    key: str
    operation: str
    word: str
    sorts: frozenset[Sort]
    dead_letters: bool = False


_OF_STREAM: Final = frozenset({Sort.STREAM, Sort.DEAD_LETTERS, Sort.ENTRY})
_OF_GROUP: Final = frozenset({Sort.GROUP, Sort.CONSUMER, Sort.PENDING})
_PENDING: Final = frozenset({Sort.PENDING})
VERBS: Final[tuple[Verb, ...]] = (
    Verb("C", "claim", "claim", _OF_GROUP),
    Verb("A", "ack", "acknowledge", _PENDING),
    Verb("N", "nack", "give back", _PENDING),
    Verb("D", "streams.rm-entry", "delete entries", frozenset({Sort.PENDING, Sort.ENTRY})),
    Verb("D", "dlq.purge", "purge", frozenset({Sort.DEAD_LETTERS})),
    Verb("R", "replay", "replay", _OF_STREAM, dead_letters=True),
    Verb("T", "trim", "trim", frozenset({Sort.STREAM, Sort.GROUP, Sort.ENTRY})),
    Verb("W", "groups.rewind", "rewind", frozenset({Sort.GROUP, Sort.CONSUMER})),
    Verb("X", "groups.destroy", "destroy", frozenset({Sort.GROUP})),
    Verb("X", "consumers.rm", "remove", frozenset({Sort.CONSUMER})),
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
    return None


def together(subjects: Iterable[Subject | None]) -> Subject | None:
    """Several entries of one list as one subject; their owner where it is the same one. None for none."""
    found = [subject for subject in subjects if subject is not None]
    if not found:
        return None
    ids = tuple(entry_id for subject in found for entry_id in subject.ids)
    owners = {subject.consumer for subject in found}
    return replace(found[0], ids=ids, consumer=owners.pop() if len(owners) == 1 else None)


def holds_dead_letters(observation: Observation | None, stream: str) -> bool:
    """Whether a stream was seen to be a dead-letter queue."""
    streams = () if observation is None else observation.streams
    return any(view.stream.name == stream and view.stream.role is StreamRole.DEAD_LETTERS for view in streams)


def fitting(subject: Subject | None) -> tuple[Verb, ...]:
    """The verbs with a key that fit a subject; none fit none."""
    if subject is None:
        return ()
    return tuple(
        verb
        for verb in VERBS
        if subject.sort in verb.sorts and (subject.dead_letters or not verb.dead_letters)
    )


def verb_of(key: str, subject: Subject | None) -> Verb | None:
    """What a key does to a subject; none where it does nothing."""
    return next((verb for verb in fitting(subject) if verb.key == key), None)
