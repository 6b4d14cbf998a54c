"""Delayed messages that come due."""

from datetime import UTC, datetime, timedelta

from streamops.model.delayed import DelayedBody
from streamops.wire.consuming.promoting import Promotion, promote_due
from streamops.wire.delayed_writes import MessageToDelay, schedule_many
from streamops.wire.server import Server

QUEUE, BODIES, LETTERS = "{orders}:delayed", "{orders}:delayed:jobs", "{orders}:dlq"
RETRIES = "{orders}:retry:billing"
ORDER = DelayedBody("orders", ((b"tag", b"a"), (b"tag", b"b\xff\xc0"), (b"", b"")))
RETRY = DelayedBody(RETRIES, ((b"n", b"1"),), "billing", 3, "17-4")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


async def delay(server: Server, *messages: tuple[str, DelayedBody, int]) -> None:
    """Messages with the milliseconds by which their time is later than long ago."""
    rows = [
        MessageToDelay(ident, body, LONG_AGO + timedelta(milliseconds=ms)) for ident, body, ms in messages
    ]
    assert None not in await schedule_many(server, "orders", rows)


async def pump_all(server: Server, *destinations: str) -> Promotion:
    return await promote_due(server, "orders", destinations)


def named(letter: list[bytes]) -> dict[bytes, bytes]:
    return dict(zip(letter[::2], letter[1::2], strict=True))


LONG_AGO_MS = 1_577_836_800_000
