"""Handlers: what a function takes, which streams it serves, and how."""

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from enum import Enum, StrEnum, auto
from itertools import accumulate
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import astuple

from streamops.errors import SettingsError
from streamops.runtime.codec import Decode, arguments_decoder, decoder, is_plain, is_unknown
from streamops.runtime.cron import CronSchedule
from streamops.runtime.dependencies import (
    UNDECIDED,
    Dependencies,
    Function,
    depends_of,
    is_state,
    name_of,
    underlying,
)
from streamops.runtime.entry import Entry
from streamops.runtime.retry import Retry

Call = Callable[[Entry], Awaitable[Any]]
"""A handler ready to be called with an entry, or as ``BatchCall`` with many."""

BatchCall = Callable[[Sequence[Entry]], Awaitable[Any]]
Middleware = Callable[[Entry, Call], Awaitable[Any]]
"""Called with the entry and what is inside; whatever it raises or returns stands for the handler."""

BatchMiddleware = Callable[[Sequence[Entry], BatchCall], Awaitable[Any]]
"""The same for handlers of batches."""

AnyMiddleware = Callable[[Any, Any], Awaitable[Any]]
Failed = Callable[[Entry, BaseException], Any]


class CallKind(StrEnum):
    """How a function is called."""

    ASYNC = "async"
    INLINE = "inline"
    """In the event loop: for functions that return at once."""
    THREADS = "threads"


class IdempotencyRule(Struct, frozen=True):
    """Handle each business key once.

    Attributes:
        key: The name of the field, or of the body's attribute, that holds it; or a function of the body.
        ttl: How long a key is remembered after its entry; none forever.
    """

    key: str | Callable[[Any], str]
    ttl: timedelta | None = timedelta(days=1)


class Handler(Struct, frozen=True, kw_only=True):
    """One declared handler.

    Attributes:
        name: What it is called in logs and metrics.
        function: The function as it was written.
        streams: The streams it serves, each with its weight.
        group: The consumer group.
        start: Where the group begins if there is none: ``0``, ``$`` or an ID.
        kind: How the function is called.
        concurrency: How many entries (or batches) are handled at once.
        prefetch: How many entries are read ahead at most.
        prefetch_bytes: How many bytes of them.
        batch: How many entries a call takes at most; one for a function of single entries.
        linger: How long a batch that is not full waits for more.
        retry: What to do if it fails.
        timeout: How long one call may take; none for any time.
        lease: How long an entry may lie idle before others take it over.
        guard: Its guard; None if every entry is handled.
        noack: Whether entries are read without acknowledgements: at most once, and lost if they fail.
        failed: Called with an entry and its error once it is given up; none for no call.
        middleware: What is around it, the outermost first; of batches where it takes them.
        cron: When an entry is added to its stream; None if others add them.
    """

    name: str
    function: Function
    streams: tuple[tuple[str, int], ...]
    group: str
    start: str
    kind: CallKind
    concurrency: int = 16
    prefetch: int = 500
    prefetch_bytes: int = 16 * 1024 * 1024
    batch: int = 1
    linger: timedelta = timedelta()
    retry: Retry = Retry(None)
    timeout: timedelta | None = None
    lease: timedelta = timedelta(seconds=60)
    guard: IdempotencyRule | None = None
    noack: bool = False
    failed: Failed | None = None
    middleware: tuple[AnyMiddleware, ...] = ()
    cron: CronSchedule | None = None


class _Source(Enum):
    """Where an argument comes from."""

    STATE = auto()
    PLAIN = auto()
    """A field of the entry, by the parameter's name."""
    DECODED = auto()
    """The body, or the entry itself."""
    DEPENDENCY = auto()


class Parameters(Struct, frozen=True):
    """What a function takes.

    Attributes:
        function: The function, bound to the application's state; it takes its plain arguments in one Struct.
        decoders: Makes each of its arguments of an entry's fields, in their order; None for the entry itself.
        body: Decodes the body; None if the function takes no body.
        dependencies: Made for each call; the function takes them after all others.
    """

    function: Function
    decoders: tuple[Decode | None, ...]
    body: Decode | None
    dependencies: Dependencies


def parameters_of(function: Function, *, batch: bool, state: object = UNDECIDED) -> Parameters:
    """What a function takes.

    Args:
        function: The function.
        batch: Whether it takes lists.
        state: What the application's lifespan gave; as long as that is undecided, any class may turn out to be its.

    Raises:
        SettingsError: A parameter has no type, or one that nothing provides; or there are two bodies.
    """
    where = name_of(function)
    decoders, states, plain = list[Decode | None](), list[object](), dict[str, tuple[Any, ...]]()
    dependencies, dependent = Dependencies(where, batch=batch, state=state), 0
    places: list[tuple[_Source, int]] = []
    for parameter, kind in _annotated(function):
        label = f"handler {where}, parameter {parameter.name}"
        if depends := depends_of(kind):
            places.append((_Source.DEPENDENCY, dependent))
            dependencies.give(depends)
            dependent += 1
        elif is_state(kind, state):
            places.append((_Source.STATE, len(states)))
            states.append(state)
        elif is_plain(kind) and not batch:
            places.append((_Source.PLAIN, len(plain)))
            has_default = parameter.default is not parameter.empty
            plain[parameter.name] = (kind, parameter.default) if has_default else (kind,)
        else:
            places.append((_Source.DECODED, len(decoders)))
            decoders.append(_decoder(_element(kind, label) if batch else kind, label))
    firsts = dict(zip(_Source, accumulate((0, len(states), len(plain), len(decoders))), strict=True))
    order = [firsts[source] + at for source, at in places]
    if plain:
        decoders.insert(0, arguments_decoder(plain))
    bodies = [decode for decode in decoders if decode is not None]
    if len(bodies) > 1:
        raise SettingsError(
            f"handler {where}: takes two bodies", "An entry has one; take a Struct that holds both."
        )
    function = _reordered(function, order, states, has_plain=bool(plain))
    return Parameters(function, tuple(decoders), bodies[0] if bodies else None, dependencies)


def kind_of(function: Function, *, threads: bool) -> CallKind:
    """How a function is called.

    Raises:
        SettingsError: An async function cannot run in threads, and a generator not at all.
    """
    called = underlying(function)
    if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
        raise SettingsError(
            f"handler {name_of(function)}: is a generator, which would never run", "Drop its yield."
        )
    if inspect.iscoroutinefunction(called):
        if threads:
            raise SettingsError(
                f"handler {name_of(function)}: is async and cannot run in threads",
                "Drop threads=True, or async.",
            )
        return CallKind.ASYNC
    return CallKind.THREADS if threads else CallKind.INLINE


def streams_of(streams: str | Sequence[str] | Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Streams and weights from what a user may give for them.

    Raises:
        SettingsError: There is none, or a weight is no positive number.
    """
    if isinstance(streams, str):
        pairs: tuple[tuple[str, int], ...] = ((streams, 1),)
    elif isinstance(streams, Mapping):
        pairs = tuple(streams.items())
    else:
        pairs = tuple((stream, 1) for stream in streams)
    if not pairs or not all(is_text(stream) for stream, _ in pairs):
        raise SettingsError("a handler needs a stream", 'Write @app.handler("orders:events", group=...).')
    for stream, weight in pairs:
        if not is_whole(weight) or weight < 1:
            raise SettingsError(
                f"stream {stream}: its weight must be 1 or more", "Weights are shares: 5, 3 and 2."
            )
    return pairs


def is_text(value: object) -> bool:
    """Whether a user gave a text that says something; who has no type checker may give anything."""
    return isinstance(value, str) and value != ""


def is_whole(value: object) -> bool:
    """Whether a user gave a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def _annotated(function: Function) -> Iterator[tuple[inspect.Parameter, Any]]:
    """The parameters of a function, each with its type."""
    where = name_of(function)
    try:
        hints = get_type_hints(underlying(function), include_extras=True)
    except NameError as error:
        raise SettingsError(
            f"handler {where}: {error}", "Import the type where the handler is defined."
        ) from None
    for parameter in inspect.signature(function).parameters.values():
        label = f"handler {where}, parameter {parameter.name}"
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL, parameter.KEYWORD_ONLY):
            raise SettingsError(
                f"{label}: must be a positional one", "Write handle(order: Order, entry: Entry)."
            )
        if parameter.name not in hints:
            raise SettingsError(
                f"{label}: has no type",
                "Write handle(order: Order), (fields: dict[str, str]) or (entry: Entry).",
            )
        kind = hints[parameter.name]
        # What else is said of a plain value limits it: Annotated[int, Meta(gt=0)].
        is_body = get_origin(kind) is Annotated and not depends_of(kind) and not is_plain(kind)
        yield parameter, get_args(kind)[0] if is_body else kind


def _decoder(kind: Any, label: str) -> Decode | None:  # noqa: ANN401 - any type a handler may name
    """What makes a body; none for the entry itself."""
    if kind is Entry:
        return None
    if _holds_entry(kind):
        raise SettingsError(
            f"{label}: an entry is taken as it is",
            "Write (entry: Entry), or with batch=100 (entries: list[Entry]).",
        )
    if is_unknown(kind):
        raise SettingsError(
            f"{label}: nothing provides a {kind.__name__}",
            "Yield one from a function under @app.lifespan; a body is a msgspec Struct, a dataclass or a dict.",
        )
    return decoder(kind, label)


def _reordered(
    function: Function, order: Sequence[int], states: Sequence[object], *, has_plain: bool
) -> Function:
    """A function that takes what its caller has: plain arguments in one Struct, decoded ones, dependencies.

    Args:
        function: The function.
        order: The place of each of its arguments among states, plain arguments, decoded ones and dependencies.
        states: The application's state, once for each parameter that takes it.
        has_plain: Whether the first argument of a call is the Struct of plain arguments.
    """
    if not has_plain and [*order] == [*range(len(order))] and not states:
        return function

    def call(*arguments: Any) -> Any:  # noqa: ANN401 - as the function returns
        first = astuple(arguments[0]) if has_plain else arguments[:1]
        values = (*states, *first, *arguments[1:])
        return function(*[values[at] for at in order])

    return call


def _holds_entry(kind: Any) -> bool:  # noqa: ANN401 - any type a handler may name
    return any(part is Entry or _holds_entry(part) for part in get_args(kind))


def _element(kind: Any, label: str) -> Any:  # noqa: ANN401 - any type a handler may name
    if get_origin(kind) in (list, Sequence) and get_args(kind):
        return get_args(kind)[0]
    raise SettingsError(f"{label}: a batch handler takes lists", "Write handle(orders: list[Order]).")
