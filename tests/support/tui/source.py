"""A source of inventions: what a test wants the server to say, without a server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from streamops.errors import StreamopsError
from streamops.model.deliveries import KeptPayload
from streamops.model.entries import LAST_ID, ZERO_ID, EntryId, PendingEntry, StreamEntry
from streamops.model.observation import Observation
from streamops.monitor.search import EntryPage, PendingPage
from streamops.tui.app import StreamopsApp
from streamops.tui.source import ContextInfo, TuiSettings
from tests.support.invented import NOW
from tests.support.tui.acts import InventedActs
from tests.support.tui.beside import InventedBeside

if TYPE_CHECKING:
    from streamops.monitor.search import Search, SearchResult

PROD = ContextInfo("prod", "production", "redis://redis.shop.example:6379/0")
STAGING = ContextInfo("staging", "staging", "redis://staging.shop.example:6379/0")


SLOW = timedelta(seconds=30)


class InventedSource(InventedActs, InventedBeside):
    """Says what it was told to.

    Attributes:
        observation: What the next poll finds; raised where it is an error.
        entries: The entries of every stream, oldest first.
        pending: The pending entries of every group.
        payloads: Payloads that are kept beside streams, by their keys.
        fails: What reads on demand raise; none for nothing.
        arriving: Entries for the live tail.
        polls: How often it was observed.
        closed: Whether it was closed.
    """

    def __init__(
        self,
        observation: Observation | StreamopsError,
        entries: Sequence[StreamEntry] = (),
        pending: Sequence[PendingEntry] = (),
    ) -> None:
        super().__init__()
        self.observation = observation
        self.entries = tuple(entries)
        self.pending = tuple(pending)
        self.payloads: dict[str, bytes] = {}
        self.fails: StreamopsError | None = None
        self.arriving: asyncio.Queue[StreamEntry | StreamopsError] = asyncio.Queue()
        self.polls = 0
        self.closed = False
        self.asked: list[tuple[object, ...]] = []
        self.before_answer: Callable[[], None] = lambda: None

    async def observe(self, only: Sequence[str] = ()) -> Observation:
        assert not only
        self.polls += 1
        self.before_answer()
        if isinstance(self.observation, StreamopsError):
            raise self.observation
        return self.observation

    async def read_entries(
        self,
        stream: str,
        *,
        start: EntryId = ZERO_ID,
        end: EntryId = LAST_ID,
        count: int = 50,
        newest_first: bool = False,
    ) -> EntryPage:
        self._ask("entries", stream, end)
        assert newest_first
        found = [entry for entry in self.entries if start <= entry.id <= end][::-1]
        page = tuple(found[:count])
        return EntryPage(page, page[-1].id if len(found) > count else None)

    async def read_entry(self, stream: str, entry_id: EntryId) -> StreamEntry | None:
        self._ask("entry", stream, entry_id)
        return next((entry for entry in self.entries if entry.id == entry_id), None)

    async def read_payload(self, key: str, limit: int) -> KeptPayload | None:
        self._ask("payload", key)
        value = self.payloads.get(key)
        return None if value is None else KeptPayload(key, len(value), timedelta(hours=20), value[:limit])

    async def search(self, stream: str, query: "Search") -> "SearchResult":
        from streamops.monitor.search import search_entries  # noqa: PLC0415 - the first screen needs none of it

        return await search_entries(partial(self.read_entries, stream), query)

    async def read_pending(
        self,
        stream: str,
        group: str,
        *,
        after: EntryId | None = None,
        count: int = 100,
        consumer: str | None = None,
    ) -> PendingPage:
        self._ask("pending", stream, group, consumer, after)
        found = [
            row
            for row in self.pending
            if (consumer is None or row.consumer == consumer) and (after is None or row.id > after)
        ]
        page = tuple(found[:count])
        return PendingPage(page, page[-1].id if len(found) > count else None, NOW)

    async def tail(
        self, stream: str, *, after: EntryId | None = None, poll: timedelta = timedelta(seconds=1)
    ) -> AsyncIterator[StreamEntry]:
        del poll
        self._ask("tail", stream, after)
        while True:
            arrived = await self.arriving.get()
            if isinstance(arrived, StreamopsError):
                raise arrived
            yield arrived

    def start_discovery(self) -> None:
        self._ask("discovery")

    async def close(self) -> None:
        self.closed = True

    def _ask(self, *what: object) -> None:
        self.asked.append(what)
        if self.fails is not None:
            raise self.fails


def settings_for(
    *sources: InventedSource, every: timedelta | None = SLOW, theme: str = "dark", read_only: bool = False
) -> TuiSettings:
    """Settings with one context for each source: ``prod``, then ``staging``. A test polls once, unless it asks for more."""
    prod = replace(PROD, read_only=read_only)
    contexts = (prod, STAGING)[: max(len(sources), 1)]
    by_name = {context.name: source for context, source in zip(contexts, sources, strict=True)}

    async def open_source(name: str) -> Any:  # noqa: ANN401 - in the place of a Console
        source = by_name[name]
        if isinstance(source.observation, StreamopsError) and source.polls == 0:
            raise source.observation
        return source

    # Nobody's own clipboard is touched.
    return TuiSettings(prod, contexts, open_source, every, theme, copy="osc52")


def app_for(
    *sources: InventedSource, every: timedelta | None = SLOW, theme: str = "dark", read_only: bool = False
) -> StreamopsApp:
    """The console on invented sources."""
    return StreamopsApp(settings_for(*sources, every=every, theme=theme, read_only=read_only))
