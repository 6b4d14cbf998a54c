"""``streamops tui --web`` as a program."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

PATIENCE = 20.0


class Program(NamedTuple):
    """A running one.

    Attributes:
        process: The process.
        url: The address that it printed, token and all.
    """

    process: Process
    url: str

    @property
    def origin(self) -> str:
        """The address without the token."""
        return self.url.partition("/#")[0]

    @property
    def token(self) -> str:
        """The token."""
        return self.url.partition("#")[2]


@asynccontextmanager
async def web_console(*args: str) -> AsyncIterator[Program]:
    """Run it at a port of the kernel's choice; it is ended on the way out."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "streamops", "tui", "--web", "--listen", "127.0.0.1:0", *args),
        stdout=PIPE,
        stderr=PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            line = await process.stdout.readline()
        yield Program(process, line.decode().strip())
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        async with asyncio.timeout(PATIENCE):
            await process.communicate()
