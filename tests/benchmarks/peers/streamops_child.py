"""streamops, with everything on: a typed body, a middleware, metrics, a timeout, batched acknowledgements."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from streamops.runtime import Entry, Exponential, Streamops
from streamops.runtime.handlers import Call
from tests.benchmarks.peers import side

app = Streamops(side.URL)


class Order(msgspec.Struct):
    """A body of 64 bytes."""

    number: str
    pad: str


OPTIONS: dict[str, Any] = {
    "group": side.GROUP,
    "start": "0",
    "retry": Exponential(),
    "max_attempts": 5,
    "timeout": 300,
}


@app.middleware
async def around(entry: Entry, call: Call) -> None:
    """A middleware that does nothing but stand in the way."""
    await call(entry)


if side.BATCH:

    @app.handler(side.STREAM, **OPTIONS, batch=side.BATCH, concurrency=4)
    async def handle_many(orders: list[Order]) -> None:
        """A batch."""
        await side.act(orders[0].pad)

else:

    @app.handler(side.STREAM, **OPTIONS, concurrency=side.SLOTS, key="number" if side.GUARD else None)
    async def handle(order: Order) -> None:
        """One entry."""
        await side.act(side.body_of(int(order.number)) if side.EXPECT else order.pad)


def work() -> None:
    """Until it is told to stop."""
    app.run()


@asynccontextmanager
async def sending() -> AsyncIterator[side.Send]:
    """Publish."""
    async with app.publisher() as publisher:
        yield lambda body: publisher.publish(side.STREAM, msgspec.json.decode(body, type=Order))


side.main(work, sending)
