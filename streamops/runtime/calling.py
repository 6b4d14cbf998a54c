"""Makes one callable of a handler's function, its parameters and middleware; runs functions in threads.

A thread cannot be cancelled. So a cancelled task keeps waiting for its call in a thread: if it ended earlier, its entry
would be tried again while the first call still runs. Only when the worker ends does no task wait; the worker then knows
which entries threads still handle.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from inspect import isawaitable
from typing import Any

from streamops.errors import HandlerError
from streamops.runtime.codec import Decode
from streamops.runtime.dependencies import Run
from streamops.runtime.entry import Entry
from streamops.runtime.handlers import (
    BatchCall,
    BatchMiddleware,
    Call,
    CallKind,
    Handler,
    Middleware,
    Parameters,
)


class Threads:
    """A worker's threads: as many as its handlers may use at the same time, so that no call waits for one."""

    def __init__(self, number: int) -> None:
        self._executor = ThreadPoolExecutor(max(1, number), thread_name_prefix="streamops-handler")
        self._running: dict[Future[Any], Sequence[Entry]] = {}
        self._abandoned = False

    @property
    def running(self) -> list[Entry]:
        """The entries whose calls have not returned."""
        return [entry for entries in self._running.copy().values() for entry in entries]

    async def call(self, entries: Sequence[Entry], function: Callable[..., Any], arguments: list[Any]) -> Any:  # noqa: ANN401 - as the function returns
        """Call a function in a thread with this task's context variables, so that a trace's span continues."""
        running = self._executor.submit(copy_context().run, _called, function, arguments)
        self._running[running] = entries
        running.add_done_callback(self._running.pop)
        ended = asyncio.wrap_future(running)
        try:
            await asyncio.wait([ended])
        except asyncio.CancelledError:
            ended.add_done_callback(_disregard)
            if not running.cancel():
                await self._outlast(ended)
            raise
        return ended.result()

    def abandon(self) -> None:
        """Wait for no call any more: a task that is cancelled from now on ends immediately."""
        self._abandoned = True

    def close(self) -> None:
        """Start no call any more."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _outlast(self, ended: asyncio.Future[Any]) -> None:
        while not (ended.done() or self._abandoned):
            with suppress(asyncio.CancelledError):
                await asyncio.wait([ended])


def _called(function: Callable[..., Any], arguments: list[Any]) -> Any:  # noqa: ANN401 - as the function returns
    try:
        return function(*arguments)
    except StopIteration as error:
        # A future cannot hold StopIteration, and its waiter would wait forever.
        raise RuntimeError("it raised StopIteration") from error


def _disregard(ended: asyncio.Future[Any]) -> None:
    """Drop the error of a call that no task waits for."""
    if not ended.cancelled():
        ended.exception()


def compile_call(handler: Handler, parameters: Parameters, threads: Threads) -> Call:
    """Compile a handler of single entries; the first middleware is the outermost."""
    call = _single(handler.kind, parameters, threads)
    for around in reversed(handler.middleware):
        call = _wrapped(around, call)
    return call


def compile_batch(handler: Handler, parameters: Parameters, threads: Threads) -> BatchCall:
    """Compile a handler of batches; a body that cannot be decoded fails its own entry only."""
    call = _batch(handler.kind, parameters, threads)
    for around in reversed(handler.middleware):
        call = _wrapped_batch(around, call)
    return call


def results_of(answer: object, number: int) -> Sequence[object]:
    """The result of each entry of a batch; None for each if the handler returned no list.

    Raises:
        Exception: The list has another length: the first error in it, whose entry is unknown.
        HandlerError: The list has another length and no error in it.
    """
    if not isinstance(answer, (list, tuple)):
        return [None] * number
    if len(answer) != number:
        unclear = HandlerError(f"the handler returned {len(answer)} results for {number} entries")
        raise next((result for result in answer if isinstance(result, Exception)), unclear)
    return answer


def _batch(kind: CallKind, parameters: Parameters, threads: Threads) -> BatchCall:
    run, decode = _run(kind, parameters, threads), parameters.body

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


def _run(kind: CallKind, parameters: Parameters, threads: Threads) -> Run:
    """A callable of the function with its dependencies around it."""
    function, dependencies = parameters.function, parameters.dependencies

    async def called(_: Sequence[Entry], arguments: list[Any]) -> Any:  # noqa: ANN401 - as the function returns
        return await _whole(function(*arguments))

    async def threaded(entries: Sequence[Entry], arguments: list[Any]) -> Any:  # noqa: ANN401 - as the function returns
        return await _whole(await threads.call(entries, function, arguments))

    run, in_thread = (threaded, threads.call) if kind is CallKind.THREADS else (called, None)
    if not dependencies:
        return run
    return lambda entries, arguments: dependencies.call(entries, arguments, run, in_thread)


def _decoded(
    decode: Decode, entries: Sequence[Entry]
) -> tuple[Sequence[Entry], list[Any], dict[Entry, Exception]]:
    """The entries that can be decoded, their bodies, and why the others cannot."""
    kept, bodies, refused = list[Entry](), list[Any](), dict[Entry, Exception]()
    for entry in entries:
        try:
            bodies.append(decode(entry.raw))
        except Exception as error:  # noqa: BLE001 - whatever it is, it fails this entry only
            refused[entry] = error
        else:
            kept.append(entry)
    return kept, bodies, refused


def _single(kind: CallKind, parameters: Parameters, threads: Threads) -> Call:
    function, decoders = parameters.function, parameters.decoders
    if parameters.dependencies or kind is CallKind.THREADS:
        run = _run(kind, parameters, threads)
        return lambda entry: run(
            (entry,), [entry if decode is None else decode(entry.raw) for decode in decoders]
        )
    if kind is CallKind.ASYNC:
        return _direct(function, decoders)
    plain: Callable[[Entry], Any] = _direct(function, decoders)

    async def inline(entry: Entry) -> Any:  # noqa: ANN401 - as the function returns
        result = plain(entry)
        return result if result is None else await _whole(result)

    return inline


def _direct(function: Callable[..., Any], decoders: tuple[Decode | None, ...]) -> Call:
    """Call the function with its decoded arguments; without a list in between for the common shapes."""
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
    """The result of a plain function; a coroutine that it returned is awaited."""
    return await result if isawaitable(result) else result


def _wrapped(around: Middleware, inside: Call) -> Call:
    return lambda entry: around(entry, inside)


def _wrapped_batch(around: BatchMiddleware, inside: BatchCall) -> BatchCall:
    return lambda entries: around(entries, inside)
