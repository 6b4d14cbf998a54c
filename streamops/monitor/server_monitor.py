"""One server under observation: which streams there are, snapshots of them, and what the health rules find. Writes nothing."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from streamops.errors import ServerError
from streamops.model.observation import Observation
from streamops.model.streams import ReadError, Snapshot
from streamops.monitor.collect import Collector
from streamops.monitor.context import ServerContext
from streamops.monitor.delayed import DelayedReader, DelayedWatch
from streamops.monitor.discover import Discovery
from streamops.monitor.observe import Observer
from streamops.monitor.thresholds import Thresholds
from streamops.monitor.watch import Watch
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server


class ServerMonitor:
    """One server under observation.

    Args:
        place: The server, and what is configured for it.
        watch: What to look at.
        selector: The options that choose the server in commands, as typed; empty if it is the default one.

    Attributes:
        options: How the server is reached; ``options.label`` is its address in words.
        place: The server, and what is configured for it.
        watch: What is looked at.
        discovery: Which streams are known.
        delayed: Reads delayed messages.
        observer: Remembers snapshots, and judges them.
    """

    def __init__(self, place: ServerContext, watch: Watch, selector: str = "") -> None:
        self.options = place.server.options
        self.place = place
        self.watch = watch
        self.discovery = Discovery(place.server, watch)
        self.delayed = DelayedReader(place)
        self.observer = Observer(place.thresholds, rates=not watch.deep, selector=selector)
        self._server = place.server
        self._collector = Collector(place.server, watch)
        self._delayed_watch = DelayedWatch(self.delayed, self.discovery.wants)
        self._discovering: asyncio.Task[None] | None = None

    @classmethod
    async def connect(
        cls,
        options: ConnectionOptions,
        watch: Watch,
        thresholds: Thresholds = Thresholds(),  # noqa: B008 - frozen
    ) -> Self:
        """Connect and log in, to watch alone; raises ``ServerError`` if that fails."""
        server = await Server.connect(options)
        return cls(ServerContext(server, watch.dead_letters, watch.delayed, thresholds=thresholds), watch)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop discovering and close all connections."""
        try:
            if self._discovering is not None:
                self._discovering.cancel()
                with suppress(asyncio.CancelledError):
                    await self._discovering
        finally:
            await self.place.targets.close()
            await self._server.close()

    async def discover(self, *, queues: bool = False) -> None:
        """Scan the keyspace once from end to end; raises ``ServerError`` if it cannot be.

        Args:
            queues: Look for delayed queues without a stream, too; if that fails, the next snapshot has a gap.
        """
        await self.discovery.scan()
        if queues:
            try:
                await self.discovery.find_queues()
            except ServerError as error:
                self.discovery.problem = self.discovery.problem or error.message

    def start_discovery(self, *, queues: bool = True) -> None:
        """Keep scanning in the background, at a pace that stays out of the way.

        Args:
            queues: Whether delayed queues without a stream are looked for, unless something else does.
        """
        if self._discovering is None:
            self._discovering = asyncio.create_task(self.discovery.run(queues=queues))

    async def collect(self, only: Sequence[str] = ()) -> Snapshot:
        """A snapshot of the streams named, or of all that are known; raises ``ServerError`` if no node answers."""
        names = list(only) or self.discovery.names
        watch = DelayedWatch(self.delayed, frozenset(only).__contains__) if only else self._delayed_watch
        snapshot = await self._collector.collect(
            names[: self.watch.max_streams] if not only else names,
            discovered=len(names),
            complete=self.discovery.complete,
            partial=bool(only),
            expected=only or self.discovery.pinned,
        )
        # Delayed messages outlive their stream.
        beside = only or (*self.discovery.pinned, *sorted(self.discovery.queues))
        delayed, gaps = await watch.read([*(stream.name for stream in snapshot.streams), *beside])
        # If a stream cannot be reached, nor can its queue.
        told = {(gap.stream, gap.reason) for gap in snapshot.gaps}
        gaps = tuple(gap for gap in gaps if (gap.stream, gap.reason) not in told)
        if self.discovery.problem and not only:
            gaps = (*gaps, ReadError(self.discovery.problem, part="discovery"))
        return replace(snapshot, delayed=delayed, gaps=(*snapshot.gaps, *gaps))

    async def observe(self, only: Sequence[str] = ()) -> Observation:
        """A snapshot with its history and one assessment."""
        return self.observer.observe(await self.collect(only), partial=bool(only))

    def with_rates(self, observation: Observation) -> Observation:
        """The last observation with its rates, which those of a deep watch leave out."""
        return self.observer.with_rates(observation)
