"""Reads on demand: a screen posts what it wants, the app reads it, the answer comes back as a message."""

from typing import TYPE_CHECKING, Any, Final, Protocol

from msgspec import Struct
from textual.message import Message
from textual.widget import Widget

from streamops.errors import StreamopsError, Unreachable
from streamops.model.entries import Entry
from streamops.model.ids import LAST_ID, EntryId
from streamops.monitor.pages import EntryPage, PendingPage
from streamops.tui.source import Source

if TYPE_CHECKING:  # Only who asks for it pays for it.
    from streamops.model.payloads import KeptPayload
    from streamops.monitor.search import Search, SearchResult

PAGE: Final = 100


class ReadEntries(Struct, frozen=True):
    """A page of entries, newest first: the newest, or those before an ID."""

    stream: str
    before: EntryId | None = None

    async def perform(self, source: Source) -> EntryPage:
        """Read it."""
        end = LAST_ID if self.before is None else self.before.previous()
        return await source.read_entries(self.stream, end=end, count=PAGE, newest_first=True)


class ReadEntry(Struct, frozen=True):
    """One entry; none where it is gone."""

    stream: str
    id: EntryId

    async def perform(self, source: Source) -> Entry | None:
        """Read it."""
        return await source.read_entry(self.stream, self.id)


class ReadPending(Struct, frozen=True):
    """A page of pending entries after an ID."""

    stream: str
    group: str
    consumer: str | None = None
    after: EntryId | None = None

    async def perform(self, source: Source) -> PendingPage:
        """Read it."""
        return await source.read_pending(
            self.stream, self.group, after=self.after, count=PAGE, consumer=self.consumer
        )


class ReadPayload(Struct, frozen=True):
    """A payload that is kept beside a stream, as much of it as is shown; none where it is gone."""

    key: str
    limit: int

    async def perform(self, source: Source) -> "KeptPayload | None":
        """Read it."""
        return await source.read_payload(self.key, self.limit)


class ReadFound(Struct, frozen=True):
    """A slice of a search."""

    stream: str
    query: "Search"

    async def perform(self, source: Source) -> "SearchResult":
        """Look for it."""
        return await source.search(self.stream, self.query)


class Read(Protocol):
    """Something that can be read from a source; frozen."""

    async def perform(self, source: Source) -> Any:  # noqa: ANN401 - each read has its own type of answer
        """Read it; raises ``StreamopsError``."""


class Wanted(Message):
    """A screen wants something read.

    Attributes:
        read: What.
        asker: Who gets the answer.
    """

    def __init__(self, read: Read, asker: Widget) -> None:
        super().__init__()
        self.read = read
        self.asker = asker


class Answered(Message, bubble=False):
    """What was wanted.

    Attributes:
        read: What was asked.
        answer: What ``read.perform`` returned.
    """

    def __init__(self, read: Read, answer: Any) -> None:  # noqa: ANN401 - each read has its own type of answer
        super().__init__()
        self.read = read
        self.answer = answer


class Unanswered(Message, bubble=False):
    """What was wanted could not be read.

    Attributes:
        read: What was asked.
        error: Why.
    """

    def __init__(self, read: Read, error: StreamopsError) -> None:
        super().__init__()
        self.read = read
        self.error = error

    @property
    def words(self) -> str:
        """What is wrong, and what to do about it: which permission is missing, for one."""
        return ". ".join(part.rstrip(".") for part in (self.error.message, self.error.hint) if part)


async def answer(wanted: Wanted, source: Source | None) -> None:
    """Read what is wanted and post the answer to the asker, or why there is none."""
    try:
        if source is None:
            raise Unreachable("not connected", "wait for the connection, then press r")
        found = await wanted.read.perform(source)
    except StreamopsError as error:
        wanted.asker.post_message(Unanswered(wanted.read, error))
    else:
        wanted.asker.post_message(Answered(wanted.read, found))
