"""An application that every version with a runtime can run: what an entry says in its field ``do`` is what its handler does."""

import asyncio

from streamops.runtime import Reject, Streamops

app = Streamops(name="shop")


@app.handler("orders", group="billing", start="0", concurrency=4, retry=[3600], lease=30, key="order")
async def bill(fields: dict[str, str]) -> None:
    """Handle an order, fail at it, reject it, or never come to its end."""
    match fields.get("do"):
        case "fail":
            raise ValueError("the bank is closed")
        case "reject":
            raise Reject("no such customer")
        case "hang":
            await asyncio.Event().wait()
