"""What the cursor is on, for an action to act on, and which key opens the plan of which operation. Pure and light."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.entries import EntryId
from streamops.model.observation import StreamView
from streamops.model.streams import StreamRole
from streamops.tui.routes import (
    DeadLetterEntriesRoute,
    DeadLetterRoute,
    DelayedMessageRoute,
    DelayedRoute,
    EntriesRoute,
    EntryRoute,
    GroupRoute,
    PendingRoute,
    Route,
    StreamRoute,
    TraceRoute,
)


class SelectionKind(StrEnum):
    """What kind of thing a subject is."""

    STREAM = "stream"
    DEAD_LETTERS = "dead-letter queue"
    GROUP = "group"
    CONSUMER = "consumer"
    PENDING = "pending entries"
    ENTRY = "entries"
    DEAD_LETTER = "dead letters"
    QUEUE = "delayed queue"
    MESSAGE = "delayed messages"
    TOPIC = "topic"
    TOPIC_OFF = "paused topic"
    POOL = "pool"
    POOL_PAUSED = "paused pool"


class Selection(Struct, frozen=True, kw_only=True):
    """What an action would act on.

    Attributes:
        sort: What kind of thing it is.
        stream: Its stream.
        group: Its group; None if it is no group's.
        consumer: Its consumer, or the owner; None if there is none.
        ids: The entries: those that are marked, else those that a filter shows, else the one under the cursor.
        dead_letters: Whether the stream is a dead-letter queue.
        where: The expression that holds of all letters that are meant; empty if IDs say which, or nothing does.
        messages: IDs of delayed messages.
        chosen: How many of the rows of a list these are, in words: ``2 shown of 7``; empty for the one under the cursor.
        topic: A topic of HTTP callbacks; None if it is none.
        pool: A pool of workers; None if it is none.
        steered: Whether its controller was told not to follow its policy.
    """

    sort: SelectionKind
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
    sorts: frozenset[SelectionKind]
    dead_letters: bool = False
    edits: bool = False
    steered: bool | None = None

    @property
    def nouns(self) -> str:
        """What it acts on, in words; a pool is named once if it acts on paused pools too."""
        implied = {_EVEN_PAUSED[sort] for sort in self.sorts if sort in _EVEN_PAUSED}
        return " or ".join(sorted(self.sorts - implied))


_OF_STREAM: Final = frozenset({SelectionKind.STREAM, SelectionKind.DEAD_LETTERS, SelectionKind.ENTRY})
_OF_GROUP: Final = frozenset({SelectionKind.GROUP, SelectionKind.CONSUMER, SelectionKind.PENDING})
_PENDING: Final = frozenset({SelectionKind.PENDING})
_DEAD_LETTER: Final = frozenset({SelectionKind.DEAD_LETTER})
_DELAYED: Final = frozenset({SelectionKind.QUEUE, SelectionKind.MESSAGE})
_POOL: Final = frozenset({SelectionKind.POOL, SelectionKind.POOL_PAUSED})
_EVEN_PAUSED: Final = {
    SelectionKind.POOL: SelectionKind.POOL_PAUSED,
    SelectionKind.TOPIC: SelectionKind.TOPIC_OFF,
}
VERBS: Final[tuple[Verb, ...]] = (
    Verb("C", "claim", "claim", _OF_GROUP),
    Verb("A", "ack", "acknowledge", _PENDING),
    Verb("N", "nack", "release", _PENDING),
    Verb("D", "streams.rm-entry", "delete entries", frozenset({SelectionKind.PENDING, SelectionKind.ENTRY})),
    Verb("X", "dlq.add", "dead letter", _PENDING),
    Verb("D", "dlq.purge", "purge", frozenset({SelectionKind.DEAD_LETTERS})),
    Verb("D", "dlq.purge", "delete", _DEAD_LETTER),
    Verb("D", "delayed.cancel", "cancel", _DELAYED),
    Verb("R", "replay", "replay", _OF_STREAM | _DEAD_LETTER, dead_letters=True),
    Verb("R", "delayed.run-now", "run now", _DELAYED),
    Verb("E", "replay", "edit, replay", _DEAD_LETTER | {SelectionKind.ENTRY}, dead_letters=True, edits=True),
    Verb("T", "trim", "trim", frozenset({SelectionKind.STREAM, SelectionKind.GROUP, SelectionKind.ENTRY})),
    Verb("W", "groups.rewind", "rewind", frozenset({SelectionKind.GROUP, SelectionKind.CONSUMER})),
    Verb("X", "groups.destroy", "destroy", frozenset({SelectionKind.GROUP})),
    Verb("X", "consumers.rm", "remove", frozenset({SelectionKind.CONSUMER})),
    Verb("P", "topics.off", "pause topic", frozenset({SelectionKind.TOPIC})),
    Verb("P", "topics.on", "resume topic", frozenset({SelectionKind.TOPIC_OFF})),
    Verb("X", "topics.rm", "remove", frozenset({SelectionKind.TOPIC, SelectionKind.TOPIC_OFF})),
    Verb("P", "pause", "pause pool", frozenset({SelectionKind.POOL})),
    Verb("P", "resume", "resume pool", frozenset({SelectionKind.POOL_PAUSED})),
    Verb("S", "scale.set", "scale", _POOL),
    Verb("A", "autoscale.pause", "pause scaling", _POOL, steered=False),
    Verb("A", "autoscale.resume", "resume scaling", _POOL, steered=True),
    Verb("O", "autoscale.override", "override", _POOL),
    Verb("L", "autoscale.limits", "limits", _POOL),
)
KEYS: Final = tuple(sorted({verb.key for verb in VERBS}))


def selection_at(place: Route, *, dead_letters: bool) -> Selection | None:
    """What a place is about, or the place that a row leads to; None if it is about everything.

    Args:
        place: The place.
        dead_letters: Whether its stream is a dead-letter queue.
    """
    match place:
        case StreamRoute(stream) | EntriesRoute(stream):
            sort = SelectionKind.DEAD_LETTERS if dead_letters else SelectionKind.STREAM
            return Selection(sort=sort, stream=stream, dead_letters=dead_letters)
        case GroupRoute(stream, group):
            return Selection(sort=SelectionKind.GROUP, stream=stream, group=group, dead_letters=dead_letters)
        case PendingRoute(stream, group, consumer):
            sort = SelectionKind.GROUP if consumer is None else SelectionKind.CONSUMER
            return Selection(
                sort=sort, stream=stream, group=group, consumer=consumer, dead_letters=dead_letters
            )
        case EntryRoute(stream, entry_id, group=group, consumer=consumer):
            return Selection(
                sort=SelectionKind.ENTRY if group is None else SelectionKind.PENDING,
                stream=stream,
                group=group,
                consumer=consumer,
                ids=(entry_id,),
                dead_letters=dead_letters,
            )
        case TraceRoute(stream, entry_id):
            return Selection(
                sort=SelectionKind.ENTRY, stream=stream, ids=(entry_id,), dead_letters=dead_letters
            )
    return _queue_selection(place)


def _queue_selection(place: Route) -> Selection | None:
    """What a place is about that is about a queue beside a stream, or about one thing in it."""
    match place:
        case DeadLetterEntriesRoute(queue):
            return Selection(sort=SelectionKind.DEAD_LETTERS, stream=queue, dead_letters=True)
        case DeadLetterRoute(queue, entry_id):
            return Selection(sort=SelectionKind.DEAD_LETTER, stream=queue, ids=(entry_id,), dead_letters=True)
        case DelayedRoute(stream):
            return Selection(sort=SelectionKind.QUEUE, stream=stream)
        case DelayedMessageRoute(stream, message):
            return Selection(sort=SelectionKind.MESSAGE, stream=stream, messages=(message,))
    return None


def together(subjects: Iterable[Selection | None]) -> Selection | None:
    """Several rows of one list as one subject; their owner if it is the same one. None for none."""
    found = [selection for selection in subjects if selection is not None]
    if not found:
        return None
    ids = tuple(entry_id for selection in found for entry_id in selection.ids)
    messages = tuple(message for selection in found for message in selection.messages)
    owners = {selection.consumer for selection in found}
    owner = owners.pop() if len(owners) == 1 else None
    return replace(found[0], ids=ids, messages=messages, consumer=owner)


def holds_dead_letters(streams: Iterable[StreamView], stream: str) -> bool:
    """Whether a stream was seen to be a dead-letter queue."""
    return any(view.stream.name == stream and view.stream.role is StreamRole.DEAD_LETTERS for view in streams)


def queue_of(streams: Sequence[StreamView], stream: str) -> str | None:
    """The dead-letter queue of a stream, or the stream itself if it is one; None if none was seen."""
    if holds_dead_letters(streams, stream):
        return stream
    states = (view.stream for view in streams)
    return next(
        (one.name for one in states if one.role is StreamRole.DEAD_LETTERS and one.source == stream), None
    )


def fitting(selection: Selection | None) -> tuple[Verb, ...]:
    """The verbs with a key that fit a subject; none fit none."""
    if selection is None:
        return ()
    return tuple(
        verb
        for verb in VERBS
        if selection.sort in verb.sorts
        and (selection.dead_letters or not verb.dead_letters)
        and verb.steered in (None, selection.steered)
    )


def verb_of(key: str, selection: Selection | None) -> Verb | None:
    """What a key does to a subject; None if it does nothing."""
    return next((verb for verb in fitting(selection) if verb.key == key), None)
