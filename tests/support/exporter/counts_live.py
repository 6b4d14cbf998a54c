"""A stream and a group under random treatment, and the counters that watched them."""

import random
from collections import Counter
from collections.abc import Sequence

from streamops.model.entries import EntryId
from streamops.model.observation import GroupCounts
from streamops.operations.console import Console
from tests.support.servers import RunningServer

STEPS = 80


class World:
    """A stream and a group under random treatment, with a ledger of what was done.

    Args:
        server: Where.
        seed: What makes it random.
    """

    def __init__(self, server: RunningServer, seed: int) -> None:
        self._server = server
        self._random = random.Random(seed)
        self._held: list[bytes] = []
        self.done: Counter[str] = Counter()
        self._create("0")

    def _create(self, position: str) -> None:
        self._server.command("XGROUP", "CREATE", "orders", "billing", position, "MKSTREAM")
        self._held = []

        self.usual = [self._add] * 4 + [self._read] * 4 + [self._ack] * 3 + [self._trim]
        self.rough = {
            "set back": self._set_back,
            "set forward": self._set_forward,
            "destroy": self._destroy,
            "remake": self._remake,
            "forget": self._forget,
            "delete": self._delete,
        }

    def step(self, rough: Sequence[str]) -> None:
        """Do something: what workers and retention do, or also what operators do."""
        self._random.choice([*self.usual, *map(self.rough.__getitem__, rough)])()

    def _add(self) -> None:
        for _ in range(number := self._random.randint(1, 5)):
            self._server.command("XADD", "orders", "*", "n", "1")
        self.done["added"] += number

    def _read(self) -> None:
        words = ("COUNT", self._random.randint(1, 6), "STREAMS", "orders", ">")
        for _, entries in self._server.command("XREADGROUP", "GROUP", "billing", "w", *words) or ():
            self.done["delivered"] += len(entries)
            self._held = list(dict.fromkeys([*self._held, *(one for one, _ in entries)]))

    def _ack(self) -> None:
        self._random.shuffle(self._held)
        some, self._held = self._held[:3], self._held[3:]
        for one in some:
            self.done["acked"] += self._server.command("XACK", "orders", "billing", one)

    def _trim(self) -> None:
        left, position = self._random.randint(3, 12), self._position()
        entries = [one for one, _ in self._server.command("XRANGE", "orders", "-", "+")]
        gone = entries[: max(0, len(entries) - left)]
        self.done["lost"] += sum(EntryId.parse(one) > EntryId.parse(position) for one in gone)
        self._server.command("XTRIM", "orders", "MAXLEN", left)
        self.done["removed"] += len(gone)

    def _set_back(self) -> None:
        if self._position() > "0-0":
            self.done["rewinds"] += 1
        self._server.command("XGROUP", "SETID", "orders", "billing", "0")

    def _set_forward(self) -> None:
        self._server.command("XGROUP", "SETID", "orders", "billing", "$")

    def _destroy(self) -> None:
        self._server.command("XGROUP", "DESTROY", "orders", "billing")
        self._create(self._random.choice(["0", "$"]))

    def _forget(self) -> None:
        self.done["acked"] += self._server.command("XGROUP", "DELCONSUMER", "orders", "billing", "w")
        self._held = []

    def _delete(self) -> None:
        if entries := self._server.command("XRANGE", "orders", "-", "+"):
            self.done["removed"] += self._server.command("XDEL", "orders", self._random.choice(entries)[0])

    def _remake(self) -> None:
        self.done["removed"] += self._server.command("XLEN", "orders")
        self._server.command("DEL", "orders")
        self._create("0")

    def _position(self) -> str:
        (group,) = self._server.command("XINFO", "GROUPS", "orders")
        told = dict(zip(group[::2], group[1::2], strict=True))
        return str(told[b"last-delivered-id"].decode())


async def watch(server: RunningServer, world: World, *rough: str) -> tuple[GroupCounts, dict[str, int]]:
    highest = Counter[str]()
    async with await Console.open(server.options) as console:
        await console.discover()
        for number in range(STEPS):
            if number:
                world.step(rough)
            (view,) = (await console.observe(["orders"])).streams
            stream, group = view.counts, view.groups[0].counts
            now = {name: getattr(group, name) for name in ("delivered", "acked", "lost", "rewinds")}
            now |= {"added": stream.added, "removed": stream.removed}
            assert all(now[name] >= highest[name] for name in now), (number, now, highest)
            highest = Counter(now)
    return group, now
