"""A message may wait, for a while or until a time. It has an ID by which it is looked up and cancelled meanwhile.
Once it is due by the server's clock, whichever worker is there first moves it onto the stream, earliest first, in
one step: a crash loses nothing.
"""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from streamops.errors import PublishError
from streamops.runtime import Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions


class Reminder(msgspec.Struct):
    text: str


def reminding() -> tuple[Streamops, list[str]]:
    """An application that keeps what it reminds of."""
    app, seen = Streamops(), list[str]()

    @app.handler("reminders", group="mail", concurrency=1)
    async def remind(reminder: Reminder) -> None:
        seen.append(reminder.text)

    return app, seen


async def test_a_delay_passes_by_itself(redis: ConnectionOptions) -> None:
    app, seen = reminding()
    async with staged(app, redis) as stage, app.publisher() as publisher:
        await publisher.publish("reminders", Reminder("in a moment"), delay=0.02)
        await stage.idle()
    assert seen == ["in a moment"]


async def test_what_is_due_first_comes_first(redis: ConnectionOptions) -> None:
    app, seen = reminding()
    async with staged(app, redis) as stage, app.publisher() as publisher:
        await publisher.publish("reminders", Reminder("in two days"), delay=timedelta(days=2))
        await publisher.publish(
            "reminders", Reminder("in the year 2100"), at=datetime(2100, 1, 1, tzinfo=UTC)
        )
        await publisher.publish("reminders", Reminder("tomorrow"), delay=86_400)
        await stage.idle(delayed=False)
        assert seen == []
        # Tests need not wait: hasten() lets the time of all of them have come.
        await stage.hasten()
        await stage.idle()
    assert seen == ["tomorrow", "in two days", "in the year 2100"]


async def test_a_message_is_looked_up_and_cancelled_by_its_id(redis: ConnectionOptions) -> None:
    app, seen = reminding()
    async with staged(app, redis) as stage, app.publisher() as publisher:
        await publisher.publish("reminders", Reminder("pay"), delay=3_600, id="invoice-7")
        message = await publisher.get("reminders", "invoice-7")
        assert message is not None
        assert message.body is not None
        assert message.body.fields == ((b"data", b'{"text":"pay"}'),)
        with pytest.raises(PublishError, match="a delayed message invoice-7 already"):
            await publisher.publish("reminders", Reminder("pay"), delay=60, id="invoice-7")
        assert await publisher.cancel("reminders", "invoice-7")
        assert not await publisher.cancel("reminders", "invoice-7")
        assert await publisher.get("reminders", "invoice-7") is None
        await stage.idle()
    assert seen == []
