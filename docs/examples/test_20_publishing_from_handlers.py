"""``entry.publish`` publishes in the same step as its entry is acknowledged: one script does both, once the handler has
returned. A handler that fails, is cut off, or dies with its worker publishes nothing; its next try does. It costs a
round trip that is shared with other entries of the moment, and entries without messages do not pay for it. The streams
must be on one server, on a cluster in one hash slot: ``{shop}:orders`` and ``{shop}:mails``.
"""

import msgspec
import pytest

from streamops.errors import PublishError
from streamops.runtime import Entry, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions


class Order(msgspec.Struct):
    order_id: str


class Mail(msgspec.Struct):
    text: str


async def test_a_result_goes_on_once_its_entry_is_done(redis: ConnectionOptions) -> None:
    app, mails, attempts = Streamops(), list[str](), list[int]()

    @app.handler("orders", group="shipping", retry=0.01)
    async def ship(order: Order, entry: Entry) -> None:
        entry.publish("mails", Mail(f"{order.order_id} is on its way"))
        attempts.append(entry.attempt)
        if entry.attempt == 1:
            raise ConnectionError("the printer of labels is away")

    @app.handler("mails", group="mailer")
    async def send(mail: Mail) -> None:
        mails.append(mail.text)

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
    assert attempts == [1, 2]
    assert mails == ["o-1 is on its way"]


async def test_an_entry_that_was_acknowledged_publishes_nothing_more(redis: ConnectionOptions) -> None:
    app, shipped = Streamops(), list[Entry]()

    @app.handler("orders", group="shipping")
    async def ship(entry: Entry) -> None:
        shipped.append(entry)

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
    with pytest.raises(PublishError, match="is not being handled"):
        shipped[0].publish("mails", Mail("too late"))
