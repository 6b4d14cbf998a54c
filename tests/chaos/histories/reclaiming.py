"""Random histories of a reclaimed group: each entry ends in exactly one way, and is never delivered too often."""

import asyncio
import inspect
import random
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta

from streamops.model.acting import Confirmation
from streamops.operations.console import Console
from streamops.operations.streams_reclaim.intent import ReclaimIntent, Redelivery
from tests.support.servers import RunningServer
from tests.support.streams import fields_of

STREAM, GROUP, LETTERS = "orders", "billing", "{orders}:dlq"
STEPS = 30
MOST = 3


class History:
    """One group, its workers, and what became of each number."""

    def __init__(self, server: RunningServer, console: Console, seed: int) -> None:
        self.random = random.Random(seed)
        self.produced = 0
        self.handled = Counter[int]()
        self.delivered = Counter[int]()
        self.deleted: set[str] = set()
        self._server = server
        self._console = console
        self._numbers: dict[str, int] = {}
        server.flush()
        server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")

    async def run(self) -> None:
        """Some steps, then nothing fails any more."""
        steps = (self.add, self.read, self.acknowledge, self.delete, self.age, self.reclaim, self.reclaim)
        for _ in range(STEPS):
            if inspect.isawaitable(done := self.random.choice(steps)()):
                await done
        await asyncio.sleep(0.002)
        for _ in range(MOST + 1):
            self.age(everything=True)
            await self.reclaim()
            while self.read():
                self.acknowledge(everything=True)

    def add(self) -> None:
        self._server.command("XADD", STREAM, "*", "n", self.produced)
        self.produced += 1

    def read(self) -> bool:
        """Deliver a few; whether there were any."""
        worker = self.random.choice("vw")
        reply = self._server.command("XREADGROUP", "GROUP", GROUP, worker, "COUNT", 3, "STREAMS", STREAM, ">")
        for ident, parts in reply[0][1] if reply else ():
            number = int(parts[1])
            self._numbers[ident.decode()] = number
            self.delivered[number] += 1
        return bool(reply)

    def acknowledge(self, *, everything: bool = False) -> None:
        for row in self._some(everything=everything):
            if row not in self.deleted and self._server.command("XACK", STREAM, GROUP, row):
                self.handled[self._numbers[row]] += 1

    def delete(self) -> None:
        for row in self._some()[:1]:
            self._server.command("XDEL", STREAM, row)
            self.deleted.add(row)

    def age(self, *, everything: bool = False) -> None:
        """Make some idle; from Redis 7.0 on the rows of deleted entries would go."""
        for row in self._some(everything=everything):
            if row not in self.deleted:
                self._server.command("XCLAIM", STREAM, GROUP, "w", 0, row, "IDLE", 60_000, "JUSTID")

    async def reclaim(self) -> None:
        way = self.random.choice([Redelivery.AUTO, Redelivery.CLAIM]) if self.random.random() < 0.3 else None
        # Deleted entries cannot be made older than they are.
        least = timedelta(milliseconds=1) if self.deleted else timedelta(seconds=10)
        intent = ReclaimIntent(
            stream=STREAM,
            group=GROUP,
            min_idle=least,
            max_deliveries=MOST,
            redeliver=way or Redelivery.AUTO,
        )
        await self._console.apply(await self._console.prepare(intent), Confirmation(yes=True))

    def _some(self, *, everything: bool = False) -> list[str]:
        rows = [row[0].decode() for row in self._server.command("XPENDING", STREAM, GROUP, "-", "+", 1_000)]
        return rows if everything else self.random.sample(rows, min(len(rows), 3))


async def play(server: RunningServer, seeds: Iterable[int]) -> None:
    """Histories; each entry is handled once or a dead letter, and never delivered too often."""
    async with await Console.open(server.options) as console:
        for seed in seeds:
            history = History(server, console, seed)
            await history.run()
            ends = Counter(history.handled)
            for letter in fields_of(server, LETTERS):
                ends[history._numbers[letter[b"_so_origin_id"].decode()]] += 1
            assert ends == Counter(range(history.produced)), seed
            assert all(times <= MOST for times in history.delivered.values()), seed
