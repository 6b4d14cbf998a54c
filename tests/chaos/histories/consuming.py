"""Random histories of workers that take, retry, bury and acknowledge, held against a ledger that knows the truth.

The ledger sees what each call was asked and never what it answered: it says beforehand what every answer must be,
where each entry is afterwards, and who has it. Calls are repeated at random, as after a lost reply; others delete,
trim, acknowledge and claim in between.
"""

import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import timedelta
from typing import Final, NamedTuple, TypeVar

from streamops.model.deliveries import AckRow, DeadLetterDraft, ScheduledRetry, Settled, Start
from streamops.wire.consuming.claiming import START, recover_own, take_idle
from streamops.wire.consuming.entries import acknowledge_checked
from streamops.wire.consuming.leases import leave, release, renew
from streamops.wire.consuming.settling import dead_letter_all, mark_starts, retry_all
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.wire.consuming.claiming import own_pending
from tests.support.wire.consuming.shop import GROUP, STREAM, Shop

ZERO: Final = timedelta()
STEPS: Final = 80
REPEATED: Final = 0.3
BUSY: Final = 0.7
NEVER: Final = b"1-1"

Answer = TypeVar("Answer")


class Holding(NamedTuple):
    """A pending row as it must be."""

    owner: str
    deliveries: int


class Side:
    """What must be in one of the two streams."""

    def __init__(self) -> None:
        self.entries: dict[bytes, bytes] = {}
        self.unread: list[bytes] = []
        self.pending: dict[bytes, Holding] = {}
        self.marks: dict[bytes, int] = {}

    def remove(self, one: bytes) -> None:
        """An entry is pending no more."""
        del self.pending[one]
        self.marks.pop(one, None)


class History:
    """One history."""

    def __init__(self, shop: Shop, seed: int) -> None:
        self.shop = shop
        self.chance = random.Random(seed)
        self.workers = {name: Subscription(STREAM, GROUP, name) for name in ("ann", "bob", "carl")}
        self.sides = {False: Side(), True: Side()}
        self.delayed: Counter[bytes] = Counter()
        self.moved: set[bytes] = set()
        self.letters: Counter[bytes] = Counter()
        self.done: Counter[bytes] = Counter()
        self.deleted: set[bytes] = set()
        self.added = 0

    async def run(self) -> None:
        """Live through it."""
        ways: Sequence[Callable[[], Awaitable[None]]] = (
            self.produce,
            self.produce,
            self.read,
            self.read,
            self.read,
            self.acknowledge,
            self.retry,
            self.retry,
            self.bury,
            self.mark,
            self.mark,
            self.take,
            self.take_idle,
            self.hold,
            self.promote_due,
            self.promote_due,
            self.meddle,
            self.meddle,
            self.leave,
        )
        for _ in range(STEPS):
            await self.chance.choice(ways)()
            await self.compare()
        self.balance()

    # What the workers do.

    async def produce(self) -> None:
        for _ in range(self.chance.randint(1, 3)):
            self.added += 1
            number = b"%d" % self.added
            one = self.shop.add(b"n", number)
            self.sides[False].entries[one] = number
            self.sides[False].unread.append(one)

    async def read(self) -> None:
        worker, retries, side = self.pick()
        count = self.chance.randint(1, 6)
        words = (
            "GROUP",
            GROUP,
            worker.consumer,
            "COUNT",
            count,
            "STREAMS",
            self.shop.key(retries=retries),
            ">",
        )
        self.shop.command("XREADGROUP", *words)
        for one in side.unread[:count]:
            side.pending[one] = Holding(worker.consumer, 1)
        del side.unread[:count]

    async def acknowledge(self) -> None:
        worker, retries, side = self.pick()
        ids = self.some(worker, side)
        mine = [one for one in dict.fromkeys(ids) if self.owns(worker, side, one)]

        async def call() -> tuple[int, tuple[bytes, ...]]:
            rows = [AckRow(one) for one in ids]
            done = await acknowledge_checked(self.shop.server, worker, retries=retries, rows=rows)
            return done.acknowledged, done.lost

        lost = tuple(one for one in ids if one not in mine)
        await self.ask(call, (len(mine), lost), (0, tuple(ids)))
        for one in lost:
            # What nobody has pending keeps no marks.
            if one not in side.pending:
                side.marks.pop(one, None)
        for one in mine:
            if one in side.entries:
                self.done[side.entries[one]] += 1
            if retries:
                side.entries.pop(one, None)
            side.remove(one)

    async def retry(self) -> None:
        worker, retries, side = self.pick()
        ids = list(dict.fromkeys(self.some(worker, side)))
        rows = [ScheduledRetry(one, 0, 2) for one in ids]

        async def call() -> list[Settled]:
            return await retry_all(self.shop.server, worker, retries=retries, rows=rows)

        first, again = [], []
        for one in ids:
            key = (b"retry:" if retries else b"") + one
            if not self.owns(worker, side, one):
                word = Settled.DONE if key in self.moved else Settled.NOT_OURS
                again.append(word)
            elif one in side.entries:
                word = Settled.DONE
                again.append(word)
                self.moved.add(key)
                self.delayed[side.entries[one]] += 1
                self.settle(side, one, retries=retries)
            else:
                word = Settled.GONE
                again.append(word)
            first.append(word)
        await self.ask(call, first, again)

    async def bury(self) -> None:
        worker, retries, side = self.pick()
        ids = list(dict.fromkeys(self.some(worker, side)))
        letters = [DeadLetterDraft(one, "rejected", "no", 1, 1) for one in ids]

        async def call() -> list[Settled]:
            return await dead_letter_all(self.shop.server, worker, retries=retries, rows=letters)

        first = []
        for one in ids:
            if not self.owns(worker, side, one):
                first.append(Settled.NOT_OURS)
                continue
            number = side.entries.get(one)
            first.append(Settled.DONE if number else Settled.GONE)
            self.letters[number or b""] += 1
            self.settle(side, one, retries=retries)
        await self.ask(call, first, [Settled.NOT_OURS for _ in ids])

    async def mark(self) -> None:
        worker, retries, side = self.pick()
        ids = list(dict.fromkeys(self.some(worker, side)))
        rows = [Start(one, side.marks.get(one, 0)) for one in ids]

        async def call() -> list[int | Settled]:
            day = timedelta(days=1)
            return await mark_starts(self.shop.server, worker, retries=retries, rows=rows, ttl=day)

        marks = [row.marks + 1 if self.owns(worker, side, row.id) else Settled.NOT_OURS for row in rows]
        side.marks |= {one: number for one, number in zip(ids, marks, strict=True) if isinstance(number, int)}
        await self.ask(call, marks, marks)

    async def take(self) -> None:
        """From one consumer; from ourselves what is not in hand."""
        worker, retries, side = self.pick()
        owner = self.chance.choice([*self.workers, "zed"])
        theirs = [one for one in side.pending if side.pending[one].owner == owner]
        in_flight = self.chance.sample(theirs, len(theirs) // 2) if owner == worker.consumer else []
        after, limit, taken, gone = START, self.chance.randint(1, 4), list[bytes](), list[bytes]()
        marks = {one: side.marks.get(one, 0) for one in theirs}
        while after:
            if owner == worker.consumer:
                recovered = await recover_own(
                    self.shop.server, worker, retries=retries, in_flight=in_flight, limit=limit, after=after
                )
            else:
                recovered = await take_idle(
                    self.shop.server,
                    worker,
                    retries=retries,
                    owner=owner,
                    min_idle=ZERO,
                    limit=limit,
                    after=after,
                )
            assert len(recovered.entries) <= limit
            after = recovered.next
            taken += [one.id for one in recovered.entries]
            gone += [one for one, _ in recovered.gone]
            for one in recovered.entries:
                assert one.fields[:2] == [b"n", side.entries[one.id]]
                assert one.marks == marks[one.id]
                assert one.deliveries == side.pending[one.id].deliveries + 1
        wanted = [one for one in theirs if one not in in_flight]
        self.took(worker, side, wanted, taken, gone)

    async def take_idle(self) -> None:
        worker, retries, side = self.pick()
        cursor, limit, taken, gone = START, self.chance.randint(1, 9), list[bytes](), list[bytes]()
        while cursor:
            recovered = await take_idle(
                self.shop.server, worker, retries=retries, min_idle=ZERO, limit=limit, after=cursor
            )
            cursor = recovered.next
            taken += [one.id for one in recovered.entries]
            gone += [one for one, _ in recovered.gone]
        wanted = [one for one in side.pending if side.pending[one].owner != worker.consumer]
        self.took(worker, side, wanted, taken, gone)

    async def hold(self) -> None:
        """Renew leases, or give entries back."""
        worker, retries, side = self.pick()
        ids = list(dict.fromkeys(self.some(worker, side)))
        holding = self.chance.choice([renew, release])

        async def call() -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
            renewed = await holding(self.shop.server, worker, retries=retries, ids=ids)
            return renewed.lost, renewed.gone

        lost = tuple(one for one in ids if not self.owns(worker, side, one))
        mine = [one for one in ids if one not in lost]
        gone = tuple(one for one in mine if one not in side.entries)
        await self.ask(call, (lost, gone), (lost, gone))

    async def leave(self) -> None:
        name, worker = self.chance.choice([*self.workers.items()])
        busy = any(row.owner == name for side in self.sides.values() for row in side.pending.values())
        assert await leave(self.shop.server, worker) is not busy

    # What others do.

    async def promote_due(self) -> None:
        """Everything comes due."""
        side, shop = self.sides[True], self.shop
        for key, body in shop.delayed.items():
            parts = [part for pair in body.entry_fields for part in pair]
            one = shop.command("XADD", body.destination, "*", *parts)
            shop.command("ZREM", shop.ann.delayed, key)
            shop.command("HDEL", shop.ann.bodies, key)
            side.entries[one] = body.fields[0][1]
            side.unread.append(one)
            self.delayed[body.fields[0][1]] -= 1
            self.moved.discard(key.removeprefix(b"g:"))
        assert not +self.delayed

    async def meddle(self) -> None:
        _, retries, side = self.pick()
        key = self.shop.key(retries=retries)
        pending = [one for one in side.entries if one in side.pending]
        known = pending if pending and self.chance.random() < BUSY else [*side.entries, NEVER]
        some = self.chance.sample(known, min(len(known), self.chance.randint(1, 3)))
        match self.chance.choice(["XDEL", "XTRIM", "XACK", "XCLAIM"]):
            case "XDEL":
                self.shop.command("XDEL", key, *some)
                self.vanish(side, some)
            case "XTRIM":
                floor = self.chance.choice(known)
                self.shop.command("XTRIM", key, "MINID", floor)
                first = [*side.entries].index(floor) if floor in side.entries else 0
                self.vanish(side, [*side.entries][:first])
            case "XACK":
                self.shop.command("XACK", key, GROUP, *some)
                for one in some:
                    if side.pending.pop(one, None):
                        self.done[side.entries[one]] += 1
            case _:
                self.shop.command("XCLAIM", key, GROUP, "zed", 0, *some)
                for one in some:
                    if one in side.pending:
                        side.pending[one] = Holding("zed", side.pending[one].deliveries + 1)

    # The ledger.

    def pick(self) -> tuple[Subscription, bool, Side]:
        """A worker and a stream; mostly such that it has something pending there."""
        busy = [
            (self.workers[row.owner], retries, side)
            for retries, side in self.sides.items()
            for row in side.pending.values()
            if row.owner in self.workers
        ]
        if busy and self.chance.random() < BUSY:
            return self.chance.choice(busy)
        retries = self.chance.random() < 0.5
        return self.chance.choice([*self.workers.values()]), retries, self.sides[retries]

    def some(self, worker: Subscription, side: Side) -> list[bytes]:
        """IDs that a worker may believe to be its own: mostly they are."""
        mine = [one for one in side.pending if self.owns(worker, side, one)]
        others = [*side.pending, *side.entries, NEVER]
        ids = self.chance.sample(mine, min(len(mine), self.chance.randint(0, 3)))
        return [*ids, *self.chance.sample(others, self.chance.randint(0 if ids else 1, 1))]

    def owns(self, worker: Subscription, side: Side, one: bytes) -> bool:
        return one in side.pending and side.pending[one].owner == worker.consumer

    def settle(self, side: Side, one: bytes, *, retries: bool) -> None:
        side.remove(one)
        if retries:
            side.entries.pop(one, None)

    def vanish(self, side: Side, ids: Sequence[bytes]) -> None:
        for one in ids:
            number = side.entries.pop(one, None)
            if number and (one in side.pending or one in side.unread):
                self.deleted.add(number)
            if one in side.unread:
                side.unread.remove(one)

    def took(
        self, worker: Subscription, side: Side, wanted: list[bytes], taken: list[bytes], gone: list[bytes]
    ) -> None:
        in_order = [one for one in side.pending if one in wanted]
        assert taken == sorted((one for one in in_order if one in side.entries), key=_order)
        assert gone == sorted((one for one in in_order if one not in side.entries), key=_order)
        for one in taken:
            side.pending[one] = Holding(worker.consumer, side.pending[one].deliveries + 1)
        for one in gone:
            side.remove(one)

    async def ask(self, call: Callable[[], Awaitable[Answer]], first: Answer, again: Answer) -> None:
        """Call once, or as after a lost reply once more."""
        assert await call() == first
        if self.chance.random() < REPEATED:
            assert await call() == again

    async def compare(self) -> None:
        """What is so on the server is what must be."""
        shop, marks = self.shop, dict[bytes, bytes]()
        for retries, side in self.sides.items():
            rows = shop.pending(retries=retries)
            found = {one: Holding(row.owner.decode(), row.deliveries) for one, row in rows.items()}
            assert found == side.pending
            entries = {one: fields[1] for one, fields in shop.entries(shop.key(retries=retries))}
            assert entries == side.entries
            prefix = b"retry:" if retries else b""
            marks |= {prefix + one: b"%d" % number for one, number in side.marks.items()}
        assert shop.marks == marks
        assert Counter(body.fields[0][1] for body in shop.delayed.values()) == +self.delayed
        found_letters = Counter(fields[1] if fields[0] == b"n" else b"" for fields in shop.letters)
        assert found_letters == self.letters
        ann = await own_pending(shop.server, self.workers["ann"], retries=False)
        assert sorted(ann) == sorted(
            one for one, row in self.sides[False].pending.items() if row.owner == "ann"
        )

    def balance(self) -> None:
        """Every entry is in exactly one place: none is lost, none is there twice."""
        places = Counter[bytes]()
        for side in self.sides.values():
            live = {*side.pending, *side.unread}
            places.update(number for one, number in side.entries.items() if one in live)
        places += self.delayed
        places += self.done
        places.update(self.deleted)
        places += Counter({number: times for number, times in self.letters.items() if number})
        assert places == Counter(b"%d" % number for number in range(1, self.added + 1))


def _order(one: bytes) -> tuple[int, int]:
    ms, seq = one.split(b"-")
    return int(ms), int(seq)


async def play(running: RunningServer, seeds: Iterable[int]) -> None:
    """Histories of workers, each on an empty server."""
    server = await Server.connect(running.options)
    try:
        for seed in seeds:
            running.flush()
            try:
                await History(Shop(running, server), seed).run()
            except AssertionError as error:
                error.add_note(f"in history {seed}")
                raise
    finally:
        await server.close()
