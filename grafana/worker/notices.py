# ruff: noqa: INP001 - a directory of its own, mounted into a container, is where an application lives
"""The worker of the stack: it tells customers of the demo about their orders, through a mail server with moods."""

import asyncio
from datetime import timedelta

import msgspec

from streamops.runtime import Entry, Streamops

app = Streamops()

SENDING = timedelta(milliseconds=30)


class Order(msgspec.Struct):
    """What it needs to know of an order.

    Attributes:
        order_id: Its number.
        amount: What it comes to, as text.
    """

    order_id: str
    amount: str


@app.handler("orders:events", group="notices", concurrency=8, timeout=10, max_attempts=3)
async def notify(order: Order, entry: Entry) -> None:
    """Write to a customer; one in ten waits for a second try, and an amount that is none is given up."""
    cents = round(float(order.amount) * 100)
    await asyncio.sleep(SENDING.total_seconds())
    if entry.attempt == 1 and order.order_id.endswith("7"):
        raise ConnectionError(f"the mail server refused the notice of {cents} cents")
