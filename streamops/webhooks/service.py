"""The service in one process: topics of several servers called back, and their messages taken in.

A server that does not answer takes its own topics with it and no others. Importing this imports aiohttp.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any, Final

from msgspec import Struct

from streamops.model.secret import Secret
from streamops.runtime.worker import WorkerOptions
from streamops.service.authentication import Authentication
from streamops.service.listening import serving
from streamops.webhooks.callback import Callback, HostOptions
from streamops.webhooks.calling import Caller, CallerOptions, is_own_address
from streamops.webhooks.dispatcher import Dispatcher, WeightedSemaphore
from streamops.webhooks.ingest import IngestOptions, ingest_app
from streamops.webhooks.metrics import TopicCounters
from streamops.webhooks.notices import GivenUpNotices
from streamops.webhooks.reach import Reach
from streamops.webhooks.registry import Site, TopicRegistry, keep_short
from streamops.webhooks.request_log import RequestLog

IDLE_SECONDS: Final = 15.0
"""How long a connection may be open without a whole request on it."""

ANSWER_SECONDS: Final = 20.0
"""How long answers under way may take after SIGTERM: somewhat longer than a request may take to arrive."""


LINGER_SECONDS: Final = 1.0
"""How long clients may still ask over connections that they keep: the answer says that it is the last."""


class ListenOptions(Struct, frozen=True):
    """Where HTTP ingest listens.

    Attributes:
        listener: The listening socket, which other processes may share.
        intake: How messages are taken in.
        max_connections: Connections at once.
    """

    listener: socket.socket
    intake: IngestOptions
    max_connections: int = 1000


class ServiceOptions(Struct, frozen=True, kw_only=True):
    """The topics served, and how.

    Attributes:
        sites: The servers and their configured topics.
        listen: Where messages are taken in; none to take none in.
        calls: Calls at once, of all topics; zero to call none.
        hosts: The only hosts that may be called; none for all but this machine and its link.
        deny_private: Whether private networks may not be called, unless ``hosts`` lists them.
        host: How each host is treated.
        caller: How calls are bounded.
        grace: How long calls may go on after the request to stop.
        given_up_url: Where a notice of each message given up is posted; none for no notices.
        given_up_per_minute: Notices a minute at most.
    """

    sites: Sequence[Site]
    listen: ListenOptions | None = None
    calls: int = 64
    hosts: tuple[str, ...] = ()
    deny_private: bool = False
    host: HostOptions = HostOptions()
    caller: CallerOptions = CallerOptions()
    grace: timedelta = timedelta(seconds=30)
    given_up_url: Secret | None = None
    given_up_per_minute: int = 10


async def serve(
    options: ServiceOptions,
    stop: asyncio.Event,
    started: Callable[[], None] = lambda: None,
    counters: TopicCounters | None = None,
    log: RequestLog | None = None,
) -> None:
    """Serve until ``stop`` is set, then drain: no new message is taken in, calls under way come to their end.

    Args:
        options: The topics served, and how.
        stop: Set to stop.
        started: Called once messages are taken in and called.
        counters: Counts what becomes of messages.
        log: Takes a line for each request and call.
    """
    counters, log = counters or TopicCounters(), log or RequestLog(enabled=False)
    async with AsyncExitStack() as stack:
        registry = TopicRegistry(options.sites)
        stack.push_async_callback(registry.close)
        tasks, working = _Tasks(), _Tasks()
        stack.push_async_callback(tasks.end)
        tasks.start(registry.run(), "topics")
        if options.calls:
            dispatchers = await stack.enter_async_context(_calling(options, registry, counters, log))
            # Ended before the session that they call over.
            stack.push_async_callback(working.end)
            for dispatcher in dispatchers:
                working.start(dispatcher.run(), "callbacks")
            working.start(keep_short(registry), "trim")
        if options.listen is not None:
            ingest = serving(
                ingest_app(registry, options.listen.intake, counters, log, stop),
                options.listen.listener,
                Authentication(None),
                most=options.listen.max_connections,
                idle=IDLE_SECONDS,
                grace=ANSWER_SECONDS,
                linger=LINGER_SECONDS,
            )
            await stack.enter_async_context(ingest)
        started()
        await _until(stop, tasks, working)


@asynccontextmanager
async def _calling(
    options: ServiceOptions, registry: TopicRegistry, counters: TopicCounters, log: RequestLog
) -> AsyncIterator[list[Dispatcher]]:
    """The dispatchers of all servers, over one session of calls and one number of permits."""
    reach = Reach(options.hosts, deny_private=options.deny_private, is_own=is_own_address)
    async with AsyncExitStack() as stack:
        caller = await stack.enter_async_context(Caller(reach, options.caller))
        notices = None
        if options.given_up_url is not None:
            notices = GivenUpNotices(caller, options.given_up_url.reveal(), options.given_up_per_minute)
            stack.push_async_callback(notices.close)
        callback = Callback(caller, options.host, counters=counters, log=log, notices=notices)
        permits = WeightedSemaphore(options.calls)
        worker = WorkerOptions(app="topics", pool="topics", grace=options.grace)
        yield [Dispatcher(place, registry, callback, permits, worker) for place in registry.places]


class _Tasks:
    """Tasks that run until they are ended."""

    def __init__(self) -> None:
        self.all: list[asyncio.Task[None]] = []

    def start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Start one."""
        self.all.append(asyncio.create_task(work, name=name))

    async def end(self) -> None:
        """Cancel them all and wait for them."""
        for task in self.all:
            task.cancel()
        await asyncio.gather(*self.all, return_exceptions=True)


async def _until(stop: asyncio.Event, *groups: _Tasks) -> None:
    """Wait for ``stop``; a task that ends before has a bug, which is raised."""
    stopped = asyncio.create_task(stop.wait())
    tasks = {task for group in groups for task in group.all}
    try:
        done, _ = await asyncio.wait({stopped, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        for task in done & tasks:
            task.result()
    finally:
        stopped.cancel()
