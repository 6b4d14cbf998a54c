"""Running a program to its end, bounded in time and in what it prints."""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Final, NamedTuple

from streamops.targets.telling import MOST_BYTES

LINGER: Final = 0.5
"""Seconds that pipes may stay open after the program's end, where something that it started still holds them."""


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
