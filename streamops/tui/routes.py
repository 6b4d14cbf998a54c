"""The places of the console: one class each, with what it shows, its crumbs, and the command that prints the same. Pure data.

To add a screen: a class here that names a resource, or a list, or a screen of its own.
"""

from typing import ClassVar, Final

from msgspec import Struct

from streamops.model.acting import Action
from streamops.model.entries import EntryId, StreamEntry
from streamops.model.wording import quoted
from streamops.monitor.search import split_words
from streamops.tui.source import ContextInfo

WHERE: Final = "where "
"""How the text of a search begins that is an expression and not words."""
ID_HEAD: Final = 4


class Route(Struct, frozen=True):
    """A place.

    Attributes:
        screen: Its screen or list, as ``module:NAME`` below ``streamops.tui.screens``.
        resource: What it lists where it has no screen, as ``module:NAME`` below ``streamops.resources``.
        leads: The place that Enter leads to from there, made of the parts of a row's key.
        typed: What is typed after the colon to get there; empty if its names are.
        about: Its fields that the command is about; by default all of them.
        under: The crumbs before its names.
        end: The crumb after them; empty for none.
        words: The command that prints the same, without names.
    """

    screen: ClassVar[str] = ""
    resource: ClassVar[str] = ""
    leads: ClassVar["type[Route] | None"] = None
    typed: ClassVar[str] = ""
    about: ClassVar[tuple[str, ...] | None] = None
    under: ClassVar[tuple[str, ...]] = ()
    end: ClassVar[str] = ""
    words: ClassVar[tuple[str, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        """What the command is about, and the crumbs are made of."""
        fields = self.__struct_fields__ if self.about is None else self.about
        return tuple(str(getattr(self, field)) for field in fields)

    @property
    def breadcrumbs(self) -> tuple[str, ...]:
        """The crumbs."""
        return (*self.under, *self.names, *filter(None, (self.end,)))

    @property
    def command(self) -> tuple[str, ...]:
        """The command that prints the same, with what narrows it."""
        return self.words


class StatusRoute(Route, frozen=True):
    """Every stream with every group: the root."""

    screen = "status:StatusScreen"
    typed = "groups"
    words = ("status",)


class StreamsRoute(Route, frozen=True):
    """All streams, one row each."""

    screen = "lists:STREAM_LIST"
    typed = "streams"
    under = ("streams",)
    words = ("streams", "ls")


class OverviewRoute(Route, frozen=True):
    """The overview: how all of it is, on one page."""

    screen = "overview:OverviewScreen"
    typed = "overview"
    under = ("overview",)
    words = ("status",)


class AlertsRoute(Route, frozen=True):
    """The findings that hold."""

    screen = "alerts:ALERT_LIST"
    typed = "alerts"
    under = ("alerts",)
    words = ("alerts", "ls")


class ContextsRoute(Route, frozen=True):
    """All contexts."""

    screen = "lists:CONTEXT_LIST"
    typed = "ctx"
    under = ("contexts",)
    words = ("ctx", "ls")


class ViewsRoute(Route, frozen=True):
    """All saved views."""

    screen = "lists:VIEW_LIST"
    under = ("views",)
    words = ("config", "show")


class AuditRoute(Route, frozen=True):
    """What was done to the server, newest first."""

    screen = "audit:AuditScreen"
    typed = "audit"
    under = ("audit",)
    words = ("audit", "ls")


class ActionRoute(Route, frozen=True):
    """One action of the audit log."""

    action: Action

    screen = "audit:ActionScreen"
    under = ("audit",)
    words = ("audit", "show")

    @property
    def names(self) -> tuple[str, ...]:
        """The action's ID."""
        return (self.action.first.begun_id,)


class JobsRoute(Route, frozen=True):
    """Long work: under way, interrupted, and over."""

    screen = "jobs:JobsScreen"
    typed = "jobs"
    under = ("jobs",)
    words = ("jobs", "ls")


class JobRoute(Route, frozen=True):
    """One job."""

    id: str

    screen = "jobs:JobScreen"
    under = ("jobs",)
    words = ("jobs", "show")


class DeadLettersRoute(Route, frozen=True):
    """All dead-letter queues."""

    screen = "dead_letters:QUEUE_LIST"
    typed = "dlq"
    under = ("dead letters",)
    words = ("dlq", "ls")


class DeadLetterEntriesRoute(Route, frozen=True):
    """The dead letters of a queue, the newest first.

    Attributes:
        queue: The queue.
        where: An expression that holds of those shown; empty for all.
    """

    queue: str
    where: str = ""

    screen = "dead_letter_entries:DeadLetterEntriesScreen"
    under = ("dead letters",)
    about = ("queue",)
    words = ("dlq", "ls")

    @property
    def stream(self) -> str:
        """The queue is a stream."""
        return self.queue

    @property
    def command(self) -> tuple[str, ...]:
        """With the expression."""
        return (*self.words, *((f"--where={self.where}",) if self.where else ()))


class DeadLetterRoute(Route, frozen=True):
    """One dead letter with its trace."""

    queue: str
    id: EntryId

    screen = "dead_letters:DeadLetterScreen"
    under = ("dead letters",)
    words = ("dlq", "show")

    @property
    def stream(self) -> str:
        """The queue is a stream."""
        return self.queue

    @property
    def breadcrumbs(self) -> tuple[str, ...]:
        """With the ID in short."""
        return (*self.under, self.queue, short_id(self.id))


class DelayedQueuesRoute(Route, frozen=True):
    """All queues of delayed messages."""

    screen = "delayed:QUEUE_LIST"
    typed = "delayed"
    under = ("delayed",)
    words = ("delayed", "ls")


class DelayedRoute(Route, frozen=True):
    """The delayed messages of one stream."""

    stream: str

    screen = "delayed:DelayedScreen"
    under = ("delayed",)
    words = ("delayed", "ls")


class DelayedMessageRoute(Route, frozen=True):
    """One delayed message."""

    stream: str
    id: str

    screen = "delayed:DelayedMessageScreen"
    under = ("delayed",)
    words = ("delayed", "show")


class TopicsRoute(Route, frozen=True):
    """All topics of HTTP callbacks."""

    screen = "topics:TOPIC_LIST"
    typed = "topics"
    under = ("topics",)
    words = ("webhooks", "ls")


class TopicRoute(Route, frozen=True):
    """One topic."""

    topic: str

    screen = "topics:TopicScreen"
    under = ("topics",)
    words = ("webhooks", "show")


class WorkersRoute(Route, frozen=True):
    """All worker processes, and their pools."""

    screen = "workers:WORKER_LIST"
    typed = "workers"
    under = ("workers",)
    words = ("workers", "ls")


class WorkerRoute(Route, frozen=True):
    """One worker process, and what it reads."""

    worker: str
    pool: str

    screen = "workers:WorkerScreen"
    about = ()
    words = ("workers", "ls")

    @property
    def breadcrumbs(self) -> tuple[str, ...]:
        """The list and the worker."""
        return ("workers", self.worker)

    @property
    def command(self) -> tuple[str, ...]:
        """With the pool."""
        return (*self.words, f"--pool={self.pool}")


class PoolsRoute(Route, frozen=True):
    """All pools of workers that are scaled."""

    screen = "pools:POOL_LIST"
    typed = "pools"
    under = ("pools",)
    words = ("pools", "ls")


class PoolRoute(Route, frozen=True):
    """One pool of workers: how many there are, and why."""

    pool: str

    screen = "pools:PoolScreen"
    under = ("pools",)
    words = ("pools", "explain")


class StreamRoute(Route, frozen=True):
    """One stream and its groups."""

    stream: str

    screen = "status:StreamScreen"
    words = ("streams", "show")


class GroupRoute(Route, frozen=True):
    """One group and its consumers."""

    stream: str
    group: str

    screen = "group:GroupScreen"
    words = ("groups", "show")


class ChartsRoute(Route, frozen=True):
    """How a group was over the last minutes and hours; the command prints the newest of it."""

    stream: str
    group: str

    screen = "charts:ChartsScreen"
    end = "charts"
    words = ("groups", "show")


class PendingRoute(Route, frozen=True):
    """The pending entries of a group, or of one of its consumers."""

    stream: str
    group: str
    consumer: str | None = None

    screen = "pending:PendingScreen"
    about = ("stream", "group")
    words = ("pending", "ls")

    @property
    def breadcrumbs(self) -> tuple[str, ...]:
        """With the consumer, or the word ``pending``."""
        return (*self.names, "pending" if self.consumer is None else self.consumer)

    @property
    def command(self) -> tuple[str, ...]:
        """With the consumer."""
        return self.words if self.consumer is None else (*self.words, f"--consumer={self.consumer}")


class EntriesRoute(Route, frozen=True):
    """The newest entries of a stream, and those that arrive."""

    stream: str

    screen = "entries:EntriesScreen"
    end = "tail"
    words = ("streams", "tail", "-n", "100")


class EntryRoute(Route, frozen=True):
    """One entry with its payload.

    Attributes:
        stream: Its stream.
        id: Its ID.
        way: The crumbs of the place it was opened from.
        entry: The entry, if it was read already.
        group: The group that it is pending in, if it was opened as such.
        consumer: Its owner there.
    """

    stream: str
    id: EntryId
    way: tuple[str, ...] = ()
    entry: StreamEntry | None = None
    group: str | None = None
    consumer: str | None = None

    screen = "entry:EntryScreen"
    about = ("stream",)
    words = ("streams", "search")

    @property
    def breadcrumbs(self) -> tuple[str, ...]:
        """The place it was opened from, and the ID in short."""
        return (*(self.way or (self.stream,)), short_id(self.id))

    @property
    def command(self) -> tuple[str, ...]:
        """With the ID."""
        return (*self.words, f"--from-id={self.id}", f"--to-id={self.id}", "-o", "json")


class TraceRoute(Route, frozen=True):
    """What became of one entry.

    Attributes:
        stream: The stream that it was added to.
        id: Its ID there.
    """

    stream: str
    id: EntryId

    screen = "trace:TraceScreen"
    words = ("entries", "trace")

    @property
    def breadcrumbs(self) -> tuple[str, ...]:
        """With the ID in short."""
        return (self.stream, short_id(self.id), "trace")


class SearchRoute(Route, frozen=True):
    """What was found in the payloads of a stream, newest first.

    Attributes:
        stream: The stream.
        text: What is looked for: words, or ``where`` and an expression.
    """

    stream: str
    text: str

    screen = "search:SearchScreen"
    end = "search"
    about = ("stream",)
    words = ("streams", "search", "--newest-first")

    @property
    def command(self) -> tuple[str, ...]:
        """With what is looked for."""
        if self.text.startswith(WHERE):
            return (*self.words, f"--where={self.text.removeprefix(WHERE).strip()}")
        wanted, unwanted = split_words(self.text)
        return (
            *self.words,
            *(f"--contains={word}" for word in wanted),
            *(f"--lacks={word}" for word in unwanted),
        )


def command(context: ContextInfo, place: Route) -> str:
    """The shell command that prints what a place shows."""
    where = ("--url", context.url) if context.url else ("-c", context.name)
    dashes = ("--",) if any(name.startswith("-") for name in place.names) else ()
    return " ".join(map(quoted, ("streamops", *where, *place.command, *dashes, *place.names)))


def entry_of(place: Route) -> tuple[str, EntryId] | None:
    """The entry that a place is about, with its stream; none if it is about none."""
    return (place.stream, place.id) if isinstance(place, EntryRoute | TraceRoute) else None


def short_id(entry_id: EntryId) -> str:
    """An ID for the crumbs: ``1795…-0``."""
    ms = str(entry_id.ms)
    return f"{ms[:ID_HEAD]}…-{entry_id.seq}" if len(ms) > ID_HEAD + 1 else str(entry_id)
