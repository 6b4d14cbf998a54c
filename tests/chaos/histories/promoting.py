"""Random histories of a queue: promoters, publishers, an operator with stale readings, writers of another kind, doubled calls.

Every message ends in exactly one place: as one entry where it was to go, whole among the dead letters, in the
queue, or cancelled. Members of another program stay as they are. ``STREAMOPS_HISTORIES`` says how many histories are played on each version.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Iterable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

import msgspec

from streamops.model.delayed import DelayedBody, DelayedMessage
from streamops.wire.consuming.promoting import NOTHING_PASSED, promote_due
from streamops.wire.delayed import encode_body, read_messages
from streamops.wire.delayed_writes import (
    MessageToDelay,
    cancel,
    delayed_cancel,
    delayed_get,
    move_now,
    schedule_many,
)
from streamops.wire.server import Server
from tests.support.servers import RunningServer

STEPS = 40

QUEUE, BODIES, LETTERS = "{orders}:delayed", "{orders}:delayed:jobs", "{orders}:dlq"
DESTINATIONS = ("orders", "{orders}:retry:a", "{orders}:retry:b")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


class History:
    """One history; every message carries a token of its own."""

    def __init__(self, running: RunningServer, server: Server, seed: int) -> None:
        self.running = running
        self.server = server
        self.random = random.Random(seed)
        self.tokens: list[bytes] = []
        self.cancelled: list[bytes] = []
        self.seen: list[DelayedMessage] = []
        self.halves: list[tuple[str, bytes]] = []
        self.declared: tuple[str, ...] = ()
        self.passed = NOTHING_PASSED
        self.foreign: dict[str, bytes] = {}
        self.ids = [f"m{number}" for number in range(8)]

    async def play(self) -> None:
        """Take random steps, then move what is left and see where everything is."""
        steps = (
            *(self.publish,) * 3,
            *(self.promote_due,) * 3,
            *(self.look, self.run, self.cancel, self.cancel_by_id),
            *(self.begin_half, self.end_half, self.break_one, self.add_foreign),
        )
        for _ in range(STEPS):
            await self.random.choice(steps)()
            self.check()

    def body(self) -> DelayedBody:
        """A new message."""
        token = b"<%d>" % len(self.tokens)
        self.tokens.append(token)
        destination = self.random.choice(DESTINATIONS)
        group = destination.rpartition(":retry:")[2] if ":retry:" in destination else ""
        return DelayedBody(
            destination, ((b"token", token),), group, 2 if group else 0, "1-1" if group else ""
        )

    async def publish(self) -> None:
        """Some messages, whose IDs may be taken; the call doubled now and then, as where a reply was lost."""
        dues = (LONG_AGO, timedelta(), HOUR)
        rows = [
            MessageToDelay(ident, self.body(), self.random.choice(dues))
            for ident in self.random.choices(self.ids, k=3)
        ]
        answers = await schedule_many(self.server, "orders", rows)
        for row, answer in zip(rows, answers, strict=True):
            if answer is None:
                self.tokens.remove(row.body.fields[0][1])
                self.tokens.append(b"taken")
        if self.random.random() < 0.3:
            assert set(await schedule_many(self.server, "orders", rows)) == {None}

    async def promote_due(self) -> None:
        """One of many promoters, which may know of fewer destinations than there are, or two of them at once."""
        limit = self.random.randint(1, 4)
        for _ in range(self.random.choice((1, 1, 2))):
            promotion = await asyncio.gather(
                *(
                    promote_due(self.server, "orders", self.declared, limit, passed=self.passed)
                    for _ in range(self.random.choice((1, 2)))
                )
            )
            for one in promotion:
                assert not one.refused
                self.passed = self.random.choice((NOTHING_PASSED, one.passed, one.passed))
                self.declared = self.random.choice((self.declared, one.unknown, DESTINATIONS))

    async def look(self) -> None:
        """An operator looks, and holds on to what it saw while others go on."""
        pages = read_messages(self.server, QUEUE, self.random.sample(self.ids, 4))
        self.seen = [one async for page in pages for one in page if one.exists]

    async def run(self) -> None:
        """The operator moves what it saw."""
        for destination in DESTINATIONS:
            batch = [one for one in self.seen if one.body and one.body.destination == destination]
            await move_now(self.server, QUEUE, destination, batch)

    async def cancel(self) -> None:
        """The operator cancels what it saw."""
        reasons = await cancel(self.server, QUEUE, self.seen)
        for message, reason in zip(self.seen, reasons, strict=True):
            if not reason:
                self.note(message)

    async def cancel_by_id(self) -> None:
        """Whoever published it drops it, whatever it is by now; twice is once."""
        ident = self.random.choice(self.ids)
        message = await delayed_get(self.server, "orders", ident)
        ours = message is not None and not message.foreign
        assert await delayed_cancel(self.server, "orders", ident) is ours
        assert await delayed_cancel(self.server, "orders", ident) is False
        if message is not None and ours:
            self.note(message)

    def note(self, message: DelayedMessage) -> None:
        """A message was cancelled; of a broken one its own bytes have the token."""
        raw = encode_body(message.body) if message.body else message.raw
        self.cancelled += [token for token in self.tokens if token in raw]

    async def begin_half(self) -> None:
        """A writer of another kind: first the time, later the body."""
        ident = f"half{len(self.tokens)}"
        self.running.command("ZADD", QUEUE, self.random.choice((1, 2)), ident)
        self.halves.append((ident, encode_body(self.body())))

    async def end_half(self) -> None:
        """The body of the oldest such message, while its time has not been given up."""
        if self.halves:
            ident, raw = self.halves.pop(0)
            if self.running.command("ZSCORE", QUEUE, ident) is None:
                self.tokens = [b"taken" if token in raw else token for token in self.tokens]
            else:
                self.running.command("HSET", BODIES, ident, raw)

    async def break_one(self) -> None:
        """A message that can never become an entry."""
        ((_, token),) = self.body().fields
        raw = msgspec.msgpack.encode([1, "orders", "", 0, "", [token]])
        ident = f"broken{len(self.tokens)}"
        self.running.command("HSET", BODIES, ident, raw)
        self.running.command("ZADD", QUEUE, 3, ident)

    async def add_foreign(self) -> None:
        """A member of another program, with a body of its own kind or none."""
        ident = f"foreign{len(self.foreign)}"
        body = self.random.choice((b"", b'{"job": 1}', b"\x96\x01"))
        self.foreign[ident] = body
        self.running.command("ZADD", QUEUE, self.random.choice((1, 2, 3)) + 0.25, ident)
        if body:
            self.running.command("HSET", BODIES, ident, body)
        self.ids.append(ident)

    def check(self) -> None:
        """Every token is in exactly one place."""
        places = Counter(self.cancelled)
        for key in DESTINATIONS:
            places.update(fields[1] for _, fields in self.running.command("XRANGE", key, "-", "+"))
        letters = [fields[5] for _, fields in self.running.command("XRANGE", LETTERS, "-", "+")]
        waiting = [raw for _, raw in self.halves]
        for raw in (*letters, *waiting, *self.running.command("HVALS", BODIES)):
            places.update(token for token in self.tokens if token in raw)
        assert places == Counter(token for token in self.tokens if token != b"taken")
        queued = set(self.running.command("ZRANGE", QUEUE, 0, -1))
        assert set(self.running.command("HKEYS", BODIES)) <= queued
        for ident, body in self.foreign.items():
            assert float(self.running.command("ZSCORE", QUEUE, ident)) % 1 == 0.25
            assert (self.running.command("HGET", BODIES, ident) or b"") == body


async def play(running: RunningServer, seeds: Iterable[int]) -> None:
    """Histories, each on an empty server."""
    server = await Server.connect(running.options)
    try:
        for seed in seeds:
            running.flush()
            await History(running, server, seed).play()
    finally:
        await server.close()


async def promote_at_once(server: RunningServer) -> None:
    """Pumps on connections of their own, and one who cancels: each message once, all of it, in order of time."""
    rows = [
        MessageToDelay(
            f"m{number}",
            DelayedBody("orders", ((b"n", b"%d" % number),)),
            LONG_AGO + timedelta(milliseconds=number),
        )
        for number in range(3_000)
    ]
    async with AsyncExitStack() as closing:
        servers = [await Server.connect(server.options) for _ in range(4)]
        for one in servers:
            closing.push_async_callback(one.close)
        assert None not in await schedule_many(servers[0], "orders", rows)

        async def pump_all(one: Server) -> int:
            moved = 0
            while True:
                promotion = await promote_due(one, "orders", limit=20)
                moved += promotion.moved
                if promotion.next_due_ms is None:
                    return moved

        async def cancel_some(one: Server) -> int:
            dropped = [await delayed_cancel(one, "orders", f"m{number}") for number in range(2_990, 0, -10)]
            return sum(map(bool, dropped))

        *moved, dropped = await asyncio.gather(*map(pump_all, servers[:3]), cancel_some(servers[3]))
    numbers = [int(fields[1]) for _, fields in server.command("XRANGE", "orders", "-", "+")]
    assert sum(moved) == len(numbers) == 3_000 - dropped
    assert numbers == sorted(set(numbers))
    assert server.command("EXISTS", QUEUE, BODIES) == 0
