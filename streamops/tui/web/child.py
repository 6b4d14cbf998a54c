"""The console of one tab: a process, and the pipes to it."""

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, Self

from streamops.tui.terminal import DRIVER, DRIVER_VARIABLE
from streamops.tui.web.packets import START, Kind, Size, packet, read_head

QUIT: Final = packet(Kind.META, b'{"type": "quit"}')
PATIENCE: Final = 3.0
"""Seconds to end when asked to; then it is told to, then it is ended."""
FIRST_LINES: Final = 10
LAST_WORDS: Final = 4096
"""Bytes of its standard error that are kept."""


def environment_for(environment: Mapping[str, str], size: Size) -> dict[str, str]:
    """The environment of a tab's process."""
    return {
        **environment,
        DRIVER_VARIABLE: DRIVER,
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "TERM": "xterm-256color",
        "COLUMNS": str(size.width),
        "ROWS": str(size.height),
    }


class Child:
    """A running console.

    Args:
        process: Its process.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self._words = bytearray()
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, command: Sequence[str], environment: Mapping[str, str]) -> Self:
        """Start one; raises ``OSError`` where that cannot be."""
        # In a session of its own: Ctrl-C in the server's terminal is the server's.
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=dict(environment), start_new_session=True
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """Its process ID."""
        return self._process.pid

    async def output(self) -> AsyncIterator[bytes]:
        """What it writes to its terminal, until it ends; raises ``BrokenPacket``."""
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101 - it was asked for above
        with suppress(asyncio.IncompleteReadError, ConnectionResetError):
            for _ in range(FIRST_LINES):
                if await stdout.readuntil(b"\n") == START:
                    break
            while True:
                kind, length = read_head(await stdout.readexactly(5))
                body = await stdout.readexactly(length)
                if kind == Kind.DATA:
                    yield body

    async def send(self, data: bytes) -> None:
        """Send it a packet; nothing happens where it has ended."""
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 - as above
        with suppress(OSError, RuntimeError):
            stdin.write(data)
            await stdin.drain()

    async def stop(self) -> str:
        """End it, whatever it does, and wait for it; its last words, unless it ended in order."""
        stdin = self._process.stdin
        if self._process.returncode is None and stdin is not None:
            with suppress(OSError, RuntimeError):
                stdin.write(QUIT)
                stdin.close()
        try:
            for end in (self._process.terminate, self._process.kill):
                with suppress(TimeoutError):
                    async with asyncio.timeout(PATIENCE):
                        await self._process.wait()
                    break
                with suppress(ProcessLookupError):
                    end()
            await self._process.wait()
        except asyncio.CancelledError:
            with suppress(ProcessLookupError):
                self._process.kill()
            raise
        finally:
            self._listening.cancel()
        return self._words.decode("utf-8", "replace") if self._process.returncode else ""

    async def _listen(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None  # noqa: S101 - as above
        while read := await stderr.read(LAST_WORDS):
            self._words += read
            del self._words[:-LAST_WORDS]
