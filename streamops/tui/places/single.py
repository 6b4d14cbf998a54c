"""Places that are about one stream, group, entry, action or job."""

from typing import Final

from msgspec import Struct

from streamops.model.acting import Action
from streamops.model.entries import Entry
from streamops.model.ids import EntryId

ID_HEAD: Final = 4


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


class Charts(Struct, frozen=True):
    """How a group was over the last minutes and hours."""

    stream: str
    group: str

    @property
    def trail(self) -> tuple[str, ...]:
        """The stream, the group, and the word ``charts``."""
        return (self.stream, self.group, "charts")

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the newest of it."""
        return ("groups", "info")

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return (self.stream, self.group)


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


def short_id(entry_id: EntryId) -> str:
    """An ID for the crumbs: ``1795…-0``."""
    ms = str(entry_id.ms)
    return f"{ms[:ID_HEAD]}…-{entry_id.seq}" if len(ms) > ID_HEAD + 1 else str(entry_id)
