"""An application: its handlers, its middleware, who listens to it; and running it."""

import asyncio
import inspect
import os
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from functools import partial
from typing import Any, Final, TypeVar, Unpack

from streamops.errors import ExitCode, SettingsError
from streamops.model.authority import delayed_problem
from streamops.runtime.context import Names
from streamops.runtime.events import Event, Events
from streamops.runtime.handlers import Handler
from streamops.runtime.payloads import Payload
from streamops.runtime.publisher import Around, Publisher, PublishOptions, Schema
from streamops.runtime.router import Router, refuse_doubles
from streamops.runtime.worker import Worker, WorkerOptions
from streamops.service.processes import end_process, runner
from streamops.wire.keys import dead_letter_key, delayed_key
from streamops.wire.options import ConnectionOptions
from streamops.wire.urls import parse_url

URL_VARIABLE: Final = "STREAMOPS_URL"
Opening = asyncio.Task[tuple[AsyncGenerator[Publisher], Publisher]]
"""Gives a publisher, and what it is closed with."""
Heard = TypeVar("Heard", bound=Event)
Lifespan = Callable[["Streamops"], AbstractAsyncContextManager[Any] | AsyncIterator[Any]]
"""Given the application: an async generator of one state, or what returns an async context manager."""
LifespanFunction = TypeVar("LifespanFunction", bound=Lifespan)


class Streamops(Router):
    """Handlers of streams, its own and those of routers that it includes, and publishers to them, on one server.

    Nothing is connected until a worker or a publisher starts.

    Args:
        connection: A URL, or options as ``streamops.settings`` makes them; what ``STREAMOPS_URL`` says unless given, and
            the server at 127.0.0.1:6379 where that says nothing.
        name: What heartbeats call the application.
        dead_letters: Dead-letter queues by their streams, if they are not ``T:dlq``.
        delayed: Queues of delayed messages by their streams, if they are not ``T:delayed``.

    Attributes:
        names_server: Whether ``connection`` was given.
    """

    def __init__(
        self,
        connection: str | ConnectionOptions | None = None,
        *,
        name: str = "",
        dead_letters: Mapping[str, str] | None = None,
        delayed: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self.names_server = connection is not None
        connection = connection or os.environ.get(URL_VARIABLE) or ConnectionOptions()
        self.connection = parse_url(connection) if isinstance(connection, str) else connection
        self.name = name
        self.names = Names(dict(dead_letters or {}), dict(delayed or {}))
        if problem := delayed_problem(self.names.delayed):
            raise SettingsError(problem, "Give each stream a queue of its own.")
        self.events = Events()
        self._around_publishing: list[Around] = []
        self._lifespan: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
        self._publishers: dict[asyncio.AbstractEventLoop, tuple[ConnectionOptions, Opening]] = {}

    def replace_handlers(self, *handlers: Handler) -> None:
        """Have these handlers instead of those declared so far.

        Raises:
            SettingsError: Something in one of them makes no sense.
        """
        checked = Router()
        checked.declare(*handlers)
        self._handlers, self._included = [*checked.handlers], []

    def adopt_names(self, names: Names) -> None:
        """Use the queues that a context names, by all workers and publishers.

        Raises:
            SettingsError: The application names another queue of a stream itself; nothing was adopted.
        """
        for kind, key_of, own, given in (
            ("dead_letters", dead_letter_key, self.names.dead_letters, names.dead_letters),
            ("delayed", delayed_key, self.names.delayed, names.delayed),
        ):
            for stream in own:
                if (ours := key_of(stream, own)) != (theirs := key_of(stream, given)):
                    raise SettingsError(
                        f"{kind} of stream {stream}: the application says {ours}, the context {theirs}",
                        f"Set one {kind} for both: in Streamops(...) and in the context's `{kind}`.",
                    )
        # In place: publishers that were made before hold on to these.
        self.names.dead_letters.update(names.dead_letters)
        self.names.delayed.update(names.delayed)

    def around_publishing(self, around: Around) -> Around:
        """Put a context manager around each call that publishes; what it gives is added to every entry."""
        self._around_publishing.append(around)
        return around

    def lifespan(self, function: LifespanFunction) -> LifespanFunction:
        """Have workers live inside an async context manager: clients, pools and models are made and closed there.

        Each worker process enters it before anything is read, and leaves it after the last handler has ended. What it
        yields is the application's state, given to handlers by a parameter annotated with its class, or a base of that.

        >>> @app.lifespan
        ... async def bank(app: Streamops) -> AsyncIterator[Bank]:
        ...     async with Bank.connect() as bank:
        ...         yield bank

        Args:
            function: Takes the application: an async generator with one yield, or a function that returns an async
                context manager.

        Raises:
            SettingsError: The application has a lifespan already.
        """
        if self._lifespan is not nullcontext:
            raise SettingsError(
                "the application has two lifespans", "Enter one inside the other, and yield what holds both."
            )
        enter: Any = asynccontextmanager(function) if inspect.isasyncgenfunction(function) else function
        self._lifespan = partial(enter, self)
        return function

    def on(self, kind: type[Heard]) -> Callable[[Callable[[Heard], object]], Callable[[Heard], object]]:
        """Have a function called with each event of a kind."""

        def listen(listener: Callable[[Heard], object]) -> Callable[[Heard], object]:
            self.events.on(kind, listener)
            return listener

        return listen

    def publisher(
        self, *, schemas: Iterable[Schema] = (), maxlen: int | None = None, payload: Payload | None = None
    ) -> Publisher:
        """A publisher to the same server; use it as ``async with``.

        Args:
            schemas: Names that may be published to like streams.
            maxlen: About how many entries a stream keeps, where neither its schema nor the call says; all unless given.
            payload: Which bodies are kept beside their stream, where the schema does not say; none unless given.
        """
        return Publisher(
            self.connection,
            schemas=schemas,
            maxlen=maxlen,
            payload=payload,
            around=self._around_publishing,
            delayed=self.names.delayed,
        )

    async def publish(self, stream: str | Schema, body: object, **options: Unpack[PublishOptions]) -> str:
        """Publish at once, with the options of ``Publisher.publish``; the entry's ID, or the delayed message's.

        The first call in an event loop opens a publisher, which is closed where the loop is shut down, as ``asyncio.run`` does.
        In a handler nothing is taken back if that fails afterwards: ``entry.publish`` waits for the acknowledgement.

        Raises:
            PublishError: It cannot be published so; nothing was added.
            Unreachable: The server did not answer; the message says whether the entry may have been added.
            ServerError: The server refused it; nothing was added.
        """
        loop = asyncio.get_running_loop()
        connection, opening = self._publishers.get(loop, (None, None))
        if opening is None or connection is not self.connection or _has_failed(opening):
            opening = loop.create_task(_first(self._opened()))
            kept = {one: opened for one, opened in self._publishers.items() if not one.is_closed()}
            self._publishers = kept | {loop: (self.connection, opening)}
        # A caller that is cancelled does not end the opening for others.
        _, publisher = await asyncio.shield(opening)
        return await publisher.publish(stream, body, **options)

    async def _opened(self) -> AsyncGenerator[Publisher]:
        """A publisher, open until this is closed: an event loop closes what generates asynchronously before it ends."""
        async with self.publisher() as publisher:
            yield publisher

    def worker(self, options: WorkerOptions | None = None) -> Worker:
        """A worker for all handlers; ``await worker.run()`` works until ``worker.stop()``.

        Raises:
            SettingsError: There is no handler, or two read with the same group.
        """
        handlers = self.handlers_with_middleware
        refuse_doubles(handlers)
        if not handlers:
            raise SettingsError(
                "the application has no handler", 'Declare one with @app.handler("stream", group=...).'
            )
        options = options or WorkerOptions(app=self.name)
        return Worker(
            handlers,
            self.connection,
            options,
            events=self.events,
            names=self.names,
            lifespan=self._lifespan,
            around=self._around_publishing,
        )

    def run(self, options: WorkerOptions | None = None) -> None:
        """Work in this process until SIGTERM or Ctrl-C, then drain; a second signal ends it at once.

        For more than one process, restarts and reloads there is ``streamops run module:app``.
        """
        with suppress(KeyboardInterrupt):
            runner()(self._run(options))

    async def _run(self, options: WorkerOptions | None) -> None:
        worker = self.worker(options)
        loop = asyncio.get_running_loop()
        work = asyncio.ensure_future(worker.run())

        def on_signal() -> None:
            if worker.stopping:
                work.cancel()
            worker.stop()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, on_signal)
        try:
            with suppress(asyncio.CancelledError):
                await work
        except Exception:
            if worker.lingers:
                sys.excepthook(*sys.exc_info())
                end_process(ExitCode.FAILED)
            raise
        if worker.lingers:
            # They would keep the process alive for as long as they like.
            end_process(ExitCode.DONE)


async def _first(opened: AsyncGenerator[Publisher]) -> tuple[AsyncGenerator[Publisher], Publisher]:
    return opened, await anext(opened)


def _has_failed(opening: Opening) -> bool:
    return opening.done() and (opening.cancelled() or opening.exception() is not None)
