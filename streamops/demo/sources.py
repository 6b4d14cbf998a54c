"""The sample streams: what flows into each, and how fast."""

from datetime import timedelta

from msgspec import Struct

from streamops.demo.hostile import mail
from streamops.demo.payloads import Payload, audit_record, order, payment, stock_count


class Source(Struct, frozen=True):
    """One stream and what an application adds to it.

    Attributes:
        stream: The key.
        payload: Makes its entries.
        per_second: Entries added a second, on average.
        cap: About how many entries it keeps.
        history: How far back it reaches when the demo starts.
    """

    stream: str
    payload: Payload
    per_second: float
    cap: int
    history: timedelta

    @property
    def past_entries(self) -> int:
        """How many entries it holds when the demo starts."""
        return round(self.history.total_seconds() * self.per_second)


ORDERS = Source("orders:events", order, per_second=40, cap=10_000, history=timedelta(minutes=1))
PAYMENTS = Source("payments:events", payment, per_second=3, cap=20_000, history=timedelta(minutes=18))
AUDIT = Source("audit:events", audit_record, per_second=1, cap=5_000, history=timedelta(minutes=10))
INVENTORY = Source("inventory:counts", stock_count, per_second=0.2, cap=1_000, history=timedelta(minutes=10))
EMAILS = Source("emails:outgoing", mail, per_second=0.8, cap=2_000, history=timedelta(minutes=2))
SOURCES = (ORDERS, PAYMENTS, AUDIT, INVENTORY, EMAILS)
