"""The processes of a soak: started, killed, stopped, and followed by others."""

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Self

import msgspec

from streamops.service.processes import module_command, module_environment
from tests.benchmarks.soak.worker import UNREACHABLE, Note, Post, read_notes
from tests.chaos.proxy import Proxy
from tests.support.servers import RunningServer

ENDS_WITHIN = 60.0
ENDS = frozenset({0, -signal.SIGTERM, UNREACHABLE})
"""How those end that may: drained, told to before they listened, come while the server was away."""


class Hand(msgspec.Struct, frozen=True):
    """One worker process, and the network between it and the server.

    Attributes:
        process: The process.
        proxy: Its network.
        notes: What it tells of itself.
    """

    process: subprocess.Popen[bytes]
    proxy: Proxy
    notes: Path

    @property
    def lives(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None


class PoolRegistry:
    """The workers of a soak; use as ``async with``.

    Attributes:
        steady: The one that is never killed, whose figures are compared with the books in the end.
        others: Those that are.
        killed: How many were.
        bad_ends: Exit codes of those that ended otherwise than they were told to.
    """

    steady: Hand

    def __init__(self, server: RunningServer, directory: Path, pace: float) -> None:
        self.others: list[Hand] = []
        self.killed = 0
        self.bad_ends: list[int] = []
        self.book = directory / "book"
        self._server = server
        self._directory = directory
        self._pace = pace
        self._stack = AsyncExitStack()
        self._hired = 0

    async def __aenter__(self) -> Self:
        self.steady = await self._hire()
        self.others = [await self._hire(), await self._hire()]
        return self

    async def __aexit__(self, *_: object) -> None:
        for hand in (self.steady, *self.others):
            hand.process.kill()
            await asyncio.to_thread(hand.process.wait)
        await self._stack.aclose()

    @property
    def all(self) -> list[Hand]:
        """Everybody at work."""
        return [self.steady, *self.others]

    async def kill(self, hand: Hand) -> None:
        """End one with a signal that it cannot hear, and have another one come."""
        self.killed += 1
        hand.process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(hand.process.wait)
        await self._replace(hand)

    async def drain(self, hand: Hand) -> None:
        """Have one end what it has begun and leave, once another one has come."""
        await self._replace(hand)
        await self._end(hand)

    async def leave(self) -> list[Note]:
        """Have everybody leave; the notes of the one that lived through everything."""
        await asyncio.gather(*(self._end(hand) for hand in self.all))
        return read_notes(self.steady.notes)

    async def mourn(self) -> None:
        """Have others come for those that ended by themselves."""
        for hand in [one for one in self.others if not one.lives]:
            self._note_end(hand)
            await self._replace(hand)

    async def _end(self, hand: Hand) -> None:
        hand.proxy.resume()
        hand.process.send_signal(signal.SIGCONT)
        hand.process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(hand.process.wait, ENDS_WITHIN)
        self._note_end(hand)

    def _note_end(self, hand: Hand) -> None:
        """The one that lives through everything ends as it is told to, and nothing else will do."""
        code: int = hand.process.returncode
        if code not in ENDS or (code and hand is self.steady):
            self.bad_ends.append(code)

    async def _replace(self, hand: Hand) -> None:
        self.others[self.others.index(hand)] = await self._hire()

    async def _hire(self) -> Hand:
        self._hired += 1
        proxy = Proxy(self._server.socket_path, self._directory / f"{self._hired}.sock")
        await self._stack.enter_async_context(proxy)
        notes = self._directory / f"{self._hired}.notes"
        post = Post(str(proxy.path), str(self.book), str(notes), self._pace)
        return Hand(start("tests.benchmarks.soak.worker", post), proxy, notes)


def start(module: str, post: msgspec.Struct) -> subprocess.Popen[bytes]:
    """Start a process of the soak."""
    return subprocess.Popen(
        module_command(module, msgspec.json.encode(post).decode()),
        env=module_environment(),
        stdin=subprocess.DEVNULL,
    )


@asynccontextmanager
async def at_work(module: str, post: msgspec.Struct) -> AsyncIterator[subprocess.Popen[bytes]]:
    """A process that is told to end, and ends, on the way out."""
    process = start(module, post)
    try:
        yield process
        process.terminate()
        code = await asyncio.to_thread(process.wait, ENDS_WITHIN)
        assert code == 0, f"{module} ended with {code}"
    finally:
        process.kill()
        await asyncio.to_thread(process.wait)
