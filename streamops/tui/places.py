"""The places one can go to, each with its crumbs and the command that prints the same. Pure data."""

from typing import Final, TypeAlias

from msgspec import Struct

from streamops.analysis.wording import quoted
from streamops.model.acting import Action
from streamops.model.entries import Entry
from streamops.model.ids import EntryId
from streamops.tui.source import ContextInfo

ID_HEAD: Final = 4


class Status(Struct, frozen=True):
    """Every stream with every group: the root."""

    @property
    def trail(self) -> tuple[str, ...]:
        """No crumb beyond the context."""
        return ()

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("status",)

    @property
    def names(self) -> tuple[str, ...]:
        """It is about all of them."""
        return ()


class Streams(Struct, frozen=True):
    """All streams, one row each."""

    @property
    def trail(self) -> tuple[str, ...]:
        """One crumb."""
        return ("streams",)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("streams", "ls")

    @property
    def names(self) -> tuple[str, ...]:
        """It is about all of them."""
        return ()


class Stream(Struct, frozen=True):
    """One stream and its groups."""

    stream: str

    @property
    def trail(self) -> tuple[str, ...]:
        """The stream."""
        return (self.stream,)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("streams", "info")

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return self.trail


class Group(Struct, frozen=True):
    """One group and its consumers."""

    stream: str
    group: str

    @property
    def trail(self) -> tuple[str, ...]:
        """The stream and the group."""
        return (self.stream, self.group)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("groups", "info")

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return self.trail


class Pending(Struct, frozen=True):
    """The pending entries of a group, or of one of its consumers."""

    stream: str
    group: str
    consumer: str | None = None

    @property
    def trail(self) -> tuple[str, ...]:
        """The stream, the group, and the consumer or the word ``pending``."""
        return (self.stream, self.group, "pending" if self.consumer is None else self.consumer)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return (
            ("pending", "ls") if self.consumer is None else ("pending", "ls", f"--consumer={self.consumer}")
        )

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return (self.stream, self.group)


class Entries(Struct, frozen=True):
    """The newest entries of a stream, and those that arrive."""

    stream: str

    @property
    def trail(self) -> tuple[str, ...]:
        """The stream and the word ``tail``."""
        return (self.stream, "tail")

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("streams", "tail", "-n", "100")

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return (self.stream,)


class OneEntry(Struct, frozen=True):
    """One entry with its payload.

    Attributes:
        stream: Its stream.
        id: Its ID.
        way: The crumbs of the place it was opened from.
        entry: The entry where it was read already.
        group: The group that it is pending in, where it was opened as such.
        consumer: Its owner there.
    """

    stream: str
    id: EntryId
    way: tuple[str, ...] = ()
    entry: Entry | None = None
    group: str | None = None
    consumer: str | None = None

    @property
    def trail(self) -> tuple[str, ...]:
        """Where it was opened from, and the ID in short."""
        return (*(self.way or (self.stream,)), short_id(self.id))

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("streams", "search", f"--from-id={self.id}", f"--to-id={self.id}", "-o", "json")

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return (self.stream,)


class Contexts(Struct, frozen=True):
    """All contexts."""

    @property
    def trail(self) -> tuple[str, ...]:
        """One crumb."""
        return ("contexts",)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("ctx", "ls")

    @property
    def names(self) -> tuple[str, ...]:
        """It is about all of them."""
        return ()


class Audit(Struct, frozen=True):
    """What was done to the server, newest first."""

    @property
    def trail(self) -> tuple[str, ...]:
        """One crumb."""
        return ("audit",)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("audit", "ls")

    @property
    def names(self) -> tuple[str, ...]:
        """It is about all of them."""
        return ()


class OneAction(Struct, frozen=True):
    """One action of the audit log."""

    action: Action

    @property
    def trail(self) -> tuple[str, ...]:
        """The log and the action's ID."""
        return ("audit", self.action.first.begun_id)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("audit", "ls", "--id")

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return (self.action.first.begun_id,)


class Jobs(Struct, frozen=True):
    """Long work: under way, interrupted, and over."""

    @property
    def trail(self) -> tuple[str, ...]:
        """One crumb."""
        return ("jobs",)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("jobs", "ls")

    @property
    def names(self) -> tuple[str, ...]:
        """It is about all of them."""
        return ()


class OneJob(Struct, frozen=True):
    """One job."""

    id: str

    @property
    def trail(self) -> tuple[str, ...]:
        """The list and the job's ID."""
        return ("jobs", self.id)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("jobs", "show")

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return (self.id,)


Place: TypeAlias = (
    Status
    | Streams
    | Stream
    | Group
    | Pending
    | Entries
    | OneEntry
    | Contexts
    | Audit
    | OneAction
    | Jobs
    | OneJob
)


def command(context: ContextInfo, place: Place) -> str:
    """The shell command that prints what a place shows."""
    where = ("--url", context.url) if context.url else ("-c", context.name)
    dashes = ("--",) if any(name.startswith("-") for name in place.names) else ()
    return " ".join(map(quoted, ("streamops", *where, *place.words, *dashes, *place.names)))


def short_id(entry_id: EntryId) -> str:
    """An ID for the crumbs: ``1795…-0``."""
    ms = str(entry_id.ms)
    return f"{ms[:ID_HEAD]}…-{entry_id.seq}" if len(ms) > ID_HEAD + 1 else str(entry_id)
