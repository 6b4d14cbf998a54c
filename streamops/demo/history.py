"""What has happened before the demo starts, so that its first picture already tells the stories."""

from datetime import datetime, timedelta
from random import Random

from msgspec import Struct

from streamops.demo.client import DemoClient
from streamops.demo.dead_letters import DemoFailure, dead_letter, dead_letter_stream
from streamops.demo.payloads import UNREADABLE_AMOUNT, Fields, poisoned_order
from streamops.demo.sources import AUDIT, EMAILS, INVENTORY, ORDERS, PAYMENTS, Source
from streamops.model.entries import EPOCH, EntryId

_POISON_AGE = timedelta(seconds=20)
_POISON_DELIVERIES = 11
_SHIPPING_LAG = 350
_ANALYTICS_LAG = 400
_CRASH_AGE = timedelta(minutes=17)
_CRASHED_PENDING = 37


class _Refusal(Struct, frozen=True):
    """Why a group gave up an entry, how long ago, and after how many deliveries."""

    age: timedelta
    reason: str
    error: str
    deliveries: int


_REFUSED_PAYMENTS = (
    _Refusal(
        timedelta(minutes=184), "undecodable", "UnicodeDecodeError: invalid start byte in field 'body'", 1
    ),
    _Refusal(timedelta(minutes=161), "rejected", "PaymentRejected: unknown order", 1),
    _Refusal(timedelta(minutes=158), "rejected", "PaymentRejected: unknown order", 1),
    _Refusal(timedelta(minutes=112), "timeout", "TimeoutError: the ledger did not answer within 30 s", 5),
    _Refusal(timedelta(minutes=111), "timeout", "TimeoutError: the ledger did not answer within 30 s", 5),
    _Refusal(
        timedelta(minutes=47), "max-deliveries", "ConnectionError: the ledger closed the connection", 10
    ),
    _Refusal(
        timedelta(minutes=46), "max-deliveries", "ConnectionError: the ledger closed the connection", 10
    ),
)
_REFUSED_ORDERS = tuple(
    _Refusal(timedelta(minutes=minutes), "max-deliveries", UNREADABLE_AMOUNT, 20) for minutes in (41, 24, 9)
)


async def write_history(client: DemoClient, rng: Random) -> None:
    """Fill an empty server with the recent past of every stream and group.

    Raises:
        RedisError: The server cannot be reached, or does not take a write.
    """
    past = _Past(client, rng, await client.read_time())
    await past.write_orders()
    await past.write_payments()
    await past.write_audit()
    await past.write_quiet(INVENTORY, "warehouse", "warehouse-1")
    await past.write_quiet(EMAILS, "mailer", "mailer-1")


def past_entries(source: Source, rng: Random, now: datetime) -> list[tuple[EntryId, Fields]]:
    """The entries a stream had received up to now, oldest first, at about even distances."""
    count = source.past_entries
    step = source.history / count
    times = (now - step * (count - number - rng.random() * 0.9) for number in range(count))
    return [(_id_at(time), source.payload(rng, number)) for number, time in enumerate(times)]


class _Past:
    """The recent past as seen from ``now``, written stream by stream."""

    def __init__(self, client: DemoClient, rng: Random, now: datetime) -> None:
        self._client = client
        self._rng = rng
        self._now = now

    async def write_orders(self) -> None:
        client, stream = self._client, ORDERS.stream
        entries = past_entries(ORDERS, self._rng, self._now)
        total, poison = len(entries), len(entries) - round(_POISON_AGE.total_seconds() * ORDERS.per_second)
        entries[poison] = (entries[poison][0], poisoned_order(self._rng, poison))
        await client.add_past(stream, entries)
        for group in ("billing", "shipping", "analytics", "fraud"):
            await client.create_group(stream, group)
        await client.skim(stream, "billing", "billing-1", total // 2)
        await client.skim(stream, "billing", "billing-2", total - total // 2)
        await client.skim(stream, "shipping", "shipping-1", total - _SHIPPING_LAG)
        await client.skim(stream, "analytics", "analytics-batch", total - _ANALYTICS_LAG)
        await client.skim(stream, "fraud", "fraud-1", poison)
        await client.abandon(stream, "fraud", "fraud-1", 1, idle=timedelta(0), deliveries=_POISON_DELIVERIES)
        await client.skim(stream, "fraud", "fraud-1", total - poison - 1)
        await self._write_dead_letters(ORDERS, "fraud", _REFUSED_ORDERS)

    async def write_payments(self) -> None:
        client, stream = self._client, PAYMENTS.stream
        entries = past_entries(PAYMENTS, self._rng, self._now)
        crash = sum(entry_id < _id_at(self._now - _CRASH_AGE) for entry_id, _ in entries)
        await client.add_past(stream, entries[:crash])
        await client.create_group(stream, "ledger")
        await client.skim(stream, "ledger", "ledger-1", crash - _CRASHED_PENDING)
        await client.abandon(stream, "ledger", "ledger-2", _CRASHED_PENDING, idle=_CRASH_AGE, deliveries=1)
        # While the stream is still short, because it is edited whole.
        await client.backdate_consumer(stream, "ledger-2", _CRASH_AGE)
        await client.add_past(stream, entries[crash:])
        await client.skim(stream, "ledger", "ledger-1", len(entries) - crash)
        await self._write_dead_letters(PAYMENTS, "ledger", _REFUSED_PAYMENTS)

    async def write_audit(self) -> None:
        await self._client.add_past(AUDIT.stream, past_entries(AUDIT, self._rng, self._now))
        await self._client.create_group(AUDIT.stream, "archiver")

    async def write_quiet(self, source: Source, group: str, consumer: str) -> None:
        await self._client.add_past(source.stream, past_entries(source, self._rng, self._now))
        await self._client.create_group(source.stream, group)
        await self._client.skim(source.stream, group, consumer, source.past_entries)

    async def _write_dead_letters(self, source: Source, group: str, refusals: tuple[_Refusal, ...]) -> None:
        payload = poisoned_order if source is ORDERS else source.payload
        letters = []
        for number, refusal in enumerate(refusals):
            failed_at = self._now - refusal.age
            failure = DemoFailure(
                stream=source.stream,
                entry_id=_id_at(failed_at - timedelta(minutes=1)),
                group=group,
                consumer=f"{group}-1",
                reason=refusal.reason,
                error=refusal.error,
                deliveries=refusal.deliveries,
                failed_at=failed_at,
            )
            letters.append((_id_at(failed_at), dead_letter(payload(self._rng, number), failure)))
        await self._client.add_past(dead_letter_stream(source.stream), letters)


def _id_at(time: datetime) -> EntryId:
    return EntryId((time - EPOCH) // timedelta(milliseconds=1), 0)
