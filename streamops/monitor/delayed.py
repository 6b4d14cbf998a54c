"""Delayed messages: which queues there are, what waits in them, and which messages an operator means."""

import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import ServerError, SettingsError
from streamops.model.delayed import DelayedMessage, DelayedQueue
from streamops.model.selections import DelayedSelection
from streamops.model.streams import ReadError
from streamops.monitor.context import ServerContext
from streamops.monitor.discover import Discovery
from streamops.wire.delayed import count_due, read_due, read_messages, read_queues, read_strays
from streamops.wire.faults import Fault, FaultKind, required
from streamops.wire.keys import (
    bodies_key,
    delayed_key,
    require_one_slot,
    stream_role,
)
from streamops.wire.reads import read_clock
from streamops.wire.stream_reader import StreamReader

Value = TypeVar("Value")

PAGE: Final = 2_000
"""Members of a queue that are read in one go."""


class DelayedQueues(Struct, frozen=True):
    """The queues of many streams.

    Attributes:
        queues: Those that hold anything, by stream.
        gaps: Those that could not be read.
        now: The server's clock; None if it may not be asked.
        complete: Whether queues beside streams that do not exist were looked for as well, everywhere.
    """

    queues: tuple[DelayedQueue, ...]
    gaps: tuple[ReadError, ...]
    now: datetime | None
    complete: bool = False


class DelayedPage(Struct, frozen=True):
    """The first messages of one queue, and bodies that belong to none.

    Attributes:
        queue: The queue as a whole.
        messages: Its messages, the first due first.
        strays: Bodies that the queue does not name.
        now: The server's clock; None if it may not be asked.
    """

    queue: DelayedQueue
    messages: tuple[DelayedMessage, ...]
    strays: tuple[DelayedMessage, ...]
    now: datetime | None


class DelayedReader:
    """Reads the delayed messages of one server."""

    def __init__(self, place: ServerContext) -> None:
        self._server = place.server
        self._configured = place.delayed

    def queue_of(self, stream: str) -> str:
        """The key of a stream's queue."""
        return delayed_key(stream, self._configured)

    async def queues(self, streams: Iterable[str]) -> DelayedQueues:
        """The queues beside streams, in a constant number of round trips; raises ``ServerError``.

        Args:
            streams: The streams that are known; the streams behind dead letters and retries count too.
        """
        names = self._owners(streams)
        found = await read_queues(self._server, names, self._configured)
        queues = (one for one in found if isinstance(one, DelayedQueue) and (one.messages or one.bodies))
        gaps = (
            ReadError(one.reason, stream=name, denied=one.kind is FaultKind.DENIED)
            for name, one in zip(names, found, strict=True)
            if isinstance(one, Fault)
        )
        now = await read_clock(self._server, names[0]) if names else None
        return DelayedQueues(tuple(queues), tuple(gaps), now)

    async def page(self, stream: str, limit: int) -> DelayedPage:
        """The first messages of a stream's queue.

        Raises:
            StreamopsError: They could not be read.
        """
        self._require(stream)
        key = self.queue_of(stream)
        (queue,) = await read_queues(self._server, [stream], self._configured)
        queue = required(queue, key)
        ids = [one.id for one in await read_due(self._server, key, limit=limit)]
        messages = [one for one in await self.messages(stream, ids) if one.exists]
        whole = sum(1 for one in messages if one.digest)
        strays: list[DelayedMessage] = []
        if queue.bodies > whole + (queue.messages - len(messages)):
            strays = await read_strays(self._server, key, limit)
        return DelayedPage(queue, tuple(messages), tuple(strays), await self.clock(stream))

    async def messages(self, stream: str, ids: Sequence[str]) -> list[DelayedMessage]:
        """Messages by their IDs; raises ``StreamopsError``."""
        self._require(stream)
        pages = read_messages(self._server, self.queue_of(stream), ids)
        return [one async for page in pages for one in page]

    async def select(self, selection: DelayedSelection) -> list[str]:
        """The IDs that a selection means, whether or not there are such messages.

        Raises:
            SettingsError: How long ago that is is not known.
            StreamopsError: The queue could not be read.
        """
        stream = selection.stream
        self._require(stream)
        if selection.ids is not None:
            return list(dict.fromkeys(selection.ids))
        until = selection.before
        if isinstance(until, timedelta):
            now = await self.clock(stream)
            if now is None:
                raise SettingsError(
                    "how long ago is unknown: this user may not run TIME",
                    "Give an instant to --before.",
                )
            until = now - until
        ids: dict[str, None] = {}
        key = self.queue_of(stream)
        count = await count_due(self._server, key, until)
        for skip in range(0, count, PAGE):
            limit = min(PAGE, count - skip)
            page = await read_due(self._server, key, until=until, skip=skip, limit=limit)
            ids.update(dict.fromkeys(one.id for one in page))
        return list(ids)

    async def lacks_stream(self, stream: str) -> str:
        """That there is no such stream, in words; empty if there is one, or if that may not be asked.

        Raises:
            NotFound: The key is of another type.
        """
        reading = (await StreamReader(self._server).read([stream])).streams[0]
        if isinstance(reading, Fault) and reading.kind is FaultKind.WRONG_TYPE:
            raise reading.error(f"stream {stream}")
        missing = isinstance(reading, Fault) and reading.kind is FaultKind.MISSING
        return f"there is no stream {stream}, and it has no delayed messages" if missing else ""

    async def clock(self, stream: str) -> datetime | None:
        """The clock of the node that serves a queue; None if it may not be asked."""
        return await read_clock(self._server, self.queue_of(stream))

    async def queued(self, stream: str) -> int:
        """How many messages a queue has; raises ``StreamopsError``."""
        return await count_due(self._server, self.queue_of(stream), None)

    def _require(self, stream: str) -> None:
        named = self._configured.get(stream)
        beside = () if named is None else (named, bodies_key(named))
        require_one_slot(self._server.options.mode, stream, *beside)

    def _owners(self, streams: Iterable[str]) -> list[str]:
        """Streams that may have a queue, each queue once: themselves, those that they serve, those configured."""
        owners: dict[str, str] = {}
        for name in (*self._configured, *streams):
            _, source = stream_role(name, {})
            for one in (name, source):
                if one is not None:
                    owners.setdefault(self.queue_of(one), one)
        return sorted(owners.values())


SHARE: Final = 0.5
"""Share of the time that looking for queues may keep a node busy."""


async def find_queues(discovery: Discovery, reader: DelayedReader) -> DelayedQueues:
    """The queues that hold anything.

    Streams are looked for first, and then sorted sets by their names: a queue outlives its stream. Where all streams
    that are wanted have been named, nothing is looked for.

    Raises:
        ServerError: The keyspace cannot be scanned for streams, or no queue can be read.
    """
    await discovery.scan()
    gaps: tuple[ReadError, ...] = ()
    if discovery.is_open:
        try:
            await discovery.find_queues(share=SHARE)
        except ServerError as error:
            gaps = (ReadError(error.message, part="discovery"),)
    found = await reader.queues((*discovery.names, *sorted(discovery.queues)))
    complete = discovery.is_open and discovery.complete and not gaps
    return replace(found, gaps=(*gaps, *found.gaps), complete=complete)


REST: Final = 15.0
"""Seconds after which queues that were empty are looked at again."""


class DelayedWatch:
    """Counts the queues of streams; between two looks at all, those alone that held anything."""

    def __init__(self, reader: DelayedReader, wants: Callable[[str], bool]) -> None:
        """Nothing is asked of the server yet.

        Args:
            reader: Reads them.
            wants: Whether a stream is to be looked at: those that the configuration maps need not be.
        """
        self._reader = reader
        self._wants = wants
        self._streams: Sequence[str] = ()
        self._filled: Sequence[str] = ()
        self._again_at = 0.0

    async def read(self, streams: Sequence[str]) -> tuple[tuple[DelayedQueue, ...], tuple[ReadError, ...]]:
        """The queues that hold anything, and those that cannot be read; a user who may not see one misses nothing.

        Raises:
            ServerError: No node answers.
        """
        now = time.monotonic()
        if streams != self._streams or now >= self._again_at:
            self._streams, self._filled, self._again_at = streams, streams, now + REST
        found = await self._reader.queues(self._filled)
        queues = tuple(queue for queue in found.queues if self._wants(queue.stream))
        unread = {gap.stream: gap.reason for gap in found.gaps if gap.stream is not None and not gap.denied}
        self._filled = [*(queue.stream for queue in queues), *unread]
        gaps = (
            ReadError(reason, name, part="delayed messages")
            for name, reason in unread.items()
            if self._wants(name)
        )
        return queues, tuple(gaps)
