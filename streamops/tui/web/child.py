"""The console of one browser as a process of its own: how it is started and ended, and what goes over its pipes."""

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Annotated, Final, Self

from msgspec import Meta, MsgspecError, Struct, convert, json

from streamops.errors import StreamopsError
from streamops.tui.terminal import DRIVER, DRIVER_VARIABLE

LONGEST: Final = 1 << 26
LARGEST: Final = 1 << 20
"""Bytes of a message of the tab: what somebody pastes."""
START: Final = b"__GANGLION__\n"
"""What Textual writes before its first packet."""


class PacketKind(StrEnum):
    """What a packet is."""

    DATA = "D"
    META = "M"
    PACKED = "P"


class Size(Struct, frozen=True):
    """The size of a tab's terminal, in cells."""

    width: Annotated[int, Meta(ge=1, le=2_000)] = 80
    height: Annotated[int, Meta(ge=1, le=1_000)] = 24


class BrokenPacket(StreamopsError):
    """Something that the other side would never send."""


def packet(kind: PacketKind, body: bytes) -> bytes:
    """A packet for the console."""
    return b"%s%s%s" % (kind.encode(), len(body).to_bytes(4, "big"), body)


def read_head(head: bytes) -> tuple[str, int]:
    """Kind and length of a packet of the console's, from its first five bytes; raises ``BrokenPacket``."""
    length = int.from_bytes(head[1:5], "big")
    if length > LONGEST:
        raise BrokenPacket("the console wrote something that is no packet")
    return head[:1].decode("ascii", "replace"), length


def read_token(text: str) -> str:
    """The token that a tab begins with; raises ``BrokenPacket``."""
    try:
        kind, token = json.decode(text, type=tuple[str, str])
    except MsgspecError:
        raise BrokenPacket("no token") from None
    if kind != "token":
        raise BrokenPacket("no token")
    return token


def read_message(text: str) -> bytes:
    """What a message of a tab is as a packet for the console; nothing where it is not for it.

    Raises:
        BrokenPacket: It is none that the page sends.
    """
    try:
        kind, *rest = json.decode(text, type=list)
        match kind:
            case "stdin":
                return packet(PacketKind.DATA, convert(rest[0], str).encode())
            case "resize":
                size = convert(rest[0], Size)
                return packet(
                    PacketKind.META,
                    json.encode({"type": "resize", "width": size.width, "height": size.height}),
                )
            case "focus" | "blur":
                return packet(PacketKind.META, json.encode({"type": kind}))
            case "ping":
                return b""
    except (MsgspecError, IndexError, ValueError):
        pass
    raise BrokenPacket("no message of the page")


QUIT: Final = packet(PacketKind.META, b'{"type": "quit"}')
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
                if kind == PacketKind.DATA:
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
