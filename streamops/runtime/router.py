"""Declaring handlers. What makes no sense is refused there: in one line that says which word it is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain
from typing import Final, TypedDict, TypeVar, Unpack

from msgspec.structs import replace

from streamops.errors import SettingsError
from streamops.model.entries import EPOCH, EntryId
from streamops.runtime.cron import SLOT, CronSchedule
from streamops.runtime.dependencies import Function, name_of
from streamops.runtime.handlers import (
    AnyMiddleware,
    BatchMiddleware,
    Failed,
    Handler,
    IdempotencyRule,
    Middleware,
    is_text,
    is_whole,
    kind_of,
    parameters_of,
    streams_of,
)
from streamops.runtime.retry import (
    Exponential,
    Retry,
    Schedule,
    Seconds,
    schedule_of,
    seconds,
    with_former_names,
)

MOST_SLOTS: Final = 10_000
SHORTEST: Final = timedelta(milliseconds=1)
"""What servers count in."""

Problem = tuple[str, str]
"""What is wrong, and what to write instead."""


def check_handler(handler: Handler) -> None:
    """Refuse a handler that could not work.

    Raises:
        SettingsError: Says why not.
    """
    for wrong, hint in _problems(handler):
        raise SettingsError(f"handler {handler.name}: {wrong}", hint)


def _problems(handler: Handler) -> Iterator[Problem]:
    yield from _place(handler)
    yield from _numbers(handler)
    yield from _durations(handler)
    yield from _functions(handler)


def _place(handler: Handler) -> Iterator[Problem]:
    if not is_text(handler.group):
        yield "has no group", 'Write @app.handler("orders:events", group="shipping").'
    if handler.start != "$" and not _is_id(handler.start):
        yield (
            f"start={handler.start!r}",
            "Write 'new' for what comes from now on, 'all' for what there is too, or an entry's ID.",
        )
    streams = [stream for stream, _ in handler.streams]
    if twice := next((stream for stream in streams if streams.count(stream) > 1), None):
        yield f"reads stream {twice} twice", "Name each stream once; a mapping gives weights."


def _numbers(handler: Handler) -> Iterator[Problem]:
    ranges = {
        "concurrency": (handler.concurrency, 1, MOST_SLOTS),
        "prefetch": (handler.prefetch, 1, 1_000_000),
        "prefetch_bytes": (handler.prefetch_bytes, 1, 1 << 40),
        "batch": (handler.batch, 1, 100_000),
        "max_attempts": (handler.retry.max_attempts, 1, 1_000_000),
    }
    for name, (value, least, most) in ranges.items():
        if not is_whole(value) or not least <= value <= most:
            yield f"{name}={value!r}", f"It must be a number from {least} to {most}."


def _durations(handler: Handler) -> Iterator[Problem]:
    key_ttl = handler.guard.ttl if handler.guard else None
    for name, duration in (("lease", handler.lease), ("timeout", handler.timeout), ("key_ttl", key_ttl)):
        if duration is not None and duration < SHORTEST:
            yield f"{name} must be longer than nothing", "Seconds: 30, 0.5."
    if handler.noack and handler.guard is not None:
        yield (
            "noack=True with a key",
            "What the server takes for acknowledged cannot be kept apart: leave out one of them.",
        )
    if handler.linger < timedelta():
        yield "linger is negative", "Seconds: 0.05; 0 waits for nothing."


def _functions(handler: Handler) -> Iterator[Problem]:
    key = handler.guard.key if handler.guard else None
    if key is not None and not (callable(key) or is_text(key)):
        yield f"key={key!r}", "Name a field, or give a function of the body."
    if handler.failed is not None and not callable(handler.failed):
        yield f"failed={handler.failed!r}", "Give a function that takes the entry and the error."
    for around in handler.middleware:
        if not callable(around):
            yield f"middleware={around!r}", "Give async functions that take the entry and the call inside."
    for kind in handler.retry.no_retry_on:
        if not _is_error(kind):
            yield f"no_retry_on={kind!r}", "Name error classes: no_retry_on=(ValueError, KeyError)."


def _is_id(value: object) -> bool:
    try:
        return isinstance(value, str) and EntryId.parse(value) is not None
    except ValueError:
        return False


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


EXPONENTIAL: Final = Exponential()
MAX_ATTEMPTS: Final = 5
STARTS: Final = {"new": "$", "all": "0"}
"""Where a group begins, in words, as Redis writes it."""
Registered = TypeVar("Registered", bound=Function)


class CronOptions(TypedDict, total=False):
    """The options of ``Router.handler`` that ``Router.cron`` has too."""

    concurrency: int
    retry: Schedule | Sequence[Seconds] | Seconds | None
    max_attempts: int
    in_place: bool
    no_retry_on: type[BaseException] | tuple[type[BaseException], ...]
    timeout: Seconds | None
    lease: Seconds
    threads: bool
    failed: Failed | None
    middleware: AnyMiddleware | Sequence[AnyMiddleware]


class Router:
    """Handlers and the middleware around them, declared in a module that need not know the application."""

    def __init__(self) -> None:
        self._handlers: list[Handler] = []
        self._middleware: list[Middleware] = []
        self._batch_middleware: list[BatchMiddleware] = []
        self._included: list[tuple[Router, str]] = []

    @property
    def handlers(self) -> Sequence[Handler]:
        """The handlers declared so far, here and in what is included."""
        included = (_prefixed(router, prefix) for router, prefix in self._included)
        return (*self._handlers, *chain.from_iterable(included))

    @property
    def handlers_with_middleware(self) -> Sequence[Handler]:
        """The same, each inside the middleware declared here."""
        return tuple(map(self._with_middleware, self.handlers))

    @property
    def routers(self) -> Iterator["Router"]:
        """This one, and all that it includes."""
        yield self
        for router, _ in self._included:
            yield from router.routers

    def include(self, router: "Router", prefix: str = "") -> None:
        """Have the handlers of a router, those too that it declares later.

        Args:
            router: The router; its middleware is inside what is declared here.
            prefix: What its streams' names begin with.

        Raises:
            SettingsError: A group of a stream would have two handlers, or a router would include itself.
        """
        if self in router.routers:
            raise SettingsError("a router includes itself", "Include it in the application alone.")
        refuse_doubles([*self.handlers, *_prefixed(router, prefix)])
        self._included.append((router, prefix))

    def declare(self, *handlers: Handler) -> None:
        """Have these handlers, too.

        Raises:
            SettingsError: Something in one of them makes no sense, or a group of a stream would have two; none was added.
        """
        for handler in handlers:
            check_handler(handler)
        refuse_doubles([*self.handlers, *handlers])
        self._handlers += handlers

    @with_former_names(max_deliveries="max_attempts", hopeless="no_retry_on", passive="in_place")
    def handler(
        self,
        streams: str | Sequence[str] | Mapping[str, int],
        *,
        group: str,
        start: str = "new",
        concurrency: int = 16,
        prefetch: int = 500,
        prefetch_bytes: int = 16 * 1024 * 1024,
        batch: int = 1,
        linger: Seconds = 0,
        retry: Schedule | Sequence[Seconds] | Seconds | None = EXPONENTIAL,
        max_attempts: int = MAX_ATTEMPTS,
        in_place: bool = False,
        no_retry_on: type[BaseException] | tuple[type[BaseException], ...] = (),
        timeout: Seconds | None = None,
        lease: Seconds = 60,
        key: str | Callable[..., str] | None = None,
        key_ttl: Seconds | None = 86_400,
        noack: bool = False,
        threads: bool = False,
        failed: Failed | None = None,
        middleware: AnyMiddleware | Sequence[AnyMiddleware] = (),
        name: str = "",
    ) -> Callable[[Registered], Registered]:
        """Declare a function to be the handler of one or more streams.

        What the function takes says what it is given: a msgspec Struct, a dataclass or a TypedDict is decoded from
        the entry's field ``data`` (JSON) or from its fields; ``dict[str, str]`` and ``dict[bytes, bytes]`` are the
        fields; ``bytes`` the field ``data``; ``Entry`` the entry; the class of what the ``lifespan`` yields is that;
        ``Annotated[T, Depends(function)]`` is what the function makes for this call. A parameter of a plain type (``str``, ``int``, ``Decimal``, ``datetime`` ...) is the field of its name, and any number
        of these are one body. An async function runs in the event loop; a plain one too, unless it is to run in
        ``threads``; with ``batch`` it takes lists.

        Args:
            streams: A stream, several, or several with weights: ``{"jobs:high": 5, "jobs:low": 1}``.
            group: The consumer group.
            start: Where the group begins if there is none yet: ``new`` (what comes from now on; Redis's ``$``), ``all`` (what
                there is too; Redis's ``0``) or an ID. A worker that creates it after entries that are there logs so.
            concurrency: How many entries, or batches, are handled at once.
            prefetch: How many entries are read ahead at most; fewer where handlers are slow.
            prefetch_bytes: How many bytes of them.
            batch: How many entries a call takes at most; more than one for a function that takes lists. It may return a
                list, with an exception for each entry that failed; where it raises, or the list is of another
                length, all of them have, and each is tried again by itself.
            linger: How long a batch that is not full waits for more.
            retry: What to wait for after a failure: a schedule, one delay, a list of them; none for no second try.
            max_attempts: How often the handler is started for one entry at most.
            in_place: Keep a failed entry pending with its worker, instead of moving it into the delayed queue. Nothing
                is read while as many wait as may be read ahead.
            no_retry_on: Errors that no second try can help.
            timeout: How long one call may take. A thread cannot be cut off: its call goes on, keeps its entry, and
                counts as failed once it has ended.
            lease: How long an entry may lie idle before other workers take it over; a running handler renews it.
            key: The business key: a field's name, or a function of the body. Another entry with the same key is
                acknowledged and not handled.
            key_ttl: How long a key is remembered; none forever: then each key stays in Redis, and what they take grows.
            noack: Handle each entry at most once: the server takes it for acknowledged as it delivers it (NOACK). An entry
                whose handler fails, or whose worker dies, is lost; failures are counted (``noack_lost_total``).
            threads: Run a plain function in threads.
            failed: Called with an entry and its error once it is given up.
            middleware: What is put around this handler alone, inside that of its router and of the application; the
                first is the outermost. For a handler of batches it takes entries.
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
                start=STARTS.get(start, start),
                kind=kind_of(function, threads=threads),
                concurrency=concurrency,
                prefetch=prefetch,
                prefetch_bytes=prefetch_bytes,
                batch=batch,
                linger=timedelta(seconds=seconds(linger, "linger")),
                retry=Retry(
                    None if noack else schedule_of(retry),
                    1 if noack else max_attempts,
                    in_place=in_place,
                    no_retry_on=no_retry_on if isinstance(no_retry_on, tuple) else (no_retry_on,),
                ),
                timeout=None if timeout is None else timedelta(seconds=seconds(timeout, "timeout")),
                lease=timedelta(seconds=seconds(lease, "lease")),
                guard=None
                if key is None
                else IdempotencyRule(
                    key, None if key_ttl is None else timedelta(seconds=seconds(key_ttl, "key_ttl"))
                ),
                noack=noack,
                failed=failed,
                middleware=(middleware,) if callable(middleware) else tuple(middleware),
            )
            retries = retry not in (None, EXPONENTIAL) or max_attempts not in (1, MAX_ATTEMPTS)
            if noack and (in_place or retries):
                raise SettingsError(
                    f"handler {handler.name}: noack=True with retries",
                    "What the server takes for acknowledged cannot be tried again: leave out one of them.",
                )
            parameters_of(function, batch=batch > 1)
            self.declare(handler)
            return function

        return declare

    @with_former_names(max_deliveries="max_attempts", hopeless="no_retry_on", passive="in_place")
    def cron(
        self,
        expression: str,
        *,
        timezone: str = "UTC",
        name: str = "",
        **options: Unpack[CronOptions],
    ) -> Callable[[Registered], Registered]:
        """Declare a function to be called by the clock: once a slot, whichever worker it is that calls it.

        Each slot is an entry of the stream ``cron:NAME``, with its time in the field ``at``, and is handled as any entry is:
        retried, given up, shown. What came due while no worker ran is called once when one does; the slots between are
        not made up. The stream keeps its entries until it is trimmed.

        >>> @app.cron("0 3 * * MON", timezone="Europe/Berlin", timeout=600)
        ... async def report(at: datetime) -> None: ...

        Args:
            expression: Minute, hour, day of the month, month and day of the week; six fields begin with the second.
            timezone: By which clock; an hour that is left out or comes twice there is called once.
            name: What the handler is called; the function's name unless given.
            options: Those of ``handler`` that are about calls: see ``CronOptions``.

        Raises:
            SettingsError: Something of that makes no sense, or ``streamops[cron]`` is not installed.
        """
        schedule = CronSchedule(expression, timezone)
        schedule.after(EPOCH)

        def declare(function: Registered) -> Registered:
            called = name or name_of(function)
            self.handler(f"cron:{called}", group="cron", start="all", key=SLOT, name=called, **options)(
                function
            )
            self._handlers[-1] = replace(self._handlers[-1], cron=schedule)
            return function

        return declare

    def middleware(self, around: Middleware) -> Middleware:
        """Put a function around every handler of single entries, included ones too; the first one declared is the outermost."""
        self._middleware.append(around)
        return around

    def batch_middleware(self, around: BatchMiddleware) -> BatchMiddleware:
        """Put a function around every handler of batches, included ones too; the first one declared is the outermost."""
        self._batch_middleware.append(around)
        return around

    def _with_middleware(self, handler: Handler) -> Handler:
        around = self._batch_middleware if handler.batch > 1 else self._middleware
        return replace(handler, middleware=(*around, *handler.middleware))


def refuse_doubles(handlers: Sequence[Handler]) -> None:
    """Refuse handlers of which two read with the same group; raises ``SettingsError``."""
    taken: dict[tuple[str, str], str] = {}
    for handler in handlers:
        for stream, _ in handler.streams:
            if other := taken.get((stream, handler.group)):
                raise SettingsError(
                    f"handler {handler.name}: group {handler.group} of stream {stream} is read by {other} already",
                    "Entries of one group go to either at random: give each handler a group of its own.",
                )
            taken[stream, handler.group] = handler.name


def _prefixed(router: Router, prefix: str) -> Iterator[Handler]:
    for handler in router.handlers_with_middleware:
        streams = tuple((prefix + stream, weight) for stream, weight in handler.streams)
        yield replace(handler, streams=streams)
