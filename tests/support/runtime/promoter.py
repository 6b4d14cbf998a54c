"""A running promoter of delayed messages."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import msgspec

from streamops.model.delayed import DelayedBody
from streamops.runtime.events import Event, Events, Promoted
from streamops.runtime.promoter import LONGEST_SLEEP, Promoter
from streamops.wire.delayed_writes import MessageToDelay, schedule_many
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server
from tests.support.servers import RunningServer

QUEUE, BODIES = "{orders}:delayed", "{orders}:delayed:jobs"
ORDER = DelayedBody("orders", ((b"f", b"v"),))
ODD = msgspec.msgpack.encode([1, "orders", "", 0, "", ["f"]])
RETRY = DelayedBody("{orders}:retry:g", ((b"f", b"v"),), "g", 2, "1-1")
NOW, SOON, HOUR = timedelta(), timedelta(milliseconds=30), timedelta(hours=1)


class Pumping:
    """A promoter that runs, and what it told."""

    def __init__(self, server: Server, streams: Iterable[str], longest_sleep: float) -> None:
        self.server = server
        self.events: list[Event] = []
        emitted = Events()
        emitted.on(Event, self.events.append)
        self.promoter = Promoter(server, streams, emitted, longest_sleep=longest_sleep)

    async def delay(self, ident: str, body: DelayedBody, delay: timedelta, stream: str = "orders") -> None:
        """Publish over the promoter's own server, without a word to the promoter."""
        assert None not in await schedule_many(self.server, stream, [MessageToDelay(ident, body, delay)])

    @property
    def moved(self) -> int:
        """How many messages it says it has moved."""
        return sum(event.messages for event in self.events if isinstance(event, Promoted))


@asynccontextmanager
async def promoting(
    options: ConnectionOptions, *streams: str, longest_sleep: float = LONGEST_SLEEP
) -> AsyncIterator[Pumping]:
    server = await Server.connect(options)
    one = Pumping(server, streams or ("orders",), longest_sleep)
    task = asyncio.create_task(one.promoter.run())
    try:
        yield one
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await server.close()


def listeners(server: RunningServer) -> int:
    count: int = server.command("PUBSUB", "NUMSUB", QUEUE)[1]
    return count
