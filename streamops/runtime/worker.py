"""One worker: all handlers of an application on one server, from start to drain."""

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

import msgspec
from msgspec import Struct

from streamops.errors import ServerError
from streamops.model.workers import WorkerHeartbeat, WorkerState
from streamops.runtime.acks import Acknowledger
from streamops.runtime.beat import Beat, Watch
from streamops.runtime.calling import BatchMiddleware, Middleware, compile_batch, compile_call
from streamops.runtime.crew import Crew
from streamops.runtime.entry import Entry, Side
from streamops.runtime.events import Abandoned, Completed, Events, Lost, Overran, Troubled
from streamops.runtime.handlers import Handler, Kind, parameters_of
from streamops.runtime.naming import require_name
from streamops.runtime.pump import Pump
from streamops.runtime.recovery import Recovery
from streamops.runtime.screening import Screening
from streamops.runtime.settling import Settler
from streamops.runtime.source import BLOCK, Source
from streamops.runtime.threads import Threads
from streamops.wire.consuming.hearts import WORKER_PREFIX
from streamops.wire.consuming.leases import leave, release, release_all
from streamops.wire.consuming.permissions import require_permissions
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server

PULSE: Final = 0.5
FAREWELLS: Final = 3
"""How often a worker that leaves tries to say so."""
PAUSE: Final = 0.1
LAST_WAIT: Final = 1.0
"""Seconds that handlers may take to end once they were cut off."""


class WorkerOptions(Struct, frozen=True, kw_only=True):
    """How a worker lives.

    Attributes:
        pool: The pool that it is one of.
        app: What its heartbeat calls the application.
        beat: How often it beats; it counts as dead after three of them.
        grace: How long handlers may go on when it is told to stop.
        hang: How long its event loop may stand still before it gives its entries up.
        consumer: The consumers' name; empty for one of its own making. A name of one's own must be one worker's alone.
    """

    pool: str = "default"
    app: str = ""
    beat: timedelta = timedelta(seconds=5)
    grace: timedelta = timedelta(seconds=30)
    hang: timedelta = timedelta(minutes=5)
    consumer: str = ""


class Names(Struct, frozen=True):
    """Keys that are called otherwise than beside their stream.

    Attributes:
        dead_letters: Dead-letter queues, by their streams.
        delayed: Queues of delayed messages, by their streams.
    """

    dead_letters: dict[str, str] = {}
    delayed: dict[str, str] = {}


class Station(Struct, frozen=True):
    """A handler at work: its crew, its sources, and who settles its failures."""

    crew: Crew
    sources: tuple[Source, ...]
    settler: Settler


class Worker:
    """All handlers of an application, at work on one server.

    Attributes:
        id: Its ID, and its consumers' name.
        state: What it is doing.
        events: What it tells.
    """

    def __init__(
        self,
        handlers: Sequence[Handler],
        connection: ConnectionOptions,
        options: WorkerOptions,
        *,
        events: Events,
        middleware: Sequence[Middleware] = (),
        batch_middleware: Sequence[BatchMiddleware] = (),
        names: Names | None = None,
    ) -> None:
        self.id = options.consumer or new_worker_id()
        self.state = WorkerState.STARTING
        self.events = events
        self._handlers = handlers
        self._options = options
        self._middleware = middleware
        self._batch_middleware = batch_middleware
        self._connection = connection
        self._server = Server(connection)
        self._readers: list[Server] = []
        self._stopping = asyncio.Event()
        self._stations: list[Station] = []
        self._acknowledgers: dict[Side, Acknowledger] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._reading: list[asyncio.Task[None]] = []
        self._threads: Threads | None = None
        self._endless: set[asyncio.Task[None]] = set()
        self._beat = Beat(
            connection,
            every=options.beat,
            hang=options.hang,
            portrait=self.portrait,
            holdings=self._holdings,
            watch=Watch(self._overran, self._deleted, self._bereft, self._renewal_failed),
        )
        streams = tuple(stream for handler in handlers for stream, _ in handler.streams)
        names = names or Names()
        self._names = names
        self._pump = Pump(
            self._server, lambda: streams, events.emit, queues=names.delayed, dead_letters=names.dead_letters
        )

    @property
    def stations(self) -> Sequence[Station]:
        """The handlers at work."""
        return self._stations

    @property
    def in_hand(self) -> int:
        """Entries between delivery and confirmed acknowledgement."""
        return sum(len(side.in_hand) for side, _ in self._holdings())

    def portrait(self, state: WorkerState | None = None) -> WorkerHeartbeat:
        """The worker as it tells of itself; in another state where one is given."""
        return WorkerHeartbeat(
            id=self.id,
            host=socket.gethostname(),
            pid=os.getpid(),
            app=self._options.app,
            pool=self._options.pool,
            consumers=tuple(
                (sub.stream, sub.group, sub.consumer)
                for station in self._stations
                for sub in (source.subscription for source in station.sources)
            ),
            slots=sum(len(station.crew.slots) for station in self._stations),
            busy=sum(station.crew.busy for station in self._stations),
            state=state or self.state,
        )

    @property
    def stopping(self) -> bool:
        """Whether it was told to stop."""
        return self._stopping.is_set()

    @property
    def lingers(self) -> bool:
        """Whether handlers go on that could not be ended: only the process's end will end them."""
        return any(not task.done() for task in self._endless) or bool(self._threads and self._threads.running)

    def stop(self) -> None:
        """Take no more entries, finish those that were begun, and end."""
        self._stopping.set()

    def wake_pump(self, stream: str) -> None:
        """Have the delayed messages of a stream looked at now."""
        self._pump.wake(stream)

    async def run(self) -> None:
        """Work until told to stop, then drain.

        Raises:
            ServerError: At the start only: the server does not answer, or does not let us.
        """
        self._threads = self._new_threads()
        try:
            for handler in self._handlers:
                self._stations.append(self._station(handler))
            await self._require_permissions()
            if self._options.consumer:
                await require_name(self._server, self.id)
            for station in self._stations:
                for source in station.sources:
                    await source.prepare()
            self._beat.start()
            self._start()
            self.state = WorkerState.RUNNING
            await self._work()
            await self._drain()
        finally:
            await self._end()

    async def _require_permissions(self) -> None:
        """Find out now what would otherwise be found out with entries in hand."""
        subscriptions = [source.subscription for station in self._stations for source in station.sources]
        await require_permissions(self._server, subscriptions, worker_id=self.id, pool=self._options.pool)

    def _station(self, handler: Handler) -> Station:
        parameters = parameters_of(handler.function, batch=handler.batch > 1)
        batched = handler.batch > 1
        sources: list[Source] = []

        # The crew and its settler know each other, and the sources both.
        def hungry() -> None:
            for source in sources:
                source.hungry()

        async def failed(entry: Entry, error: BaseException) -> None:
            await settler.failed(entry, error)

        async def mark(entry: Entry) -> bool:
            return await settler.mark(entry)

        crew = Crew(
            handler,
            None if batched else compile_call(handler, parameters, self._middleware, self._threads),
            compile_batch(handler, parameters, self._batch_middleware, self._threads) if batched else None,
            failed=failed,
            mark=mark,
            hungry=hungry,
        )
        settler = Settler(
            self._server,
            crew,
            finished=_finished,
            again=lambda entry: self._source_of(entry).enqueue_again([entry]),
            is_pending_again=lambda entry: self._source_of(entry).is_pending_again(entry),
            wake_pump=self._pump.wake,
            emit=self.events.emit,
        )
        for stream, weight in handler.streams:
            subscription = Subscription(
                stream,
                handler.group,
                self.id,
                dead_letters=self._names.dead_letters.get(stream, ""),
                delayed=self._names.delayed.get(stream, ""),
            )
            sources.append(self._source(handler, subscription, crew, settler, weight))
        return Station(crew, tuple(sources), settler)

    def _source(
        self, handler: Handler, subscription: Subscription, crew: Crew, settler: Settler, weight: int
    ) -> Source:
        reader = Server(msgspec.structs.replace(self._connection, timeout=self._connection.timeout + BLOCK))
        self._readers.append(reader)
        screening = Screening(
            self._server,
            handler.guard,
            parameters_of(handler.function, batch=handler.batch > 1).body,
            failed=settler.failed,
            finished=self._acknowledge,
            emit=self.events.emit,
            tally=crew.tally,
        )
        source = Source(
            reader,
            self._server,
            subscription,
            crew,
            crew.buffer.add_queue(weight),
            now_ms=self._beat.clock.now_ms,
            steady=self._beat.is_steady,
            emit=self.events.emit,
            screening=screening,
        )
        lease = min(handler.lease, self._options.beat * 3).total_seconds()
        for side in source.sides:
            acknowledger = self._acknowledgers[side] = Acknowledger(
                self._server,
                side,
                lease=lease,
                clock=asyncio.get_running_loop().time,
                troubled=self._troubled(subscription.stream),
                confirmed=source.hungry,
                latencies=crew.tally.latencies,
            )
            side.finish = self._telling(acknowledger.add)
        return source

    def _start(self) -> None:
        beat = self._options.beat
        for station in self._stations:
            self._tasks += station.crew.start()
            for source in station.sources:
                self._reading.append(self._task(source.run(), f"read {source.subscription.stream}"))
                recovery = Recovery(
                    self._server,
                    source,
                    station.crew,
                    beat=beat,
                    steady=self._beat.is_steady,
                    emit=self.events.emit,
                )
                self._reading.append(self._task(recovery.run(), f"recover {source.subscription.stream}"))
                self._tasks += [
                    self._task(self._acknowledgers[side].run(), f"acknowledge {side.key}")
                    for side in source.sides
                ]
        self._tasks.append(self._task(self._pump.run(), "pump"))

    async def _work(self) -> None:
        """Turn until told to stop, or until a task that should never end has."""
        while not self._stopping.is_set():
            self._turn()
            for task in (*self._tasks, *self._reading):
                if task.done():
                    task.result()
            with suppress(TimeoutError):
                async with asyncio.timeout(PULSE):
                    await self._stopping.wait()

    def _turn(self) -> None:
        """What has to be done now and then."""
        if self._beat.failure is not None:
            raise self._beat.failure
        self._beat.pulse = time.monotonic()
        paused = self._beat.paused
        self.state = WorkerState.PAUSED if paused else WorkerState.RUNNING
        for station in self._stations:
            for source in station.sources:
                source.paused = paused

    async def _drain(self) -> None:
        """Stop reading, hand back what nobody has begun, let the rest finish, acknowledge it, leave."""
        self.state = WorkerState.DRAINING
        await _cancel(self._reading)
        unread: list[Entry] = []
        unstarted: list[Entry] = []
        for station in self._stations:
            unbegun = station.crew.close()
            unstarted += [entry for entry in unbegun if not entry.again]
            unread += [entry for entry in unbegun if entry.again]
            unread += station.settler.stop()
        deadline = time.monotonic() + self._options.grace.total_seconds()
        await self._hand_back(unread)
        await self._hand_back(unstarted, unstarted=True)
        while any(station.crew.busy for station in self._stations) and time.monotonic() < deadline:
            self._beat.pulse = time.monotonic()
            await asyncio.sleep(0.01)
        kept = await self._cut_off()
        await self._flush(deadline)
        # What is handed back must not be renewed any more.
        await asyncio.to_thread(self._beat.stop)
        await self._leave(kept)

    async def _cut_off(self) -> set[Entry]:
        """End what handlers still do; the entries of those that do not end, which nobody else may begin meanwhile."""
        if self._threads is not None:
            self._threads.abandon()
        slots = [slot for station in self._stations for slot in station.crew.slots]
        self._endless = await _cancel([slot.task for slot in slots if slot.task], LAST_WAIT)
        kept = {entry for slot in slots if slot.task in self._endless for entry in slot.entries}
        kept.update(self._threads.running if self._threads is not None else ())
        for entry in kept:
            self.events.emit(Abandoned(entry.stream, entry.group, entry.id))
        for station in self._stations:
            station.settler.stop()
        return kept

    async def _flush(self, deadline: float) -> None:
        """Send the last acknowledgements, as long as there is time."""
        for side, acknowledger in self._acknowledgers.items():
            while acknowledger.waiting:
                try:
                    await acknowledger.flush()
                except ServerError as error:
                    self.events.emit(Troubled(side.key, error))
                    if time.monotonic() > deadline:
                        return
                    await asyncio.sleep(0.1)
                else:
                    # What another task has under way is confirmed by that one.
                    await asyncio.sleep(0.005)

    async def _hand_back(self, entries: Iterable[Entry], *, unstarted: bool = False) -> None:
        """Let others have entries at once; those that nobody has ever started as if they had never been delivered."""
        by_side: dict[Side, list[bytes]] = {}
        for entry in entries:
            by_side.setdefault(entry.side, []).append(entry.raw_id)
        for side, ids in by_side.items():
            # First of all, so that they are renewed no more. A renewal under way is undone when the worker leaves.
            for raw_id in ids:
                side.in_hand.pop(raw_id, None)
            try:
                await release(
                    self._server, side.subscription, retries=side.retries, ids=ids, unstarted=unstarted
                )
            except ServerError as error:
                self.events.emit(Troubled(side.key, error))

    async def _leave(self, kept: Iterable[Entry]) -> None:
        """Hand back whatever else is still pending under our name, known or not; delete the consumer where nothing is."""
        ids: dict[Side, list[bytes]] = {}
        for entry in kept:
            ids.setdefault(entry.side, []).append(entry.raw_id)
        for side, _ in self._holdings():
            for _ in range(FAREWELLS):
                if await self._left(side, ids.get(side, ())):
                    break
                await asyncio.sleep(PAUSE)

    async def _left(self, side: Side, kept: Collection[bytes]) -> bool:
        """Whether the server has heard that we leave one side."""
        try:
            await release_all(self._server, side.subscription, retries=side.retries, keep=kept)
            await leave(self._server, side.subscription, consumer=self.id, retries=side.retries)
        except ServerError as error:
            self.events.emit(Troubled(side.key, error))
            return False
        return True

    async def _end(self) -> None:
        for station in self._stations:
            station.crew.close()
        if self._threads is not None:
            self._threads.abandon()
        self._endless |= await _cancel({*self._reading, *self._tasks} - self._endless, LAST_WAIT)
        await asyncio.to_thread(self._beat.stop)
        for station in self._stations:
            for source in station.sources:
                await source.close()
        for server in (self._server, *self._readers):
            await server.close()
        if self._threads is not None:
            self._threads.close()

    def _telling(self, add: Callable[[Entry], None]) -> Callable[[Entry], None]:
        """What is called with an entry that was handled; telling costs nothing where nobody listens."""
        if not self.events.heard(Completed):
            return add

        def add_and_tell(entry: Entry) -> None:
            add(entry)
            self.events.emit(Completed(entry.stream, entry.group, entry.id, entry.attempt))

        return add_and_tell

    def _acknowledge(self, entry: Entry) -> None:
        """Have an entry acknowledged that needs no handling."""
        self._acknowledgers[entry.side].add(entry)

    def _holdings(self) -> list[tuple[Side, timedelta]]:
        return [
            (side, station.crew.handler.lease)
            for station in self._stations
            for source in station.sources
            for side in source.sides
        ]

    def _overran(self, side: Side, entries: int) -> None:
        self.events.emit(Overran(side.subscription.stream, side.subscription.group, entries))

    def _deleted(self, side: Side, entries: Sequence[Entry]) -> None:
        sub = side.subscription
        for entry in entries:
            self.events.emit(Lost(sub.stream, sub.group, entry.id, entry.deliveries))

    def _bereft(self, side: Side) -> None:
        self._source_at(side).bereft()

    def _renewal_failed(self, side: Side, error: ServerError) -> None:
        self.events.emit(Troubled(side.key, error))

    def _source_of(self, entry: Entry) -> Source:
        return self._source_at(entry.side)

    def _source_at(self, side: Side) -> Source:
        return next(
            source for station in self._stations for source in station.sources if side in source.sides
        )

    def _troubled(self, stream: str) -> Callable[[ServerError], None]:
        return lambda error: self.events.emit(Troubled(stream, error))

    def _new_threads(self) -> Threads | None:
        threads = sum(handler.concurrency for handler in self._handlers if handler.kind is Kind.THREADS)
        return Threads(threads) if threads else None

    @staticmethod
    def _task(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        return asyncio.create_task(work, name=name)


def new_worker_id() -> str:
    """A worker's ID, which no other worker has."""
    return f"{WORKER_PREFIX}{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"


def _finished(entry: Entry) -> None:
    """An entry was handled."""
    entry.side.finish(entry)


async def _cancel(tasks: Iterable[asyncio.Task[None]], limit: float | None = None) -> set[asyncio.Task[None]]:
    """Cancel tasks and wait for them to end; those that have not after so many seconds."""
    cancelled = [task for task in tasks if not task.done()]
    for task in cancelled:
        task.cancel()
    done, living = await asyncio.wait(cancelled, timeout=limit) if cancelled else (set(), set())
    for task in done:
        if not task.cancelled():
            task.exception()
    return living
