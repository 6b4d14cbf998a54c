"""Random histories of consumers being removed: live consumers, two operators, lost replies, doubled calls.

Whatever happens, exactly those entries are pending that were delivered and not acknowledged.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from streamops.errors import StreamopsError, Unreachable
from streamops.model.entries import EntryId
from streamops.operations.console import Console
from streamops.operations.consumers_prune import run as consumer_prune
from streamops.operations.consumers_prune.intent import PruneConsumersIntent
from streamops.operations.consumers_rm import run as consumer_rm
from streamops.operations.consumers_rm.intent import RemoveConsumerIntent
from streamops.operations.undo.intent import UndoIntent
from tests.support.operations.doing import done, open_console
from tests.support.servers import RunningServer

STREAM, GROUP = "orders", "billing"
SHORTEST = timedelta(milliseconds=1)
NAMES = ("c1", "c2", "c3", "c4")
Written = Callable[..., Awaitable[Any]]


class History:
    """One random history.

    Attributes:
        pending: What has to be pending.
    """

    def __init__(self, server: RunningServer, consoles: tuple[Console, Console], seed: int) -> None:
        self.pending: set[bytes] = set()
        self.random = Random(seed)
        self._server = server
        self._consoles = consoles
        self._removals: list[str] = []

    async def run(self) -> None:
        """Let it happen, then let it come to rest."""
        self._server.flush()
        self._server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
        self.live(20)
        for _ in range(3):
            await asyncio.gather(*(self._operate(console) for console in self._consoles))
            self.live(3)

    def check(self) -> None:
        """What is pending is what has to be."""
        told = self._server.command("XPENDING", STREAM, GROUP, "-", "+", 10_000)
        assert {row[0] for row in told} == self.pending
        counted = [flat[3] for flat in self._server.command("XINFO", "CONSUMERS", STREAM, GROUP)]
        assert sum(counted) == len(self.pending)

    def live(self, steps: int) -> None:
        """What consumers do."""
        for _ in range(steps):
            self.random.choice((self._read, self._read, self._acknowledge, self._claim, self._look))()

    def wrap(self, write: Written) -> Written:
        """A write with life before and after it, sometimes sent twice, sometimes without a reply."""

        async def written(*args: object, **named: object) -> object:
            await asyncio.sleep(0)
            self.live(self.random.randrange(3))
            told = await write(*args, **named)
            if self.random.random() < 0.15:
                told = await write(*args, **named)
            if self.random.random() < 0.1:
                raise Unreachable("the reply was lost")
            self.live(self.random.randrange(2))
            return told

        return written

    async def _operate(self, console: Console) -> None:
        """What an operator does; a refusal is an answer too."""
        source, heir = self.random.sample(NAMES, 2)
        try:
            match self.random.randrange(6):
                case 0:
                    await done(console, PruneConsumersIntent(stream=STREAM, group=GROUP, idle=SHORTEST))
                case 1 if self._removals:
                    action = self.random.choice(self._removals)
                    await done(console, UndoIntent(audit_id=EntryId.parse(action)))
                case _:
                    intent = RemoveConsumerIntent(stream=STREAM, group=GROUP, consumer=source, to=heir)
                    self._removals.append((await done(console, intent)).audit_id)
        except StreamopsError:
            pass

    def _read(self) -> None:
        consumer, count = self.random.choice(NAMES), self.random.randrange(1, 4)
        for _ in range(count):
            self._server.command("XADD", STREAM, "*", "f", "v")
        words = ("GROUP", GROUP, consumer, "COUNT", count, "STREAMS", STREAM, ">")
        given = self._server.command("XREADGROUP", *words)
        self.pending |= {entry[0] for entry in given[0][1]}

    def _acknowledge(self) -> None:
        consumer = self.random.choice(NAMES)
        rows = self._server.command("XPENDING", STREAM, GROUP, "-", "+", 3, consumer)
        if rows:
            ids = [row[0] for row in rows]
            self._server.command("XACK", STREAM, GROUP, *ids)
            self.pending -= set(ids)

    def _claim(self) -> None:
        self._server.command("XAUTOCLAIM", STREAM, GROUP, self.random.choice(NAMES), 0, "0", "COUNT", 2)

    def _look(self) -> None:
        """A consumer that gets nothing."""
        self._server.command("XREADGROUP", "GROUP", GROUP, self.random.choice(NAMES), "STREAMS", STREAM, ">")


async def play(server: RunningServer, seeds: Sequence[int]) -> None:
    """Histories of two operators; the first that does not hold fails with its seed."""
    async with await open_console(server, "ann") as ann, await open_console(server, "bob") as bob:
        for seed in seeds:
            history = History(server, (ann, bob), seed)
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(consumer_rm, "BATCH", 2)
                for module, name in (
                    (consumer_rm, "hand_over"),
                    (consumer_rm, "remove_consumer"),
                    (consumer_prune, "prune_consumers"),
                ):
                    patched.setattr(module, name, history.wrap(getattr(module, name)))
                await history.run()
            try:
                history.check()
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from None
