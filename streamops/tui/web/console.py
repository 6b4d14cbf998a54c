"""The console of a tab as a process of its own: how it is started, what comes of it, and how it ends."""

import asyncio
import os
import shlex
import struct
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from streamops.resources.text import safe
from streamops.tui.terminal.output import DRIVER, DRIVER_VARIABLE

START: Final = b"__GANGLION__\n"
"""What Textual writes before its first packet."""
HEAD: Final = struct.Struct("!cI")
"""What a packet begins with: its kind, and how many bytes follow."""
MOST_CELLS: Final = 2_000
"""The width and the height of a terminal at most."""
PATIENCE: Final = 6.0
"""Seconds that a console has to end by itself; a second more than it takes in the end."""
LAST_WORDS: Final = 4096
"""Bytes of its standard error that are shown."""


class TabConsole(AppService):
    """The console of one tab.

    Textual-serve's own would start it by a shell, open links and hand out files when the console says so, wait forever
    for one that hangs, and print what a failed one said on the server's own terminal. This one does none of these.

    Args:
        command: What runs it, as a shell would read it.
        environment: What its environment has beside, or instead of, the server's own.
        tab: The connection of its tab, which is closed once the console has ended.
    """

    _process: Process
    _task: asyncio.Task[None]

    def __init__(self, command: str, environment: Mapping[str, str], tab: web.WebSocketResponse) -> None:
        super().__init__(
            command,
            write_bytes=tab.send_bytes,
            write_str=tab.send_str,
            close=tab.close,  # type: ignore[arg-type] # what it returns nobody asks for
            download_manager=DownloadManager(),
        )
        self._environment = environment

    def _build_environment(self, width: int = 80, height: int = 24) -> dict[str, str]:
        return {
            **super()._build_environment(min(width, MOST_CELLS), min(height, MOST_CELLS)),
            "TERM": "xterm-256color",
            "TEXTUAL_FPS": os.environ["TEXTUAL_FPS"],
            DRIVER_VARIABLE: DRIVER,
            **self._environment,
        }

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        command, environment = shlex.split(self.command), self._build_environment(width, height)
        # In a session of its own: Ctrl-C in the server's terminal is the server's.
        self._process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, start_new_session=True
        )
        self._stdin = self._process.stdin
        return self._process

    async def set_terminal_size(self, width: int, height: int) -> None:
        """Tell the console the size of its terminal, in cells."""
        await super().set_terminal_size(min(width, MOST_CELLS), min(height, MOST_CELLS))

    async def on_data(self, payload: bytes) -> None:
        """Pass on what the console draws; nothing happens where the tab is gone."""
        with suppress(ConnectionResetError):
            await super().on_data(payload)

    async def run(self) -> None:
        """Pass on what the console draws until it ends, then why it failed; then close its tab."""
        stdout, stderr = self._process.stdout, self._process.stderr
        assert stdout is not None and stderr is not None  # noqa: S101, PT018 - pipes were asked for
        words = asyncio.create_task(stderr.read())
        try:
            with suppress(asyncio.IncompleteReadError):
                await stdout.readuntil(START)
                while True:
                    kind, length = HEAD.unpack(await stdout.readexactly(HEAD.size))
                    body = await stdout.readexactly(length)
                    if kind == b"D":
                        await self.on_data(body)
            if await self._process.wait() and (said := await words):
                await self.on_data(_as_last_words(said[-LAST_WORDS:]))
        finally:
            await self.remote_close()

    async def stop(self) -> None:
        """End the console: by the end of its input, and if that is not enough by killing it."""
        self.stdin.close()
        try:
            await asyncio.wait({self._task}, timeout=PATIENCE)
        finally:
            with suppress(ProcessLookupError):
                self._process.kill()
            self._task.cancel()


def _as_last_words(said: bytes) -> bytes:
    """Why a console failed, for its terminal: the plain screen, and lines that are only shown."""
    lines = "\r\n".join(safe(line) for line in said.decode("utf-8", "replace").splitlines())
    return f"\x1b[?1049l\x1b[2J\x1b[H\x1b[?25h{lines}\r\n".encode()
