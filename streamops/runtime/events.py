"""What a worker tells its subscribers: frozen facts, one type each."""

from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from msgspec import Struct

from streamops.errors import ServerError


class Event(Struct, frozen=True):
    """Something that happened in a worker."""


class GroupEvent(Event, frozen=True):
    """Something that happened to a group of a stream."""

    stream: str
    group: str


class EntryEvent(GroupEvent, frozen=True):
    """Something that happened to one entry."""

    entry_id: str


class Completed(EntryEvent, frozen=True):
    """An entry was handled, and will be acknowledged."""

    attempt: int


class Retried(EntryEvent, frozen=True):
    """A handler failed, and its entry is tried again after ``delay``."""

    attempt: int
    delay: timedelta
    reason: str


class DeadLettered(EntryEvent, frozen=True):
    """An entry was given up and is in the dead-letter queue."""

    attempt: int
    reason: str
    error: str


class HookFailed(EntryEvent, frozen=True):
    """A handler's failure hook raised."""

    error: str


class Stuck(EntryEvent, frozen=True):
    """An entry can neither be handled nor given up; it stays pending."""

    reason: str


class Duplicate(EntryEvent, frozen=True):
    """An entry's business key belongs to another entry; it was acknowledged unhandled."""

    key: str


class Lost(EntryEvent, frozen=True):
    """An entry was deleted from its stream while it was pending."""

    deliveries: int


class NotHandled(EntryEvent, frozen=True):
    """An entry that was read with noack failed, or was cut off: nothing handles it again."""

    error: str


class Reclaimed(GroupEvent, frozen=True):
    """Entries were taken over from other consumers."""

    entries: int
    consumer: str
    """Whose they were; empty for any consumer that let them lie."""


class Adopted(GroupEvent, frozen=True):
    """Entries were found under this worker's own name that it did not have in hand."""

    entries: int


class ConsumerRemoved(GroupEvent, frozen=True):
    """A dead consumer that had nothing pending was deleted."""

    consumer: str


class BacklogSkipped(GroupEvent, frozen=True):
    """A group was created after the entries that a stream had, up to ``after``; they are not given to it."""

    after: str


class GroupRestored(GroupEvent, frozen=True):
    """A group that had been destroyed was created again, at ``began``."""

    began: str


class Troubled(Event, frozen=True):
    """The server could not be asked; it is asked again."""

    stream: str
    error: ServerError


class Overran(GroupEvent, frozen=True):
    """Leases could not be renewed in time, and others took entries over."""

    entries: int


class Abandoned(EntryEvent, frozen=True):
    """A handler could not be ended when its worker was; others take its entry over once the worker is gone."""


class Promoted(Event, frozen=True):
    """Delayed messages were due and became entries."""

    stream: str
    messages: int


class DelayedDeadLettered(Event, frozen=True):
    """A delayed message could never become an entry and is in the dead-letter queue, its body as it was."""

    stream: str
    id: str
    reason: str


class DelayedRefused(Event, frozen=True):
    """Delayed messages are due, but ``key`` cannot be written to, or is the queue and they are of a later version.

    It is tried again in a minute.
    """

    stream: str
    key: str
    error: str
    messages: int


class DelayedForeign(Event, frozen=True):
    """A queue has due members that are no delayed messages: they stay untouched. Emitted once for each queue."""

    stream: str
    queue: str
    members: int


class DelayedStrays(Event, frozen=True):
    """There are bodies of delayed messages that the queue does not name: ``delayed ls`` shows them."""

    stream: str
    bodies: int


Heard = TypeVar("Heard", bound=Event)
Listener = Callable[[Any], object]


class Events:
    """Who listens to what."""

    def __init__(self) -> None:
        self._listeners: dict[type[Event], list[Listener]] = defaultdict(list)

    def on(self, kind: type[Heard], listener: Callable[[Heard], object]) -> None:
        """Have a function called with each event of a kind; ``Event`` is all of them."""
        self._listeners[kind].append(listener)

    def heard(self, kind: type[Event]) -> bool:
        """Whether a kind has a listener, so that the frequent ones need not be made without one."""
        return bool(self._listeners.get(kind) or self._listeners.get(Event))

    def emit(self, event: Event) -> None:
        """Call all listeners; an exception of one is logged and stops nothing."""
        for listener in (*self._listeners.get(type(event), ()), *self._listeners.get(Event, ())):
            try:
                listener(event)
            except Exception:  # noqa: BLE001 - a listener must not stop a worker
                _complain(listener, event)


def _complain(listener: Listener, event: Event) -> None:
    import structlog  # noqa: PLC0415 - only if something went wrong

    structlog.get_logger("streamops").exception(
        "listener failed",
        listener=getattr(listener, "__qualname__", repr(listener)),
        event_type=type(event).__name__,
    )
