"""One worker: all handlers of an application on one server, from start to drain."""

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

from msgspec import Struct

from streamops.errors import ServerError
from streamops.model.workers import WorkerHeartbeat, WorkerState
from streamops.runtime.calling import BatchMiddleware, Middleware
from streamops.runtime.draining import Drain, cancel
from streamops.runtime.entry import Entry, Side
from streamops.runtime.events import Abandoned, Events, Lost, Overran, Troubled
from streamops.runtime.handlers import Handler, Kind
from streamops.runtime.heartbeat import Heartbeat, Watch
from streamops.runtime.naming import require_name
from streamops.runtime.promoter import Promoter
from streamops.runtime.runner import HandlerRunner, Names, WorkerContext
from streamops.runtime.threads import Threads
from streamops.wire.consuming.hearts import WORKER_PREFIX
from streamops.wire.consuming.permissions import require_permissions
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server

PULSE: Final = 0.5
GLANCE: Final = 0.01
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
        self._names = names or Names()
        self._server = Server(connection)
        self._stopping = asyncio.Event()
        self._runners: list[HandlerRunner] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._reading: list[asyncio.Task[None]] = []
        self._threads: Threads | None = None
        self._endless: set[asyncio.Task[None]] = set()
        self._beat = Heartbeat(
            connection,
            every=options.beat,
            hang=options.hang,
            payload_of=self.payload_of,
            holdings=self._holdings,
            watch=Watch(self._overran, self._deleted, self._group_lost, self._renewal_failed),
            company=self._server,
        )
        streams = tuple(stream for handler in handlers for stream, _ in handler.streams)
        self._promoter = Promoter(
            self._server,
            lambda: streams,
            events.emit,
            queues=self._names.delayed,
            dead_letters=self._names.dead_letters,
        )

    @property
    def runners(self) -> Sequence[HandlerRunner]:
        """The handlers at work."""
        return self._runners

    @property
    def in_flight(self) -> int:
        """Entries between delivery and confirmed acknowledgement."""
        return sum(len(side.in_flight) for side, _ in self._holdings())

    def payload_of(self, state: WorkerState | None = None) -> WorkerHeartbeat:
        """The worker as it tells of itself; in another state where one is given."""
        return WorkerHeartbeat(
            id=self.id,
            host=socket.gethostname(),
            pid=os.getpid(),
            app=self._options.app,
            pool=self._options.pool,
            consumers=tuple(
                (sub.stream, sub.group, sub.consumer)
                for runner in self._runners
                for sub in (source.subscription for source in runner.sources)
            ),
            slots=sum(len(runner.executor.slots) for runner in self._runners),
            busy=sum(runner.executor.busy for runner in self._runners),
            state=state or self.state,
            worked=sum(runner.executor.counts.worked for runner in self._runners),
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

    def wake_promoter(self, stream: str) -> None:
        """Have the delayed messages of a stream looked at now."""
        self._promoter.wake(stream)

    async def run(self) -> None:
        """Work until told to stop, then drain.

        Raises:
            ServerError: At the start only: the server does not answer, or does not let us.
        """
        self._threads = self._new_threads()
        try:
            around = self._context()
            self._runners += [HandlerRunner(handler, around) for handler in self._handlers]
            await self._require_permissions()
            if self._options.consumer:
                await require_name(self._server, self.id)
            for runner in self._runners:
                await runner.prepare()
            self._beat.start()
            self._start()
            self.state = WorkerState.RUNNING
            await self._work()
            await self._drain()
        finally:
            await self._end()

    async def _require_permissions(self) -> None:
        """Find out now what would otherwise be found out with entries in hand."""
        subscriptions = [source.subscription for runner in self._runners for source in runner.sources]
        await require_permissions(self._server, subscriptions, worker_id=self.id, pool=self._options.pool)

    def _context(self) -> WorkerContext:
        return WorkerContext(
            server=self._server,
            consumer=self.id,
            interval=self._options.beat,
            beat=self._beat,
            pump=self._promoter,
            threads=self._threads,
            events=self.events,
            middleware=self._middleware,
            batch_middleware=self._batch_middleware,
            names=self._names,
        )

    def _start(self) -> None:
        for runner in self._runners:
            reading, working = runner.start()
            self._reading += reading
            self._tasks += working
        self._tasks.append(asyncio.create_task(self._promoter.run(), name="pump"))

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
        for runner in self._runners:
            for source in runner.sources:
                source.paused = paused

    async def _drain(self) -> None:
        """Stop reading, hand back what nobody has begun, let the rest finish, acknowledge it, leave."""
        self.state = WorkerState.DRAINING
        drain = Drain(self._server, self.events.emit)
        await cancel(self._reading)
        unbegun = [entry for runner in self._runners for entry in runner.stop()]
        deadline = time.monotonic() + self._options.grace.total_seconds()
        await drain.hand_back((one for one in unbegun if one.may_have_started), unstarted=False)
        await drain.hand_back((one for one in unbegun if not one.may_have_started), unstarted=True)
        while any(runner.executor.busy for runner in self._runners) and time.monotonic() < deadline:
            self._beat.pulse = time.monotonic()
            await asyncio.sleep(GLANCE)
        kept = await self._cut_off()
        await drain.flush(
            (one for runner in self._runners for one in runner.acknowledgers.values()), deadline
        )
        # What is handed back must not be renewed any more.
        await asyncio.to_thread(self._beat.stop)
        await drain.leave((side for side, _ in self._holdings()), kept)

    async def _cut_off(self) -> set[Entry]:
        """End what handlers still do; the entries of those that do not end, which nobody else may begin meanwhile."""
        if self._threads is not None:
            self._threads.abandon()
        slots = [slot for runner in self._runners for slot in runner.executor.slots]
        self._endless = await cancel([slot.task for slot in slots if slot.task], LAST_WAIT)
        kept = {entry for slot in slots if slot.task in self._endless for entry in slot.entries}
        kept.update(self._threads.running if self._threads is not None else ())
        for entry in kept:
            self.events.emit(Abandoned(entry.stream, entry.group, entry.id))
        for runner in self._runners:
            runner.outcomes.stop()
        return kept

    async def _end(self) -> None:
        for runner in self._runners:
            runner.executor.close()
        if self._threads is not None:
            self._threads.abandon()
        self._endless |= await cancel({*self._reading, *self._tasks} - self._endless, LAST_WAIT)
        await asyncio.to_thread(self._beat.stop)
        for runner in self._runners:
            await runner.close()
        await self._server.close()
        if self._threads is not None:
            self._threads.close()

    def _holdings(self) -> list[tuple[Side, timedelta]]:
        return [(side, runner.handler.lease) for runner in self._runners for side in runner.sides]

    def _overran(self, side: Side, entries: int) -> None:
        self.events.emit(Overran(side.subscription.stream, side.subscription.group, entries))

    def _deleted(self, side: Side, entries: Sequence[Entry]) -> None:
        sub = side.subscription
        for entry in entries:
            self.events.emit(Lost(sub.stream, sub.group, entry.id, entry.deliveries))

    def _group_lost(self, side: Side) -> None:
        runner = next(one for one in self._runners if side in one.acknowledgers)
        runner.source_at(side).groups.group_lost()

    def _renewal_failed(self, side: Side, error: ServerError) -> None:
        self.events.emit(Troubled(side.key, error))

    def _new_threads(self) -> Threads | None:
        threads = sum(handler.concurrency for handler in self._handlers if handler.kind is Kind.THREADS)
        return Threads(threads) if threads else None


def new_worker_id() -> str:
    """A worker's ID, which no other worker has."""
    return f"{WORKER_PREFIX}{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"
