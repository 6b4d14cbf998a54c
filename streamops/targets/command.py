"""Workers that a program of the user's counts and sets: ``kubectl``, ``docker``, ``systemctl``, or a script."""

import asyncio
import os
import re
import signal
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Annotated, Final, NamedTuple

import msgspec
from msgspec import Meta, Struct

from streamops.errors import ExitCode, TargetChanged, TargetError
from streamops.model.pools import PoolSize
from streamops.model.text import safe
from streamops.targets.specs import CommandSpec
from streamops.targets.target import MOST_WORKERS, changed, one_line, require_expected

CHANGED: Final = ExitCode.DRIFTED
"""The exit status by which ``set`` says that the number is not ``{current}`` any more, and that it did nothing."""

PLACES: Final = ("pool", "current", "desired", "reason", "key")
"""What arguments may hold in braces. Other braces stay as they are."""

MOST_BYTES: Final = 64 * 1024
"""Of what says a number."""

LINGER: Final = 0.5
"""Seconds that pipes may stay open after the program's end, where something that it started still holds them."""

_PLACE: Final = re.compile(rf"\{{({'|'.join(PLACES)})\}}")
_BY_HAND: Final = "Run it by hand to see what it prints."
Number = Annotated[int, Meta(ge=0, le=MOST_WORKERS)]


class _Answer(Struct):
    ordered: Number
    ready: Number | None = None


_DECODER: Final = msgspec.json.Decoder(Number | _Answer)


class Ran(NamedTuple):
    """How a program ended.

    Attributes:
        status: Its exit status; negative for a signal.
        output: What it printed, up to a byte more than ``MOST_BYTES``.
        errors: The end of what it wrote to standard error.
    """

    status: int
    output: bytes
    errors: bytes


class CommandTarget:
    """Two programs: ``get`` prints a number, or ``{"ordered": 3, "ready": 2}``; ``set`` asks for another one."""

    kind: str = "command"

    def __init__(self, pool: str, spec: CommandSpec) -> None:
        # Arguments are not shown: people write passwords into them.
        self.label = f"command {safe(spec.set[0])}"
        self._pool = pool
        self._spec = spec

    async def read(self) -> PoolSize:
        """As ``Target.read``."""
        ran = await self._run(self._spec.get, {"pool": self._pool}, "get")
        if ran.status:
            raise self._failure("get", ran)
        if len(ran.output) > MOST_BYTES:
            raise TargetError(f"{self.label}: get printed more than a number", _BY_HAND)
        try:
            return decode_size(ran.output)
        except ValueError as error:
            raise TargetError(f"{self.label}: get printed {error}", _BY_HAND) from None

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:
        """As ``Target.resize``; between looking and setting, only the program itself can notice a change."""
        require_expected(self.label, await self.read(), expected)
        values = {
            "pool": self._pool,
            "current": str(expected.ordered),
            "desired": str(workers),
            "reason": safe(reason),
            "key": key,
        }
        ran = await self._run(self._spec.set, values, "set")
        if ran.status == CHANGED:
            raise changed(self.label, "the target was changed since it was read")
        if ran.status:
            raise await self._refusal(self._failure("set", ran), expected)

    async def close(self) -> None:
        """As ``Target.close``; nothing is held."""

    async def _run(self, command: Sequence[str], values: Mapping[str, str], which: str) -> Ran:
        args = [_PLACE.sub(lambda found: values.get(found[1], found[0]), arg) for arg in command]
        limit = self._spec.timeout
        try:
            return await run(args, {name: value.reveal() for name, value in self._spec.env.items()}, limit)
        except TimeoutError:
            unsure = "; whether the change was applied is unknown" if which == "set" else ""
            problem = f"{which} took more than {limit.total_seconds():g} s, and was killed{unsure}"
            hint = "Run it by hand; it must not prompt for input."
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "an invalid argument"
            problem, hint = f"{which} cannot be started: {why}", "Check that it is installed."
        raise TargetError(f"{self.label}: {problem}", hint, retryable=True)

    async def _refusal(self, failure: TargetError, expected: PoolSize) -> TargetError:
        """Why ``set`` failed: not by its words, but by what is there now; ``kubectl`` says all with status 1."""
        try:
            require_expected(self.label, await self.read(), expected)
        except TargetChanged as error:
            return error
        except TargetError:
            # It is not known: what ``set`` said comes first.
            return failure
        return failure

    def _failure(self, which: str, ran: Ran) -> TargetError:
        ended = f"status {ran.status}" if ran.status > 0 else f"signal {-ran.status}"
        secrets = [value.reveal() for value in self._spec.env.values()]
        said = one_line(ran.errors.decode(errors="replace"), secrets)
        return TargetError(
            f"{self.label}: {which} ended with {ended}{': ' if said else ''}{said}",
            "Run it by hand to see why.",
            retryable=True,
        )


async def run(args: Sequence[str], env: Mapping[str, str], limit: timedelta) -> Ran:
    """Run a program without a shell, with nothing to read.

    What it leaves running after its own end is left alone. What it started ends with it where it takes too long, or
    where this is cancelled.

    Raises:
        OSError: It cannot be started.
        ValueError: An argument holds a NUL.
        TimeoutError: It took too long.
    """
    async with _reading(_Head()) as output, _reading(_Tail()) as errors:
        # A group of its own, so that what it started ends with it.
        process = await asyncio.create_subprocess_exec(
            *args,
            stdin=DEVNULL,
            stdout=output.writing,
            stderr=errors.writing,
            env={**os.environ, **env},
            start_new_session=True,
        )
        output.hand_over()
        errors.hand_over()
        try:
            async with asyncio.timeout(limit.total_seconds()):
                status = await process.wait()
        except BaseException:
            await _end(process)
            raise
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                await output.ended.wait()
                await errors.ended.wait()
        return Ran(status, bytes(output.kept), bytes(errors.kept))


class _Head(bytearray):
    """The beginning of what is printed, up to a byte more than is taken."""

    def take(self, part: bytes) -> None:
        self.extend(part[: MOST_BYTES + 1 - len(self)])


class _Tail(bytearray):
    """The end of what is printed."""

    def take(self, part: bytes) -> None:
        self.extend(part)
        del self[:-MOST_BYTES]


class _Pipe(asyncio.Protocol):
    """What a program writes. A pipe of our own: asyncio's have its ``wait`` wait for whatever still holds them."""

    def __init__(self, writing: int, kept: _Head | _Tail) -> None:
        self.writing = writing
        self.kept = kept
        self.ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.kept.take(data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - an end is an end
        self.ended.set()

    def hand_over(self) -> None:
        """Leave the writing end to the program alone, so that it ends with it."""
        if self.writing >= 0:
            os.close(self.writing)
            self.writing = -1


@asynccontextmanager
async def _reading(kept: _Head | _Tail) -> AsyncIterator[_Pipe]:
    """A pipe that is read all the time, so that the program never waits for a reader."""
    reading, writing = os.pipe()
    pipe = _Pipe(writing, kept)
    try:
        end = os.fdopen(reading, "rb", buffering=0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: pipe, end)
        try:
            yield pipe
        finally:
            transport.close()
            await pipe.ended.wait()
    finally:
        pipe.hand_over()


async def _end(process: Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def decode_size(content: bytes) -> PoolSize:
    """What a command printed: a number, or ``{"ordered": 3, "ready": 2}``.

    Raises:
        ValueError: Neither, or a number that cannot be one of workers.
    """
    try:
        answer = _DECODER.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise ValueError('neither a number of workers nor {"ordered": 3, "ready": 2}') from None
    if isinstance(answer, int):
        return PoolSize(ordered=answer)
    return PoolSize(ordered=answer.ordered, ready=answer.ready)
