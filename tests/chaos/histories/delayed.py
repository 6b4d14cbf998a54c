"""Random histories of a queue: two operators with stale readings and doubled calls, a promoter, producers, retries.

Every message ends in exactly one place: as one entry of its destination, in the queue, or cancelled and kept by
whoever cancelled it.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

from streamops.model.acting import Actor, Confirmation, Environment
from streamops.model.delayed import DelayedBody, DelayedMessage
from streamops.operations.console import Console
from streamops.operations.delayed.intent import CancelDelayedIntent, RunDelayedIntent
from streamops.wire.delayed import encode_body, read_messages
from streamops.wire.delayed_writes import cancel, move_now, schedule
from streamops.wire.server import Server
from tests.support.servers import RunningServer

STEPS = 40

QUEUE, BODIES = "{orders}:delayed", "{orders}:delayed:jobs"
DESTINATIONS = ("orders", "{orders}:retry:a", "{orders}:retry:b")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
DUE_NOW = 1_700_000_000_000
"""Milliseconds between what is long overdue and what is due in an hour."""
HOUR = timedelta(hours=1)

PROMOTER = """
local moved = 0
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])) do
  local body = redis.call('HGET', KEYS[2], id)
  if body then
    local message = cmsgpack.unpack(body)
    redis.call('XADD', message[2], '*', unpack(message[6]))
    redis.call('ZREM', KEYS[1], id)
    redis.call('HDEL', KEYS[2], id)
    moved = moved + 1
  end
end
return moved
"""


class History:
    """One history; every message carries a token of its own in its field ``token``."""

    def __init__(self, running: RunningServer, server: Server, seed: int) -> None:
        self.running = running
        self.server = server
        self.random = random.Random(seed)
        self.tokens: dict[bytes, str] = {}
        self.cancelled: list[bytes] = []
        self.held: list[Sequence[DelayedMessage]] = [(), ()]
        self.ids = [f"m{number}" for number in range(6)]

    async def play(self) -> None:
        """Take random steps, then see where everything is."""
        steps = (
            self.produce,
            self.produce,
            self.read,
            self.read,
            self.run,
            self.run,
            self.cancel,
            self.promote_due,
        )
        for _ in range(STEPS):
            await self.random.choice(steps)()
        self.check()

    async def produce(self) -> None:
        """Schedule a message; the ID of one that is gone may be used again, as a retry's is."""
        token = b"t%d" % len(self.tokens)
        ident = self.random.choice(self.ids)
        body = DelayedBody(self.random.choice(DESTINATIONS), ((b"token", token),))
        due = self.random.choice((LONG_AGO, HOUR))
        if isinstance(await schedule(self.server, "orders", ident, body, due), datetime):
            self.tokens[token] = ident

    async def read(self) -> None:
        """An operator looks, and holds on to what it saw while others go on."""
        ids = self.random.sample(self.ids, 4)
        self.held[self.random.randrange(2)] = [
            one async for page in read_messages(self.server, QUEUE, ids) for one in page
        ]

    async def run(self) -> None:
        """An operator moves what it saw, its call doubled now and then as where a reply was lost."""
        seen = self.random.choice(self.held)
        for destination in DESTINATIONS:
            batch = [one for one in seen if one.body and one.body.destination == destination]
            for _ in range(self.random.choice((1, 1, 2))):
                await move_now(self.server, QUEUE, destination, batch)

    async def cancel(self) -> None:
        """An operator cancels what it saw."""
        seen = [one for one in self.random.choice(self.held) if one.exists]
        for _ in range(self.random.choice((1, 1, 2))):
            reasons = await cancel(self.server, QUEUE, seen)
            for message, reason in zip(seen, reasons, strict=True):
                if not reason and message.body is not None:
                    self.cancelled.append(message.body.fields[0][1])

    async def promote_due(self) -> None:
        """The runtime moves what is due."""
        self.running.command(
            "EVAL",
            PROMOTER,
            2,
            QUEUE,
            BODIES,
            DUE_NOW,
            self.random.randint(1, 3),
        )

    def check(self) -> None:
        """Every token is in exactly one place, and no message is halved."""
        assert sorted(self.running.command("ZRANGE", QUEUE, 0, -1)) == sorted(
            self.running.command("HKEYS", BODIES)
        )
        places = Counter(self.cancelled)
        places.update(added_tokens(self.running))
        for raw in self.running.command("HVALS", BODIES):
            places.update(token for token in self.tokens if encoded_token(token) in raw)
        assert places == Counter(dict.fromkeys(self.tokens, 1))


def encoded_token(token: bytes) -> bytes:
    """A token as it stands in a body, its length before it."""
    return bytes([0xA0 + len(token)]) + token


def added_tokens(running: RunningServer) -> list[bytes]:
    """The tokens of all entries of all destinations."""
    return [fields[1] for key in DESTINATIONS for _, fields in running.command("XRANGE", key, "-", "+")]


async def play(running: RunningServer, seeds: Iterable[int]) -> None:
    """Histories, each on an empty server."""
    server = await Server.connect(running.options)
    try:
        for seed in seeds:
            running.flush()
            await History(running, server, seed).play()
    finally:
        await server.close()


async def operate_at_once(server: RunningServer) -> None:
    """Two consoles run the same plans while a third cancels and a promoter promotes: no message twice, none lost."""
    for number in range(900):
        body = DelayedBody(DESTINATIONS[number % 3], ((b"token", b"t%d" % number),))
        server.command("HSET", BODIES, f"m{number}", encode_body(body))
        server.command("ZADD", QUEUE, number, f"m{number}")
    actor = Actor("ada", "desk", 1, "test", Environment.DEVELOPMENT)
    async with AsyncExitStack() as open_ones:
        consoles = [
            await open_ones.enter_async_context(await Console.open(server.options, actor=actor))
            for _ in range(3)
        ]
        half = tuple(f"m{number}" for number in range(0, 900, 2))
        plans = [
            await consoles[0].prepare(RunDelayedIntent(stream="orders", every=True)),
            await consoles[1].prepare(RunDelayedIntent(stream="orders", ids=half)),
            await consoles[2].prepare(CancelDelayedIntent(stream="orders", ids=half[::-1])),
        ]
        promoting = asyncio.create_task(asyncio.to_thread(promote_some, server))
        first, second, cancelled = await asyncio.gather(
            *(
                console.apply(plan, Confirmation(yes=True, typed=plan.policy.word))
                for console, plan in zip(consoles, plans, strict=True)
            )
        )
        promotion = await promoting
    tokens = Counter(added_tokens(server))
    assert set(tokens.values()) == {1}
    assert len(tokens) == first.applied + second.applied + promotion
    assert len(tokens) + cancelled.applied == 900
    assert server.command("EXISTS", QUEUE, BODIES) == 0


def promote_some(server: RunningServer) -> int:
    """Move some in small bites, beside whatever else goes on."""
    return sum(server.command("EVAL", PROMOTER, 2, QUEUE, BODIES, 1_000, 3) for _ in range(30))
