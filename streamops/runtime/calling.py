"""Making one callable of a handler's function, its parameters and the middleware around it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from contextvars import copy_context
from typing import Any

from streamops.runtime.decoding import Decode
from streamops.runtime.entry import Entry
from streamops.runtime.handlers import BatchCall, Call, Handler, Kind, Parameters

Middleware = Callable[[Entry, Call], Awaitable[Any]]
"""Called with the entry and what is inside; whatever it raises or returns stands for the handler."""

BatchMiddleware = Callable[[Sequence[Entry], BatchCall], Awaitable[Any]]
"""The same for handlers of batches."""


def compile_call(
    handler: Handler, parameters: Parameters, middleware: Sequence[Middleware], threads: Executor | None
) -> Call:
    """A handler of single entries, ready to be called; the first middleware is the outermost."""
    call = _single(handler, parameters.decoders, threads)
    for around in reversed(middleware):
        call = _wrapped(around, call)
    return call


def compile_batch(
    handler: Handler, parameters: Parameters, middleware: Sequence[BatchMiddleware], threads: Executor | None
) -> BatchCall:
    """A handler of batches, ready to be called; bodies that cannot be decoded were sorted out before."""
    call = _batch(handler, parameters, threads)
    for around in reversed(middleware):
        call = _wrapped_batch(around, call)
    return call


def _batch(handler: Handler, parameters: Parameters, threads: Executor | None) -> BatchCall:
    function = handler.function

    def arguments(entries: Sequence[Entry]) -> list[list[Any]]:
        return [
            list(entries) if decode is None else [decode(entry.raw) for entry in entries]
            for decode in parameters.decoders
        ]

    if handler.kind is Kind.ASYNC:
        return lambda entries: function(*arguments(entries))

    async def call(entries: Sequence[Entry]) -> Any:  # noqa: ANN401 - as the function returns
        if handler.kind is Kind.INLINE:
            return function(*arguments(entries))
        return await _in_thread(threads, function, arguments(entries))

    return call


def _single(handler: Handler, decoders: tuple[Decode | None, ...], threads: Executor | None) -> Call:
    function = handler.function
    if handler.kind is Kind.ASYNC:
        return _direct(function, decoders)
    plain = _direct(function, decoders)

    async def inline(entry: Entry) -> Any:  # noqa: ANN401 - as the function returns
        return plain(entry)

    async def threaded(entry: Entry) -> Any:  # noqa: ANN401 - as the function returns
        arguments = [entry if decode is None else decode(entry.raw) for decode in decoders]
        return await _in_thread(threads, function, arguments)

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


def _wrapped(around: Middleware, inside: Call) -> Call:
    return lambda entry: around(entry, inside)


def _wrapped_batch(around: BatchMiddleware, inside: BatchCall) -> BatchCall:
    return lambda entries: around(entries, inside)


async def _in_thread(threads: Executor | None, function: Callable[..., Any], arguments: list[Any]) -> Any:  # noqa: ANN401 - as the function returns
    """Call a function in a thread, where context variables are what they are here: a span goes on."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(threads, copy_context().run, function, *arguments)
