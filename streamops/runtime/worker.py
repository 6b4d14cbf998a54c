"""One worker: all handlers of an application on one server, from start to drain."""

import asyncio
import os
import secrets
import socket
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager, nullcontext, suppress
from datetime import timedelta
from typing import Any, Final

from msgspec import Struct

from streamops.errors import Refused, SettingsError, StreamopsError
from streamops.model.pools import WorkerHeartbeat, WorkerState
from streamops.runtime.calling import Threads
from streamops.runtime.context import Around, Names, ServerClock, WorkerContext
from streamops.runtime.counts import HandlerCounts
from streamops.runtime.cron import CronScheduler
from streamops.runtime.draining import Drain
from streamops.runtime.entry import Entry
from streamops.runtime.events import Abandoned, Events
from streamops.runtime.executor import cancel
from streamops.runtime.groups import Groups
from streamops.runtime.handlers import CallKind, Handler
from streamops.runtime.heartbeat import Heartbeat
from streamops.runtime.promoter import Promoter
from streamops.runtime.retry import raised_at, words
from streamops.runtime.runner import HandlerRunner
from streamops.wire.consuming.entries import delayed_left, work_left
from streamops.wire.consuming.heartbeats import WORKER_PREFIX, Namesake, read_namesake
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.options import ConnectionOptions
from streamops.wire.permissions import require_permissions
from streamops.wire.server import Server

TURN: Final = 0.5
GLANCE: Final = 0.01
LAST_WAIT: Final = 1.0
"""Seconds that cancelled handlers have to end."""
NAMESAKE_GLANCE: Final = 0.1
LONGEST_WAIT: Final = 60.0
"""Seconds after which the heartbeat of a killed worker has expired."""
EnterLifespan = Callable[[], AbstractAsyncContextManager[object]]
"""Makes the application's lifespan, an async context manager."""


class WorkerOptions(Struct, frozen=True, kw_only=True):
    """Options of a worker.

    Attributes:
        pool: The pool that it belongs to.
        app: The application's name in its heartbeat.
        beat: Time between heartbeats; a worker counts as dead after three missed ones.
        grace: Time that handlers have to finish after ``stop``.
        block: How long a read waits for entries (``XREADGROUP BLOCK``). A paused worker reports so once the read under
            way has ended; the read connection's timeout is longer by this much.
        hang: How long its event loop may be blocked before other workers take its entries.
        consumer: The consumers' name, used by no other worker; empty to generate one.
    """

    pool: str = "default"
    app: str = ""
    beat: timedelta = timedelta(seconds=5)
    grace: timedelta = timedelta(seconds=30)
    block: timedelta = timedelta(seconds=2)
    hang: timedelta = timedelta(minutes=5)
    consumer: str = ""


class Worker:
    """Runs all handlers of an application on one server.

    Attributes:
        id: Its ID, which is also its consumers' name.
        state: The state in its heartbeat.
        events: Where it emits events.
        runners: One for each handler.
    """

    def __init__(
        self,
        handlers: Sequence[Handler],
        connection: ConnectionOptions,
        options: WorkerOptions,
        *,
        events: Events,
        names: Names | None = None,
        lifespan: EnterLifespan = nullcontext,
        around: Sequence[Around] = (),
    ) -> None:
        self.id = options.consumer or new_worker_id()
        self.state = WorkerState.STARTING
        self.events = events
        self._options = options
        self._lifespan = lifespan
        self._server = server = Server(connection)
        names = names or Names()
        streams = tuple(stream for handler in handlers for stream, _ in handler.streams)
        self._promoter = Promoter(
            server, streams, events, queues=names.delayed, dead_letters=names.dead_letters
        )
        clock = ServerClock(options.beat)
        self._context = WorkerContext(
            server, self.id, options.beat, clock, self._promoter, events, names, options.block, around
        )
        crons = {stream: one.cron for one in handlers if one.cron for stream, _ in one.streams}
        self._cron = CronScheduler(crons, self._context)
        self._groups = Groups(self._context)
        self._threads = Threads(sum(one.concurrency for one in handlers if one.kind is CallKind.THREADS))
        self.runners = tuple(
            HandlerRunner(handler, self._context, self._groups, self._threads) for handler in handlers
        )
        self._streams = tuple(stream for runner in self.runners for stream in runner.streams)
        self._consumers = tuple(consumer for runner in self.runners for consumer in runner.consumers)
        self._heartbeat = Heartbeat(
            self._context, options.hang, self.heartbeat_payload, self._streams, self._groups
        )
        self._stopping = asyncio.Event()
        self._patience = LAST_WAIT

    @property
    def in_flight(self) -> int:
        """Entries between delivery and confirmed acknowledgement, those read with NOACK until they are handled."""
        return sum(len(stream.in_flight) + stream.noack_open for stream in self._streams)

    @property
    def counts(self) -> tuple[HandlerCounts, ...]:
        """Counters of its handlers."""
        return tuple(runner.snapshot() for runner in self.runners)

    @property
    def stopping(self) -> bool:
        """Whether ``stop`` was called."""
        return self._stopping.is_set()

    @property
    def lingers(self) -> bool:
        """Whether handlers still run that could not be ended: they end with the process."""
        return any(runner.executor.lingers for runner in self.runners) or bool(self._threads.running)

    @property
    def subscriptions(self) -> tuple[Subscription, ...]:
        """One subscription for each consumer."""
        return tuple(consumer.subscription for consumer in self._consumers)

    async def remaining_work(self, *, delayed: bool) -> str:
        """Describe the work left in its groups, for this worker or others; empty if there is none.

        Args:
            delayed: Whether delayed messages that are not due count.

        Raises:
            ServerError: The server does not answer, or refuses.
        """
        # Without entries in flight no handler runs that could fail or publish.
        if in_flight := self.in_flight:
            return f"{in_flight} in flight"
        before = [stream.last_seen for stream in self._streams]
        # Delayed messages first: one that leaves the queue before the count is in its stream by then.
        for sub in self.subscriptions if delayed else ():
            waiting = await delayed_left(self._server, sub)
            # The message of a cron's next slot is always in the queue.
            if waiting > self._cron.schedules(sub.stream):
                return f"{waiting} delayed for {sub.stream}; `hasten()` lets their time have come"
        for sub in self.subscriptions:
            if work := await work_left(self._server, sub):
                return f"{sub.stream} has {work} or more for {sub.group}"
        after = [stream.last_seen for stream in self._streams]
        return "" if before == after else "entries that came just now"

    def stop(self) -> None:
        """Take no more entries, finish those that were started, and end."""
        self._stopping.set()

    def wake_promoter(self, stream: str) -> None:
        """Check the delayed messages of a stream now."""
        self._promoter.wake(stream)

    def heartbeat_payload(self, state: WorkerState | None = None) -> WorkerHeartbeat:
        """The content of its heartbeat, with ``state`` instead of its own if given."""
        return WorkerHeartbeat(
            id=self.id,
            host=socket.gethostname(),
            pid=os.getpid(),
            app=self._options.app,
            pool=self._options.pool,
            consumers=tuple((sub.stream, sub.group, sub.consumer) for sub in self.subscriptions),
            slots=sum(len(runner.executor.slots) for runner in self.runners),
            busy=sum(runner.executor.busy for runner in self.runners),
            state=state or self.state,
            worked=sum(runner.counts.worked for runner in self.runners),
        )

    async def run(self) -> None:
        """Enter the application's lifespan, work until ``stop`` is called, drain, and leave the lifespan.

        Raises:
            ServerError: At the start only: the server does not answer, or refuses.
            SettingsError: The lifespan failed, or a handler takes what it does not provide.
        """
        async with AsyncExitStack() as lifespan:
            with _lifespan_errors("cannot be entered"):
                state = await lifespan.enter_async_context(self._lifespan())
            await self._live(state)
            with _lifespan_errors("failed when it was left"):
                await lifespan.aclose()

    async def _live(self, state: object) -> None:
        try:
            for runner in self.runners:
                runner.prepare(state)
            await self._prepare()
            await self._work()
        except BaseExceptionGroup as problems:
            raise problems.exceptions[0] from None
        finally:
            await self._end()

    async def _prepare(self) -> None:
        """Check permissions and the consumer name before any entry is in flight; create groups; start the heartbeat."""
        await require_permissions(
            self._server, self.subscriptions, worker_id=self.id, pool=self._options.pool
        )
        if self._options.consumer:
            await require_name(self._server, self.id)
        for runner in self.runners:
            await self._groups.prepare(runner.streams, runner.handler.start)
        self._heartbeat.start()

    async def _work(self) -> None:
        """Run all parts of a worker, each a task that runs until it is cancelled."""
        claimers = [claimer for runner in self.runners for claimer in runner.claimers]
        async with asyncio.TaskGroup() as parts:

            def part(name: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
                return parts.create_task(work, name=name)

            claiming = [part("claim", one.run()) for one in claimers]
            reading = [part(f"read {one.subscription.stream}", one.run()) for one in self._consumers]
            handling = [part(f"handle {one.handler.name}", one.executor.run()) for one in self.runners]
            acknowledging = [part(f"acknowledge {one.key}", one.acknowledge()) for one in self._streams]
            promoting = part("promote", self._promoter.run())
            scheduling = part("cron", self._cron.run())
            self.state = WorkerState.RUNNING
            await self._watch()
            await cancel(claiming)
            await self._drain(reading)
            for each in (*handling, *acknowledging, promoting, scheduling):
                each.cancel()

    async def _watch(self) -> None:
        """Show the heartbeat thread that the event loop turns, and apply a pause, until ``stop`` is called."""
        while not self._stopping.is_set():
            if self._heartbeat.failure is not None:
                raise self._heartbeat.failure
            self._heartbeat.pulse = time.monotonic()
            for consumer in self._consumers:
                consumer.paused = self._heartbeat.paused
            # Entries of a read under way are still handled: until then it is not paused.
            quiet = self._heartbeat.paused and all(consumer.is_quiet for consumer in self._consumers)
            self.state = WorkerState.PAUSED if quiet else WorkerState.RUNNING
            with suppress(TimeoutError):
                async with asyncio.timeout(TURN):
                    await self._stopping.wait()

    async def _drain(self, reading: Sequence[asyncio.Task[None]]) -> None:
        """Stop reading, hand back entries that were not started, let the rest finish, acknowledge it, leave."""
        self.state = WorkerState.DRAINING
        drain = Drain(self._context)
        deadline = time.monotonic() + self._options.grace.total_seconds()
        noack = [one.subscription.noack for one in self._consumers]
        await cancel(task for task, waits in zip(reading, noack, strict=True) if not waits)
        # Entries read with NOACK cannot be handed back: the read under way ends, and all that it brings is handled.
        last = [one for one in self._consumers if one.subscription.noack]
        for consumer in last:
            consumer.paused, consumer.executor.linger = True, 0.0
        while any(one.is_reading or one.executor.has_unstarted for one in last):
            if time.monotonic() > deadline:
                break
            self._heartbeat.pulse = time.monotonic()
            await asyncio.sleep(GLANCE)
        await cancel(reading)
        waiting = [entry for runner in self.runners for entry in runner.stop()]
        await drain.hand_back((one for one in waiting if one.may_have_started), unstarted=False)
        await drain.hand_back((one for one in waiting if not one.may_have_started), unstarted=True)
        while any(runner.executor.busy for runner in self.runners) and time.monotonic() < deadline:
            self._heartbeat.pulse = time.monotonic()
            await asyncio.sleep(GLANCE)
        kept = await self._cut_off()
        await drain.flush(self._streams, deadline)
        # The heartbeat thread must not renew the leases of entries that are handed back.
        await asyncio.to_thread(self._heartbeat.stop)
        await drain.leave(self._streams, kept)

    async def _cut_off(self) -> set[Entry]:
        """Cancel handlers that still run; the entries of those that do not end, which no other worker may start."""
        self._threads.abandon()
        endless = await asyncio.gather(*(one.executor.end(self._patience) for one in self.runners))
        self._patience = 0.0
        kept = set(self._threads.running).union(*endless)
        for entry in kept:
            self.events.emit(Abandoned(entry.stream, entry.group, entry.id))
        for runner in self.runners:
            runner.executor.close()
        return kept

    async def _end(self) -> None:
        for runner in self.runners:
            runner.executor.close()
        self._threads.abandon()
        await asyncio.gather(*(runner.executor.end(self._patience) for runner in self.runners))
        for runner in self.runners:
            runner.count_lost()
        await asyncio.to_thread(self._heartbeat.stop)
        await self._groups.close()
        for consumer in self._consumers:
            await consumer.close()
        await self._server.close()
        self._threads.close()


@contextmanager
def _lifespan_errors(what: str) -> Iterator[None]:
    """Turn an exception of the application's lifespan into a ``SettingsError``; our own errors pass."""
    try:
        yield
    except StreamopsError:
        raise
    except Exception as error:
        raise SettingsError(
            f"the lifespan {what}: {words(error)}", f"Raised at {raised_at(error)}."
        ) from error


def new_worker_id() -> str:
    """Generate a worker ID: host, process and a random suffix."""
    return f"{WORKER_PREFIX}{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"


async def require_name(server: Server, worker_id: str) -> None:
    """Refuse a consumer name that a live worker has; wait for the heartbeat of a killed one to expire.

    Two workers of one name would each take the other's entries in flight for entries lost in a reply.

    Raises:
        Refused: A live worker has the name.
        ServerError: The server does not answer.
    """
    deadline = time.monotonic() + LONGEST_WAIT
    first = other = await read_namesake(server, worker_id)
    while other is not None and not _is_this(other):
        if first is None or other.beat_ms != first.beat_ms or time.monotonic() > deadline:
            raise Refused(
                f"{worker_id} is the name of a worker on {other.host}, process {other.pid}, which lives",
                "End that one first, give this one another name, or none: then it makes one of its own.",
            )
        await asyncio.sleep(NAMESAKE_GLANCE)
        other = await read_namesake(server, worker_id)


def _is_this(other: Namesake) -> bool:
    return other.pid == os.getpid() and other.host == socket.gethostname()
