"""The service: topics of several servers called back, and their messages taken in, in one process.

A server that is away takes its own topics with it and no others. Importing this imports aiohttp.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from typing import Any

from msgspec import Struct

from streamops.runtime.worker import WorkerOptions
from streamops.service.addresses import Reach
from streamops.webhooks.callback import Callback, HostOptions
from streamops.webhooks.calling import Caller, CallerOptions
from streamops.webhooks.dispatcher import Dispatcher
from streamops.webhooks.ingest import IngestOptions, ingest_app
from streamops.webhooks.keeping import keep_short
from streamops.webhooks.listening import listening
from streamops.webhooks.own_addresses import is_own_address
from streamops.webhooks.registry import Site, TopicRegistry
from streamops.webhooks.semaphore import WeightedSemaphore


class ListenOptions(Struct, frozen=True):
    """Where the intake listens.

    Attributes:
        host: The address.
        port: The port; zero for one that the kernel chooses.
        intake: How messages are taken in.
        max_connections: Connections at once.
    """

    host: str
    port: int
    intake: IngestOptions
    max_connections: int = 1000


class ServiceOptions(Struct, frozen=True, kw_only=True):
    """What is served, and how.

    Attributes:
        sites: The servers and their configured topics.
        listen: Where messages are taken in; none where they are not.
        calls: Calls at once, of all topics; zero where no message is called.
        hosts: The only hosts that may be called; none for all but this machine and its link.
        deny_private: Whether private networks may not be called, unless ``hosts`` lists them.
        host: How each host is treated.
        caller: How calls are bounded.
        grace: How long calls may go on when it is told to stop.
    """

    sites: Sequence[Site]
    listen: ListenOptions | None = None
    calls: int = 64
    hosts: tuple[str, ...] = ()
    deny_private: bool = False
    host: HostOptions = HostOptions()
    caller: CallerOptions = CallerOptions()
    grace: timedelta = timedelta(seconds=30)


async def serve(
    options: ServiceOptions,
    stop: asyncio.Event,
    started: Callable[[int | None], None] = lambda _: None,
    renew: asyncio.Event | None = None,
) -> None:
    """Serve until told to stop, then drain: no new message is taken in, calls under way come to their end.

    Args:
        options: What is served.
        stop: Set to stop.
        started: Called once messages are taken in, with the port; with none where they are not.
        renew: Set to replace the workers; cleared once they are.

    Raises:
        StreamopsError: The intake's address cannot be listened at.
    """
    callers: list[Dispatcher] = []

    def changed() -> None:
        for caller in callers:
            caller.changed()

    async with AsyncExitStack() as stack:
        book = TopicRegistry(options.sites, changed)
        stack.push_async_callback(book.close)
        tasks, working = _Tasks(), _Tasks()
        stack.push_async_callback(tasks.end)
        tasks.start(book.run(), "topics")
        if options.calls:
            reach = Reach(options.hosts, deny_private=options.deny_private, is_own=is_own_address)
            caller = await stack.enter_async_context(Caller(reach, options.caller))
            callback, permits = Callback(caller, options.host), WeightedSemaphore(options.calls)
            worker = WorkerOptions(app="topics", pool="topics", grace=options.grace)
            callers += [
                Dispatcher(place, partial(book.topics_of, place), callback, permits, worker)
                for place in book.places
            ]
            # Ended before the session that they call over.
            stack.push_async_callback(working.end)
            for one in callers:
                working.start(one.run(), "callbacks")
            working.start(keep_short(book), "trim")
        port = None
        if renew is not None:
            tasks.start(_renew(callers, renew), "renew")
        if options.listen is not None:
            listen = options.listen
            app = ingest_app(book, listen.intake)
            port = await stack.enter_async_context(
                listening(app, listen.host, listen.port, listen.max_connections)
            )
        started(port)
        await _until(stop, tasks, working)


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


async def _renew(callers: Sequence[Dispatcher], told: asyncio.Event) -> None:
    """Replace the workers whenever that is told."""
    while True:
        await told.wait()
        told.clear()
        for caller in callers:
            caller.renew()


async def _until(stop: asyncio.Event, *groups: _Tasks) -> None:
    """Wait until told to stop; a task that ends before has a bug, which is raised."""
    told = asyncio.create_task(stop.wait())
    tasks = {task for group in groups for task in group.all}
    try:
        done, _ = await asyncio.wait({told, *tasks}, return_when=asyncio.FIRST_COMPLETED)
        for task in done & tasks:
            task.result()
    finally:
        told.cancel()
