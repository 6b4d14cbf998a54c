"""The workers of one server's topics: started, and replaced when topics come, go or change their shape.

URL, headers and schedule of a topic take effect with the next call. A change of its stream, group or limits starts a new
worker while the former one drains, so that no topic waits for another's calls.
"""

import asyncio
import logging
import random
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Final, NamedTuple

from msgspec import Struct

from streamops.errors import RetryLater, StreamopsError, Unreachable
from streamops.model.schedules import Backoff
from streamops.model.topics import Topic
from streamops.runtime.app import Streamops
from streamops.runtime.entry import Entry
from streamops.runtime.events import DeadLettered, GroupRestored, Lost
from streamops.runtime.worker import Worker, WorkerOptions
from streamops.webhooks.callback import Callback
from streamops.webhooks.registry import TopicRegistry, TopicServer
from streamops.wire.consuming.entries import ensure_group
from streamops.wire.keys import retry_key

LOG: Final = logging.getLogger("streamops.webhooks")
OFF: Final = timedelta(seconds=5)
"""How long messages of a topic wait that was paused after they were read."""

BACKOFF: Final = Backoff(0.2, 10.0)
LOOK_EVERY: Final = 1.0
TRY_AGAIN: Final = 30.0
"""How often topics are tried again whose stream cannot be read."""

LEASE: Final = timedelta(seconds=60)


class _WaitLine(Struct):
    """The callers that wait for a permit of one topic."""

    weight: int
    clock: float
    waiting: deque[asyncio.Future[None]]


class WeightedSemaphore:
    """Permits to call, shared among waiting topics by their weights.

    Each topic has a clock that a permit advances by one over its weight; the topic whose clock is behind comes first. So
    high, normal and low with much to do are called 5:3:2, none of them starves, and a topic alone has all permits.
    """

    def __init__(self, total: int) -> None:
        self._free = total
        self._now = 0.0
        self._lines: dict[str, _WaitLine] = {}

    @asynccontextmanager
    async def one(self, name: str, weight: int) -> AsyncIterator[None]:
        """Hold one permit, as soon as it is this topic's turn."""
        await self._take(name, weight)
        try:
            yield
        finally:
            self._free += 1
            self._hand_out()

    async def _take(self, name: str, weight: int) -> None:
        line = self._lines.setdefault(name, _WaitLine(weight, self._now, deque()))
        line.weight = weight
        if not line.waiting:
            # A topic that was idle has saved nothing up.
            line.clock = max(line.clock, self._now)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line.waiting.append(turn)
        self._hand_out()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                # It was given just now, and no task is there to take it.
                self._free += 1
                self._hand_out()
            elif turn in line.waiting:
                line.waiting.remove(turn)
            raise

    def _hand_out(self) -> None:
        while self._free:
            lines = [line for line in self._lines.values() if line.waiting]
            if not lines:
                return
            line = min(lines, key=lambda one: one.clock)
            turn = line.waiting.popleft()
            if not turn.done():
                self._free -= 1
                self._now = max(self._now, line.clock)
                line.clock += 1 / line.weight
                turn.set_result(None)


class TopicShape(NamedTuple):
    """What of a topic a worker is made of."""

    name: str
    stream: str
    group: str
    concurrency: int
    max_attempts: int


class Running(NamedTuple):
    """A worker at work, and what it is made of."""

    shapes: frozenset[TopicShape]
    worker: Worker
    task: asyncio.Task[None]


class Dispatcher:
    """Calls the messages of one server's topics."""

    def __init__(
        self,
        place: TopicServer,
        registry: TopicRegistry,
        callback: Callback,
        permits: WeightedSemaphore,
        options: WorkerOptions,
    ) -> None:
        self._place = place
        self._registry = registry
        self._callback = callback
        self._permits = permits
        self._options = options
        self._running: Running | None = None
        self._draining: set[asyncio.Task[None]] = set()
        self._refused: dict[TopicShape, float] = {}

    async def run(self) -> None:
        """Keep the right worker running, until cancelled; a server that is away is waited for. Then drain."""
        failures = 0
        try:
            while True:
                self._place.changed.clear()
                try:
                    self._forget_ended()
                    await self._arrange()
                    failures = 0
                except StreamopsError as error:
                    LOG.info("%s: %s", self._place.label, error.message)
                    failures += 1
                    await asyncio.sleep(BACKOFF.pause(failures, random.random()))  # noqa: S311 - no cryptography
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_EVERY):
                        await self._place.changed.wait()
        finally:
            self._retire()
            while self._draining:
                await asyncio.wait({*self._draining})

    def _forget_ended(self) -> None:
        """Forget a worker that ended by itself; raises what it ended with."""
        running = self._running
        if running is not None and running.task.done():
            self._running = None
            running.task.result()

    async def _arrange(self) -> None:
        """Replace the worker unless it has the shapes of all enabled topics."""
        wanted = frozenset(
            _shape(topic) for topic in self._registry.topics_of(self._place).values() if topic.enabled
        )
        running = self._running.shapes if self._running else frozenset[TopicShape]()
        readable = frozenset(
            [shape for shape in wanted if shape in running or await self._is_readable(shape)]
        )
        if readable == running:
            return
        self._retire()
        if readable:
            worker = self._worker(readable)
            self._running = Running(readable, worker, asyncio.create_task(worker.run(), name="topics"))

    async def _is_readable(self, shape: TopicShape) -> bool:
        """Whether a topic's stream can be read: one that cannot be must not hold the others up."""
        now = asyncio.get_running_loop().time()
        if self._refused.get(shape, 0.0) > now:
            return False
        try:
            for key in (shape.stream, retry_key(shape.stream, shape.group)):
                await ensure_group(self._place.server, key, shape.group, "0")
        except Unreachable:
            raise
        except StreamopsError as error:
            if shape not in self._refused:
                LOG.error("topic %s is not called: %s", shape.name, error.message)  # noqa: TRY400 - it is no bug of ours
            self._refused[shape] = now + TRY_AGAIN
            return False
        self._refused.pop(shape, None)
        return True

    def _retire(self) -> None:
        """Let the worker finish what it has begun, and take nothing new."""
        if self._running is None:
            return
        running, self._running = self._running, None
        running.worker.stop()
        self._draining.add(running.task)
        running.task.add_done_callback(self._draining.discard)
        running.task.add_done_callback(_log_end)

    def _worker(self, shapes: frozenset[TopicShape]) -> Worker:
        site = self._place.site
        app = Streamops(
            site.options, name="topics", dead_letters=site.names.dead_letters, delayed=site.names.delayed
        )
        names = {(shape.stream, shape.group): shape.name for shape in shapes}
        for shape in sorted(shapes):
            app.handler(
                shape.stream,
                group=shape.group,
                start="0",
                concurrency=shape.concurrency,
                prefetch=shape.concurrency,
                # Each failure says itself how long to wait.
                retry=OFF,
                max_attempts=shape.max_attempts,
                # A call is bounded by its topic's time to run; what waits for its turn has all the time.
                timeout=None,
                lease=LEASE,
                name=f"topic {shape.name}",
            )(self._handler(shape.name))
        _log_events(app, names, self._callback)
        return app.worker(self._options)

    def _handler(self, name: str) -> Callable[[Entry], Awaitable[None]]:
        async def call(entry: Entry) -> None:
            topic = self._topic(name)
            async with self._permits.one(name, topic.weight):
                # It may have waited for long.
                await self._callback(self._topic(name), entry)

        return call

    def _topic(self, name: str) -> Topic:
        topic = self._registry.topics_of(self._place).get(name)
        if topic is None or not topic.enabled:
            raise RetryLater(OFF, f"topic {name} is off", counts=False)
        return topic


def _shape(topic: Topic) -> TopicShape:
    return TopicShape(topic.name, topic.key, topic.group, topic.concurrency, topic.max_attempts)


def _log_events(app: Streamops, names: Mapping[tuple[str, str], str], callback: Callback) -> None:
    """Log what operators have to know of."""

    @app.on(DeadLettered)
    def given_up(event: DeadLettered) -> None:
        callback.given_up(names.get((event.stream, event.group), ""), event)

    @app.on(GroupRestored)
    def restored(event: GroupRestored) -> None:
        LOG.warning("group %s of %s was gone, and begins again at %s", event.group, event.stream, event.began)

    @app.on(Lost)
    def lost(event: Lost) -> None:
        LOG.error("entry %s of %s was deleted while it was pending", event.entry_id, event.stream)


def _log_end(task: asyncio.Task[None]) -> None:
    error = None if task.cancelled() else task.exception()
    if isinstance(error, StreamopsError):
        LOG.warning("a worker ended: %s", error.message)
    elif error is not None:
        LOG.error("a bug in a worker", exc_info=error)
