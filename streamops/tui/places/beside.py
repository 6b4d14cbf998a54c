"""Places that are about one thing beside a stream: a queue, a letter, a message, a topic, a worker, a trace."""

from msgspec import Struct

from streamops.model.ids import EntryId
from streamops.tui.places.single import short_id


class Letters(Struct, frozen=True):
    """The letters of a dead-letter queue, the newest first.

    Attributes:
        queue: The queue.
        where: An expression of the engine that holds of the letters shown; empty for all.
    """

    queue: str
    where: str = ""

    @property
    def stream(self) -> str:
        """The queue is a stream."""
        return self.queue

    @property
    def trail(self) -> tuple[str, ...]:
        """The list and the queue."""
        return ("dead letters", self.queue)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("dlq", "ls", *((f"--where={self.where}",) if self.where else ()))

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return (self.queue,)


class OneLetter(Struct, frozen=True):
    """One dead letter with its trace."""

    queue: str
    id: EntryId

    @property
    def stream(self) -> str:
        """The queue is a stream."""
        return self.queue

    @property
    def trail(self) -> tuple[str, ...]:
        """The list, the queue, and the ID in short."""
        return ("dead letters", self.queue, short_id(self.id))

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("dlq", "show")

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return (self.queue, str(self.id))


class Delayed(Struct, frozen=True):
    """The delayed messages beside one stream."""

    stream: str

    @property
    def trail(self) -> tuple[str, ...]:
        """The list and the stream."""
        return ("delayed", self.stream)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("delayed", "ls")

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return (self.stream,)


class OneDelayed(Struct, frozen=True):
    """One delayed message."""

    stream: str
    id: str

    @property
    def trail(self) -> tuple[str, ...]:
        """The list, the stream and the message's ID."""
        return ("delayed", self.stream, self.id)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("delayed", "show")

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return (self.stream, self.id)


class OneTopic(Struct, frozen=True):
    """One topic."""

    topic: str

    @property
    def trail(self) -> tuple[str, ...]:
        """The list and the topic."""
        return ("topics", self.topic)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("topics", "show")

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return (self.topic,)


class OneWorker(Struct, frozen=True):
    """One worker process, and what it reads."""

    worker: str
    pool: str

    @property
    def trail(self) -> tuple[str, ...]:
        """The list and the worker."""
        return ("workers", self.worker)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the workers of its pool."""
        return ("workers", "ls", f"--pool={self.pool}")

    @property
    def names(self) -> tuple[str, ...]:
        """That command takes none."""
        return ()


class OnePool(Struct, frozen=True):
    """One pool of workers: how many there are, and why."""

    pool: str

    @property
    def trail(self) -> tuple[str, ...]:
        """The list and the pool."""
        return ("pools", self.pool)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("autoscale", "explain")

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return (self.pool,)


class Trace(Struct, frozen=True):
    """What became of one entry.

    Attributes:
        stream: The stream that it was added to.
        id: Its ID there.
    """

    stream: str
    id: EntryId

    @property
    def trail(self) -> tuple[str, ...]:
        """The stream, the ID in short, and the word ``trace``."""
        return (self.stream, short_id(self.id), "trace")

    @property
    def words(self) -> tuple[str, ...]:
        """The command that prints the same."""
        return ("entries", "trace")

    @property
    def names(self) -> tuple[str, ...]:
        """What that command is about."""
        return (self.stream, str(self.id))
