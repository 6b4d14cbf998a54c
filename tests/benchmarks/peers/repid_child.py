"""repid."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from repid import Repid, Router
from repid.connections.redis.message_broker import RedisServer

from tests.benchmarks.peers import side

app = Repid()
server = RedisServer(
    side.URL,
    stream_name_strategy=lambda _: side.STREAM,
    consumer_group_strategy=lambda _: side.GROUP,
    batch_size=100,
)
app.servers.register_server("redis", server)
router = Router()


@router.actor(channel="orders")
async def handle(number: str, pad: str) -> None:
    """One message."""
    await side.act(side.body_of(int(number)) if side.EXPECT else pad)


app.include_router(router)


async def work() -> None:
    """Until it is told to stop."""
    async with server.connection():
        await app.run_worker(tasks_limit=side.SLOTS)


@asynccontextmanager
async def sending() -> AsyncIterator[side.Send]:
    """Send."""
    async with server.connection():
        yield lambda body: app.send_message(
            channel="orders",
            payload=body.encode(),
            headers={"topic": "handle"},
            content_type="application/json",
        )


side.main(work, sending)
