"""Making one callable of a handler's function, its parameters and the middleware around it."""

from collections.abc import Awaitable, Callable, Sequence
from inspect import isawaitable
from typing import Any

from streamops.errors import HandlerError
from streamops.runtime.decoding import Decode
from streamops.runtime.entry import Entry
from streamops.runtime.handlers import BatchCall, Call, Handler, Kind, Parameters
from streamops.runtime.threads import Threads

Middleware = Callable[[Entry, Call], Awaitable[Any]]
"""Called with the entry and what is inside; whatever it raises or returns stands for the handler."""

BatchMiddleware = Callable[[Sequence[Entry], BatchCall], Awaitable[Any]]
"""The same for handlers of batches."""


def compile_call(
    handler: Handler, parameters: Parameters, middleware: Sequence[Middleware], threads: Threads | None
) -> Call:
    """A handler of single entries, ready to be called; the first middleware is the outermost."""
    call = _single(handler, parameters.decoders, threads)
    for around in reversed(middleware):
        call = _wrapped(around, call)
    return call


def compile_batch(
    handler: Handler, parameters: Parameters, middleware: Sequence[BatchMiddleware], threads: Threads | None
) -> BatchCall:
    """A handler of batches, ready to be called; a body that cannot be decoded is its own entry's failure alone."""
    call = _batch(handler, parameters, threads)
    for around in reversed(middleware):
        call = _wrapped_batch(around, call)
    return call


def results_of(answer: object, number: int) -> Sequence[object]:
    """What a handler of batches says of each of its entries; of any nothing, where it returned no list.

    Raises:
        Exception: The list is of another length: the first error in it, which may be anybody's.
        HandlerError: The same, without an error in it.
    """
    if not isinstance(answer, (list, tuple)):
        return [None] * number
    if len(answer) != number:
        unclear = HandlerError(f"the handler returned {len(answer)} results for {number} entries")
        raise next((result for result in answer if isinstance(result, Exception)), unclear)
    return answer


def _batch(handler: Handler, parameters: Parameters, threads: Threads | None) -> BatchCall:
    run, decode = _run_batch(handler, threads), parameters.body

    async def call(entries: Sequence[Entry]) -> Any:  # noqa: ANN401 - as the function returns
        kept, bodies, refused = (entries, [], {}) if decode is None else _decoded(decode, entries)
        if not kept:
            return [*refused.values()]
        arguments = [list(kept) if one is None else bodies for one in parameters.decoders]
        answer = await run(kept, arguments)
        if not refused:
            return answer
        results = iter(results_of(answer, len(kept)))
        return [refused[entry] if entry in refused else next(results) for entry in entries]

    return call


def _run_batch(
    handler: Handler, threads: Threads | None
) -> Callable[[Sequence[Entry], list[Any]], Awaitable[Any]]:
    function = handler.function

    async def inline(_: Sequence[Entry], arguments: list[Any]) -> Any:  # noqa: ANN401 - as the function returns
        return await _whole(function(*arguments))

    async def threaded(entries: Sequence[Entry], arguments: list[Any]) -> Any:  # noqa: ANN401 - as the function returns
        assert threads is not None  # noqa: S101 - who has such a handler has them
        return await _whole(await threads.call(entries, function, arguments))

    if handler.kind is Kind.ASYNC:
        return lambda _, arguments: function(*arguments)
    return inline if handler.kind is Kind.INLINE else threaded


def _decoded(
    decode: Decode, entries: Sequence[Entry]
) -> tuple[Sequence[Entry], list[Any], dict[Entry, Exception]]:
    """The entries that can be decoded, their bodies, and why the others cannot."""
    kept, bodies, refused = list[Entry](), list[Any](), dict[Entry, Exception]()
    for entry in entries:
        try:
            bodies.append(decode(entry.raw))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this entry's alone
            refused[entry] = error
        else:
            kept.append(entry)
    return kept, bodies, refused


def _single(handler: Handler, decoders: tuple[Decode | None, ...], threads: Threads | None) -> Call:
    function = handler.function
    if handler.kind is Kind.ASYNC:
        return _direct(function, decoders)
    plain: Callable[[Entry], Any] = _direct(function, decoders)

    async def inline(entry: Entry) -> Any:  # noqa: ANN401 - as the function returns
        result = plain(entry)
        return result if result is None else await _whole(result)

    async def threaded(entry: Entry) -> Any:  # noqa: ANN401 - as the function returns
        arguments = [entry if decode is None else decode(entry.raw) for decode in decoders]
        assert threads is not None  # noqa: S101 - who has such a handler has them
        return await _whole(await threads.call((entry,), function, arguments))

    return inline if handler.kind is Kind.INLINE else threaded


def _direct(function: Callable[..., Any], decoders: tuple[Decode | None, ...]) -> Call:
    """The function called with what it takes; common shapes without a list in between."""
    match decoders:
        case ():
            return lambda _: function()
        case (None,):
            return function
        case (Callable() as decode,):
            return lambda entry: function(decode(entry.raw))
        case (Callable() as decode, None):
            return lambda entry: function(decode(entry.raw), entry)
        case _:
            return lambda entry: function(
                *(entry if decode is None else decode(entry.raw) for decode in decoders)
            )


async def _whole(result: Any) -> Any:  # noqa: ANN401 - as the function returns
    """What a plain function returned; a coroutine is run, since what makes one would have done nothing yet."""
    return await result if isawaitable(result) else result


def _wrapped(around: Middleware, inside: Call) -> Call:
    return lambda entry: around(entry, inside)


def _wrapped_batch(around: BatchMiddleware, inside: BatchCall) -> BatchCall:
    return lambda entries: around(entries, inside)
