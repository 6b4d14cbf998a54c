"""An application: its handlers, its middleware, who listens to it; and running it."""

import asyncio
import inspect
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from datetime import timedelta
from functools import partial
from typing import Any, Final, TypeVar

from streamops.errors import ExitCode, SettingsError
from streamops.model.authority import delayed_problem
from streamops.runtime.calling import BatchMiddleware, Middleware, Middlewares
from streamops.runtime.checks import check_handler
from streamops.runtime.context import Names
from streamops.runtime.events import Event, Events
from streamops.runtime.handlers import (
    Failed,
    Function,
    Handler,
    IdempotencyRule,
    kind_of,
    name_of,
    parameters_of,
    streams_of,
)
from streamops.runtime.payloads import Payload
from streamops.runtime.publisher import Around, Publisher, Schema
from streamops.runtime.retry import Exponential, Retry, Schedule, Seconds, schedule_of, seconds
from streamops.runtime.worker import Worker, WorkerOptions
from streamops.service.processes import end_process, runner
from streamops.wire.keys import dead_letter_key, delayed_key
from streamops.wire.options import ConnectionOptions
from streamops.wire.urls import parse_url

URL_VARIABLE: Final = "STREAMOPS_URL"
EXPONENTIAL: Final = Exponential()
Registered = TypeVar("Registered", bound=Function)
Heard = TypeVar("Heard", bound=Event)
Lifespan = Callable[["Streamops"], AbstractAsyncContextManager[Any] | AsyncIterator[Any]]
"""Given the application: an async generator of one state, or what returns an async context manager."""
Lived = TypeVar("Lived", bound=Lifespan)


class Streamops:
    """Handlers of streams, and publishers to them, on one server.

    Nothing is connected until a worker or a publisher starts.

    Args:
        connection: A URL, or options as ``streamops.settings`` makes them; what ``STREAMOPS_URL`` says unless given, and
            the server at 127.0.0.1:6379 where that says nothing.
        name: What heartbeats call the application.
        dead_letters: Dead-letter queues by their streams, where they are not ``T:dlq``.
        delayed: Queues of delayed messages by their streams, where they are not ``T:delayed``.
    """

    def __init__(
        self,
        connection: str | ConnectionOptions | None = None,
        *,
        name: str = "",
        dead_letters: Mapping[str, str] | None = None,
        delayed: Mapping[str, str] | None = None,
    ) -> None:
        connection = connection or os.environ.get(URL_VARIABLE) or ConnectionOptions()
        self.connection = parse_url(connection) if isinstance(connection, str) else connection
        self.name = name
        self.names = Names(dict(dead_letters or {}), dict(delayed or {}))
        if problem := delayed_problem(self.names.delayed):
            raise SettingsError(problem, "Give each stream a queue of its own.")
        self.events = Events()
        self._handlers: list[Handler] = []
        self._middleware: list[Middleware] = []
        self._batch_middleware: list[BatchMiddleware] = []
        self._around_publishing: list[Around] = []
        self._lifespan: Callable[[], AbstractAsyncContextManager[object]] = nullcontext

    @property
    def handlers(self) -> Sequence[Handler]:
        """The handlers declared so far."""
        return tuple(self._handlers)

    def handler(
        self,
        streams: str | Sequence[str] | Mapping[str, int],
        *,
        group: str,
        start: str = "$",
        concurrency: int = 16,
        prefetch: int = 500,
        prefetch_bytes: int = 16 * 1024 * 1024,
        batch: int = 1,
        linger: Seconds = 0,
        retry: Schedule | Sequence[Seconds] | Seconds | None = EXPONENTIAL,
        max_deliveries: int = 5,
        passive: bool = False,
        hopeless: type[BaseException] | tuple[type[BaseException], ...] = (),
        timeout: Seconds | None = None,
        lease: Seconds = 60,
        key: str | Callable[..., str] | None = None,
        key_ttl: Seconds = 86_400,
        threads: bool = False,
        failed: Failed | None = None,
        name: str = "",
    ) -> Callable[[Registered], Registered]:
        """Declare a function to be the handler of one or more streams.

        What the function takes says what it is given: a msgspec Struct, a dataclass or a TypedDict is decoded from
        the entry's field ``data`` (JSON) or from its fields; ``dict[str, str]`` and ``dict[bytes, bytes]`` are the
        fields; ``bytes`` the field ``data``; ``Entry`` the entry; the class of what the ``lifespan`` yields is that. An
        async function runs in the event loop; a plain one too, unless it is to run in ``threads``; with ``batch`` it
        takes lists.

        Args:
            streams: A stream, several, or several with weights: ``{"jobs:high": 5, "jobs:low": 1}``.
            group: The consumer group.
            start: Where the group begins if there is none yet: ``$`` (what comes from now on), ``0`` (all there is) or an ID.
            concurrency: How many entries, or batches, are handled at once.
            prefetch: How many entries are read ahead at most; fewer where handlers are slow.
            prefetch_bytes: How many bytes of them.
            batch: How many entries a call takes at most; more than one for a function that takes lists. It may return a
                list, with an exception for each entry that failed; where it raises, or the list is of another
                length, all of them have, and each is tried again by itself.
            linger: How long a batch that is not full waits for more.
            retry: What to wait for after a failure: a schedule, one delay, a list of them; none for no second try.
            max_deliveries: How often the handler is started for one entry at most.
            passive: Keep a failed entry pending with its worker, instead of moving it into the delayed queue. Nothing
                is read while as many wait as may be read ahead.
            hopeless: Errors that no second try can help.
            timeout: How long one call may take. A thread cannot be cut off: its call goes on, keeps its entry, and
                counts as failed once it has ended.
            lease: How long an entry may lie idle before other workers take it over; a running handler renews it.
            key: The business key: a field's name, or a function of the body. Another entry with the same key is
                acknowledged and not handled.
            key_ttl: How long a key is remembered.
            threads: Run a plain function in threads.
            failed: Called with an entry and its error once it is given up.
            name: What the handler is called in logs and metrics; the function's name unless given.

        Raises:
            SettingsError: Something of that makes no sense; nothing was declared.
        """

        def declare(function: Registered) -> Registered:
            handler = Handler(
                name=name or name_of(function),
                function=function,
                streams=streams_of(streams),
                group=group,
                start=start,
                kind=kind_of(function, threads=threads),
                concurrency=concurrency,
                prefetch=prefetch,
                prefetch_bytes=prefetch_bytes,
                batch=batch,
                linger=timedelta(seconds=seconds(linger, "linger")),
                retry=Retry(
                    schedule_of(retry),
                    max_deliveries,
                    passive=passive,
                    hopeless=hopeless if isinstance(hopeless, tuple) else (hopeless,),
                ),
                timeout=None if timeout is None else timedelta(seconds=seconds(timeout, "timeout")),
                lease=timedelta(seconds=seconds(lease, "lease")),
                guard=None
                if key is None
                else IdempotencyRule(key, timedelta(seconds=seconds(key_ttl, "key_ttl"))),
                failed=failed,
            )
            check_handler(handler)
            parameters_of(function, batch=batch > 1)
            self._refuse_doubles(handler)
            self._handlers.append(handler)
            return function

        return declare

    def declare(self, *handlers: Handler) -> None:
        """Have these handlers instead of those declared so far.

        Raises:
            SettingsError: Something in one of them makes no sense.
        """
        for handler in handlers:
            check_handler(handler)
        self._handlers = [*handlers]

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

    def middleware(self, around: Middleware) -> Middleware:
        """Put a function around every handler of single entries; the first one declared is the outermost."""
        self._middleware.append(around)
        return around

    def batch_middleware(self, around: BatchMiddleware) -> BatchMiddleware:
        """Put a function around every handler of batches; the first one declared is the outermost."""
        self._batch_middleware.append(around)
        return around

    def around_publishing(self, around: Around) -> Around:
        """Put a context manager around each call that publishes; what it gives is added to every entry."""
        self._around_publishing.append(around)
        return around

    def lifespan(self, function: Lived) -> Lived:
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

    def worker(self, options: WorkerOptions | None = None) -> Worker:
        """A worker for all handlers; ``await worker.run()`` works until ``worker.stop()``.

        Raises:
            SettingsError: There is no handler.
        """
        if not self._handlers:
            raise SettingsError(
                "the application has no handler", 'Declare one with @app.handler("stream", group=...).'
            )
        options = options or WorkerOptions(app=self.name)
        return Worker(
            self._handlers,
            self.connection,
            options,
            events=self.events,
            middleware=Middlewares(tuple(self._middleware), tuple(self._batch_middleware)),
            names=self.names,
            lifespan=self._lifespan,
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

    def _refuse_doubles(self, handler: Handler) -> None:
        taken = {(stream, other.group): other.name for other in self._handlers for stream, _ in other.streams}
        for stream, _ in handler.streams:
            if other := taken.get((stream, handler.group)):
                raise SettingsError(
                    f"handler {handler.name}: group {handler.group} of stream {stream} is read by {other} already",
                    "Entries of one group go to either at random: give each handler a group of its own.",
                )
