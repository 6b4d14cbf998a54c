"""A handler at work: its slots, the streams that feed them, who settles its failures, who takes over from the dead."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from datetime import timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import ServerError
from streamops.runtime.acknowledger import Acknowledger
from streamops.runtime.calling import BatchMiddleware, Middleware, compile_batch, compile_call
from streamops.runtime.claiming import Claimer
from streamops.runtime.consumer import BLOCK, Source
from streamops.runtime.dedup import Deduplicator
from streamops.runtime.entry import Entry, Side
from streamops.runtime.events import Completed, Events, Troubled
from streamops.runtime.executor import Executor
from streamops.runtime.handlers import Handler, Parameters, parameters_of
from streamops.runtime.heartbeat import Heartbeat
from streamops.runtime.outcomes import Outcomes
from streamops.runtime.promoter import Promoter
from streamops.runtime.threads import Threads
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.server import Server


class Names(Struct, frozen=True):
    """Keys that are called otherwise than beside their stream.

    Attributes:
        dead_letters: Dead-letter queues, by their streams.
        delayed: Queues of delayed messages, by their streams.
    """

    dead_letters: dict[str, str] = {}
    delayed: dict[str, str] = {}


class WorkerContext(Struct, frozen=True):
    """What all stations of one worker share.

    Attributes:
        server: Where they work; each stream is read through a connection of its own.
        consumer: The consumers' name.
        interval: How often the worker beats.
        beat: The heartbeat, which keeps their leases and the server's time.
        pump: What moves delayed messages.
        threads: Where functions run that would stop the event loop; none where there are none.
        events: What they tell.
        middleware: What is around each entry's handling.
        batch_middleware: What is around each batch's.
        names: Keys that are called otherwise.
    """

    server: Server
    consumer: str
    interval: timedelta
    beat: Heartbeat
    pump: Promoter
    threads: Threads | None
    events: Events
    middleware: Sequence[Middleware]
    batch_middleware: Sequence[BatchMiddleware]
    names: Names


class HandlerRunner:
    """One handler at work.

    Attributes:
        handler: The handler.
        crew: Its slots.
        sources: The streams that feed them.
        settler: Who settles its failures.
        acknowledgers: Who confirms what was handled, by where it came from.
    """

    def __init__(self, handler: Handler, around: WorkerContext) -> None:
        self.handler = handler
        self.acknowledgers: dict[Side, Acknowledger] = {}
        self._around = around
        self._readers: list[Server] = []
        parameters = parameters_of(handler.function, batch=handler.batch > 1)
        self.executor = self._new_crew(parameters)
        self.outcomes = Outcomes(
            around.server,
            self.executor,
            finished=_finished,
            again=lambda entry: self.source_at(entry.side).enqueue_again([entry]),
            is_pending_again=lambda entry: self.source_at(entry.side).groups.is_pending_again(entry),
            wake_promoter=around.pump.wake,
            emit=around.events.emit,
        )
        self.sources: Sequence[Source] = [
            self._new_source(stream, weight, parameters) for stream, weight in handler.streams
        ]

    @property
    def sides(self) -> Iterator[Side]:
        """All streams that it reads, retry streams among them."""
        return (side for source in self.sources for side in source.sides)

    def source_at(self, side: Side) -> Source:
        """The source that a side is one of; raises ``StopIteration`` where it is another station's."""
        return next(source for source in self.sources if side in source.sides)

    async def prepare(self) -> None:
        """Create the groups where there are none; raises ``ServerError`` where that cannot be."""
        for source in self.sources:
            await source.groups.prepare(self.handler.start)

    def start(self) -> tuple[list[asyncio.Task[None]], list[asyncio.Task[None]]]:
        """Start working; the tasks that take entries in, which end first, and the others."""
        around = self._around
        working, reading = self.executor.start(), []
        for source in self.sources:
            stream = source.subscription.stream
            recovery = Claimer(
                around.server,
                source,
                self.executor,
                beat=around.interval,
                steady=around.beat.is_steady,
                emit=around.events.emit,
            )
            reading += [_task(source.run(), f"read {stream}"), _task(recovery.run(), f"recover {stream}")]
        working += [_task(one.run(), f"acknowledge {one.key}") for one in self.acknowledgers.values()]
        return reading, working

    def stop(self) -> list[Entry]:
        """Begin nothing more; what is in hand and neither in a handler's hands nor done."""
        self.executor.close()
        self.outcomes.stop()
        begun = {entry for slot in self.executor.slots for entry in slot.entries}
        for acknowledger in self.acknowledgers.values():
            begun.update(acknowledger.unconfirmed)
        return [entry for side in self.sides for entry in side.in_flight.values() if entry not in begun]

    async def close(self) -> None:
        """Close what it read through."""
        for source in self.sources:
            await source.groups.close()
        for reader in self._readers:
            await reader.close()

    def _new_crew(self, parameters: Parameters) -> Executor:
        handler, around = self.handler, self._around
        batched = handler.batch > 1
        single = None if batched else compile_call(handler, parameters, around.middleware, around.threads)
        many = (
            compile_batch(handler, parameters, around.batch_middleware, around.threads) if batched else None
        )
        return Executor(handler, single, many, failed=self._failed, mark=self._mark, hungry=self._hungry)

    def _new_source(self, stream: str, weight: int, parameters: Parameters) -> Source:
        around, handler = self._around, self.handler
        options = around.server.options
        reader = Server(replace(options, timeout=options.timeout + BLOCK), company=around.server)
        self._readers.append(reader)
        subscription = Subscription(
            stream,
            handler.group,
            around.consumer,
            dead_letters=around.names.dead_letters.get(stream, ""),
            delayed=around.names.delayed.get(stream, ""),
            guarded=handler.guard.ttl if handler.guard else timedelta(),
        )
        screening = Deduplicator(
            around.server,
            handler.guard,
            parameters.body,
            failed=self.outcomes.failed,
            postponed=self.outcomes.postpone,
            finished=self._acknowledge,
            emit=around.events.emit,
            counts=self.executor.counts,
        )
        source = Source(
            reader,
            around.server,
            subscription,
            self.executor,
            self.executor.buffer.add_queue(weight),
            now_ms=around.beat.clock.now_ms,
            steady=around.beat.is_steady,
            emit=around.events.emit,
            screening=screening,
        )
        for side in source.sides:
            acknowledger = self.acknowledgers[side] = self._new_acknowledger(source, side)
            side.finish = self._telling(acknowledger.add)
        return source

    def _new_acknowledger(self, source: Source, side: Side) -> Acknowledger:
        around = self._around
        stream = source.subscription.stream

        def troubled(error: ServerError) -> None:
            around.events.emit(Troubled(stream, error))

        return Acknowledger(
            around.server,
            side,
            lease=min(self.handler.lease, around.interval * 3).total_seconds(),
            clock=asyncio.get_running_loop().time,
            troubled=troubled,
            confirmed=source.hungry,
            latencies=self.executor.counts.latencies,
        )

    def _telling(self, add: Callable[[Entry], None]) -> Callable[[Entry], None]:
        """What is called with an entry that was handled; telling costs nothing where nobody listens."""
        events = self._around.events
        if not events.heard(Completed):
            return add

        def add_and_tell(entry: Entry) -> None:
            add(entry)
            events.emit(Completed(entry.stream, entry.group, entry.id, entry.attempt))

        return add_and_tell

    async def _failed(self, entry: Entry, error: BaseException) -> None:
        await self.outcomes.failed(entry, error)

    async def _mark(self, entry: Entry) -> bool:
        return await self.outcomes.mark(entry)

    def _hungry(self) -> None:
        for source in self.sources:
            source.hungry()

    def _acknowledge(self, entry: Entry) -> None:
        """Have an entry acknowledged that needs no handling."""
        self.acknowledgers[entry.side].add(entry)


def _finished(entry: Entry) -> None:
    """An entry was handled."""
    entry.side.finish(entry)


def _task(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    return asyncio.create_task(work, name=name)
