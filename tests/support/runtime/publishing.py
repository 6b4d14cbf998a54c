"""Publishers, and what they wrote."""

from datetime import timedelta
from typing import TypedDict

import msgspec

from streamops.runtime.publisher import Schema

HOUR = timedelta(hours=1)


class Order(msgspec.Struct):
    order_id: str
    total: int = 0


class Stock(TypedDict):
    item: str
    left: int


ORDERS = Schema("orders:events", Order, name="order", maxlen=200)
STOCK = Schema("stock", Stock)
