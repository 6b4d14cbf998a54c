"""A ledger of one stream that knows what each of its groups still needs, while two operators trim it safely.

Producers, consumers and administrators do random things between any two batches of the operators; after each
batch, what is gone is held against the ledger.
"""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from streamops.errors import ApplyError, Forbidden, StalePlan
from streamops.model.acting import Actor, Confirmation, Environment, Outcome
from streamops.model.entries import MAX_PART, EntryId
from streamops.monitor.thresholds import Thresholds
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.operations.trim import run as trim
from streamops.operations.trim.intent import TrimIntent
from streamops.wire.batches import Answers, Listen, Request
from streamops.wire.node import Command
from streamops.wire.server import Server
from tests.support.servers import RunningServer

STREAM = "ledger"
GROUPS = ("g1", "g2", "g3")
CONSUMERS = ("c1", "c2")
NODE_ENTRIES = 7
"""What the servers of these histories are configured to, so that short streams have many nodes."""

FIRST_MS = (1, 95, 999_990, 1_700_000_000_000, 9_007_199_254_740_990, 2**63, MAX_PART - 5_000)
"""Where IDs begin: their numbers of digits change on the way, and doubles cannot hold the large ones."""

LARGE_SEQ = (0, 7, 99, 2**53, MAX_PART - 1)


class Ledger:
    """One stream, its groups, and what is still needed."""

    def __init__(self, running: RunningServer, random: Random) -> None:
        self.random = random
        self.lock = asyncio.Lock()
        self.ids: list[EntryId] = []
        self.positions: dict[str, EntryId] = {}
        self.pending: dict[str, set[EntryId]] = {}
        self.removed = 0
        self._running = running
        self._last = EntryId(random.choice(FIRST_MS), 0)
        running.flush()
        self.add(random.randint(40, 120))
        for group in GROUPS:
            self.create(group, random.choice(["0", "0", "$", "mid"]))

    # What happens besides.

    def live(self, steps: int) -> None:
        """Let random things happen."""
        doings = [self.add_some, *[self.read] * 6, *[self.ack] * 9, self.claim, self.autoclaim]
        rare = [self.delete, self.rewind, self.forget, self.recreate, self.add_capped]
        for _ in range(steps):
            self.random.choice(doings if self.random.random() < 0.9 else rare)()

    def add_some(self) -> None:
        self.add(self.random.randint(1, 15))

    def add(self, count: int, *cap: str | int) -> None:
        for _ in range(count):
            if self.random.random() < 0.5 and self._last.seq < MAX_PART:
                self._last = self._last.next()
            else:
                self._last = EntryId(self._last.ms + self.random.randint(1, 3), self.random.choice(LARGE_SEQ))
            self._do("XADD", STREAM, *cap, str(self._last), "f", "v")
            self.ids.append(self._last)

    def add_capped(self) -> None:
        """What a producer drops by its own cap is not the operators' doing."""
        cap = self.random.randint(0, len(self.ids) + 10)
        self.add(2, "MAXLEN", self.random.choice("~="), cap)
        self.ids = self.read_ids()

    def read(self) -> None:
        group = self._group()
        if group is None:
            return
        noack = ("NOACK",) if self.random.random() < 0.3 else ()
        words = ("COUNT", self.random.randint(1, 30), *noack, "STREAMS", STREAM, ">")
        reply = self._do("XREADGROUP", "GROUP", group, self.random.choice(CONSUMERS), *words)
        given = [EntryId.parse(entry[0]) for _, entries in reply or () for entry in entries]
        if given:
            self.positions[group] = given[-1]
            if not noack:
                self.pending[group] |= set(given)

    def ack(self) -> None:
        group = self._group()
        if group is None or not self.pending[group]:
            return
        rows = sorted(self.pending[group])
        # Mostly from the front, so that thresholds move on.
        done = rows[: self.random.randint(1, 40)]
        if self.random.random() < 0.3:
            done = self.random.sample(rows, self.random.randint(1, len(rows)))
        self._do("XACK", STREAM, group, *map(str, done))
        self.pending[group] -= set(done)

    def claim(self) -> None:
        group = self._group()
        if group and self.pending[group]:
            some = self.random.sample(sorted(self.pending[group]), 1)
            self._do("XCLAIM", STREAM, group, self.random.choice(CONSUMERS), 0, *map(str, some))

    def autoclaim(self) -> None:
        if group := self._group():
            self._do("XAUTOCLAIM", STREAM, group, self.random.choice(CONSUMERS), 0, "0", "COUNT", 5)

    def delete(self) -> None:
        if self.ids:
            one = self.random.choice([self.ids[0], self.ids[-1], self.random.choice(self.ids)])
            self._do("XDEL", STREAM, str(one))
            self.ids.remove(one)

    def rewind(self) -> None:
        if group := self._group():
            position = self._place(self.random.choice(["0", "$", "mid"]))
            self._do("XGROUP", "SETID", STREAM, group, str(position))
            self.positions[group] = position

    def forget(self) -> None:
        """A consumer is deleted, and with it what was pending for it."""
        if group := self._group():
            consumer = self.random.choice(CONSUMERS)
            rows = self._do("XPENDING", STREAM, group, "-", "+", 100_000, consumer)
            self._do("XGROUP", "DELCONSUMER", STREAM, group, consumer)
            self.pending[group] -= {EntryId.parse(row[0]) for row in rows}

    def recreate(self) -> None:
        group = self.random.choice(GROUPS)
        if group in self.positions:
            self._do("XGROUP", "DESTROY", STREAM, group)
            del self.positions[group], self.pending[group]
        if self.random.random() < 0.7:
            self.create(group, self.random.choice(["0", "$", "mid"]))

    def create(self, group: str, where: str) -> None:
        position = self._place(where)
        self._do("XGROUP", "CREATE", STREAM, group, str(position))
        self.positions[group], self.pending[group] = position, set()

    def finish(self) -> None:
        """Every group reads and acknowledges everything."""
        for group in GROUPS:
            if group not in self.positions:
                self.create(group, "0")
            self._do("XREADGROUP", "GROUP", group, "c1", "COUNT", 100_000, "STREAMS", STREAM, ">")
            rows = self._do("XPENDING", STREAM, group, "-", "+", 100_000)
            if rows:
                self._do("XACK", STREAM, group, *(row[0] for row in rows))
            self.positions[group] = max(self.positions[group], *self.ids) if self.ids else self._last
            self.pending[group] = set()

    # What must be so.

    def check(self, intent: TrimIntent | None) -> None:
        """Hold what is gone since the last look against the ledger."""
        left = self.read_ids()
        gone = self.ids[: len(self.ids) - len(left)]
        assert self.ids[len(gone) :] == left, "something else than the oldest entries is gone"
        if not gone:
            return
        assert intent is not None, "entries are gone and nobody trims"
        for group, position in self.positions.items():
            unread = [one for one in gone if one > position]
            assert not unread, f"{group} at {position} has yet to read {unread}"
            pending = self.pending[group].intersection(gone)
            assert not pending, f"{group} has yet to acknowledge {pending}"
            assert position not in gone, f"the entry at the position of {group} is gone"
        if intent.maxlen is not None:
            assert len(left) >= intent.maxlen, f"{len(left)} left of {intent.maxlen} to keep"
        if intent.minid is not None:
            assert gone[-1] < intent.minid, f"{gone[-1]} is not below {intent.minid}"
        self.ids = left
        self.removed += len(gone)

    def wanted(self, intent: TrimIntent) -> int:
        """How many entries are asked for and free to go."""
        asked = [entry for entry in self.ids if intent.minid is None or entry < intent.minid]
        surplus = len(self.ids) if intent.maxlen is None else max(0, len(self.ids) - intent.maxlen)
        return min(len(asked), surplus, len(self.free()))

    def check_all(self, intent: TrimIntent, wanted: int) -> int:
        """The same, and that all that was wanted is gone, as far as whole nodes go; how much went."""
        before = len(self.ids)
        self.check(intent)
        removed = before - len(self.ids)
        assert removed <= wanted
        assert removed > wanted - NODE_ENTRIES, f"{removed} of {wanted} went"
        assert removed == wanted or not intent.exact, f"{removed} of {wanted} went exactly"
        return removed

    def free(self) -> list[EntryId]:
        """Entries that no group needs, up to the first one that some group does; positions are needed."""
        needs = [min(position, *self.pending[group], position) for group, position in self.positions.items()]
        return [one for one in self.ids if one < min(needs)]

    def read_ids(self) -> list[EntryId]:
        return [EntryId.parse(entry[0]) for entry in self._do("XRANGE", STREAM, "-", "+")]

    def bound(self) -> TrimIntent:
        """A random thing to ask for."""
        exact = self.random.random() < 0.5
        if self.random.random() < 0.6:
            keep = self.random.choice([0, self.random.randint(0, len(self.ids) + 5)])
            return TrimIntent(stream=STREAM, maxlen=keep, exact=exact)
        at = self.random.choice([self._place("mid"), self._last, EntryId(MAX_PART, MAX_PART)])
        return TrimIntent(stream=STREAM, minid=at, exact=exact)

    def _place(self, where: str) -> EntryId:
        if where == "0" or not self.ids:
            return EntryId(0, 0)
        return self._last if where == "$" else self.random.choice(self.ids)

    def _group(self) -> str | None:
        return self.random.choice(sorted(self.positions)) if self.positions else None

    def _do(self, *words: str | bytes | int) -> Any:  # noqa: ANN401 - a raw reply
        return self._running.command(*words)


class WatchedServer(Server):
    """A server where other things happen before each batch, and what each batch did is checked.

    Attributes:
        ledger: The ledger; none while connecting.
        intent: What is being asked for.
    """

    ledger: Ledger | None = None
    intent: TrimIntent | None = None

    async def batch(
        self,
        requests: Sequence[Request],
        prelude: Sequence[Command] = (),
        listen: Listen | None = None,
    ) -> Answers:
        if self.ledger is None:
            return await super().batch(requests, prelude, listen)
        async with self.ledger.lock:
            self.ledger.live(self.ledger.random.randint(0, 2))
            self.ledger.check(None)
            answers = await super().batch(requests, prelude, listen)
            self.ledger.check(self.intent)
        return answers


class Operator:
    """Somebody who trims."""

    def __init__(self, server: WatchedServer, ledger: Ledger) -> None:
        self._server = server
        self._ledger = ledger
        actor = Actor(environment=Environment.DEVELOPMENT)
        self._console = Console(server, Watch(), Thresholds(), actor)

    async def trim(self, intent: TrimIntent, *, alone: bool = False) -> Outcome | None:
        """Plan and apply; none where there is no group to vouch for anything."""
        self._server.intent = intent
        self._server.ledger = None if alone else self._ledger
        try:
            prepared = await self._console.prepare(intent)
            return await self._console.apply(prepared, Confirmation(yes=True))
        except (Forbidden, StalePlan):
            return None
        except ApplyError as error:
            if isinstance(error.__cause__, StalePlan):
                # The last group went between two slices.
                return None
            raise
        finally:
            self._server.ledger = None


async def play_one(running: RunningServer, seed: int, rounds: int = 4) -> int:
    """One history; how many entries the operators removed in it."""
    ledger = Ledger(running, Random(seed))
    servers = [WatchedServer(running.options) for _ in range(2)]
    one, other = (Operator(server, ledger) for server in servers)
    try:
        for _ in range(rounds):
            ledger.live(12)
            await asyncio.gather(one.trim(ledger.bound()), other.trim(ledger.bound()))
        ledger.finish()
        intent = ledger.bound()
        wanted = ledger.wanted(intent)
        outcome = await one.trim(intent, alone=True)
        assert outcome is not None
        assert ledger.check_all(intent, wanted) == outcome.applied
    finally:
        for server in servers:
            await server.close()
    return ledger.removed


async def play(running: RunningServer, seeds: Sequence[int]) -> None:
    """Histories on a server of short nodes, in slices so small that others come between."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(trim, "SMALLEST", NODE_ENTRIES + 1)
        patched.setattr(trim, "FIRST", 12)
        patched.setattr(trim, "LARGEST", 24)
        removed = sum([await play_one(running, seed) for seed in seeds])
    assert removed > len(seeds), "the histories trimmed next to nothing"
