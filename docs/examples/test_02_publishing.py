"""A publisher adds entries, from any process that has the application. A typed body becomes one field ``data`` of
JSON, a dict of plain values the fields themselves. No entry is ever sent twice: where a connection is lost on the
way, the error says that it is not known whether the entry was added.
"""

import msgspec
import pytest

from streamops.errors import PublishError
from streamops.runtime import Entry, Schema, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions

Fields = tuple[tuple[bytes, bytes], ...]


class Order(msgspec.Struct):
    order_id: str
    total: int = 0


def listening() -> tuple[Streamops, list[Fields]]:
    """An application that keeps the fields of what it is given."""
    app, seen = Streamops(), list[Fields]()

    @app.handler("orders", group="all")
    async def keep(entry: Entry) -> None:
        seen.append(entry.fields)

    return app, seen


async def test_bodies_become_fields(redis: ConnectionOptions) -> None:
    app, seen = listening()
    async with staged(app, redis) as stage, app.publisher() as publisher:
        await publisher.publish("orders", Order("o-1", 30))
        await publisher.publish("orders", {"order_id": "o-2", "paid": True})
        await publisher.publish("orders", [("item", "pen"), ("item", "ink")])
        await publisher.publish("orders", b"\x00\xff")
        await publisher.publish("orders", Order("o-3"), fields={"trace": "t-1"})
        await stage.idle()
    assert seen == [
        ((b"data", b'{"order_id":"o-1","total":30}'),),
        ((b"order_id", b"o-2"), (b"paid", b"true")),
        ((b"item", b"pen"), (b"item", b"ink")),
        ((b"data", b"\x00\xff"),),
        ((b"data", b'{"order_id":"o-3","total":0}'), (b"trace", b"t-1")),
    ]


async def test_many_go_in_their_order_in_few_round_trips(redis: ConnectionOptions) -> None:
    app, seen = listening()
    async with staged(app, redis) as stage, app.publisher() as publisher:
        ids = await publisher.publish_many("orders", ({"n": number} for number in range(1_000)))
        await stage.idle()
    assert len(set(ids)) == 1_000
    assert sorted(int(fields[0][1]) for fields in seen) == list(range(1_000))


async def test_an_id_of_ones_own_can_be_added_once(redis: ConnectionOptions) -> None:
    app, seen = listening()
    async with staged(app, redis) as stage, app.publisher() as publisher:
        assert await publisher.publish("orders", Order("o-1"), id="7-1") == "7-1"
        with pytest.raises(PublishError, match="has an entry of this ID or a greater one already"):
            await publisher.publish("orders", Order("o-1"), id="7-1")
        await stage.idle()
    assert len(seen) == 1


async def test_a_schema_names_a_stream_and_the_type_of_its_bodies(redis: ConnectionOptions) -> None:
    app, seen = listening()
    order = Schema("orders", Order, name="order", maxlen=100_000)
    async with staged(app, redis) as stage, app.publisher(schemas=[order]) as publisher:
        await publisher.publish("order", Order("o-1"))
        await publisher.publish(order, Order("o-2"))
        with pytest.raises(PublishError, match="order takes Order: it is a dict"):
            await publisher.publish("order", {"order_id": "o-3"})
        await stage.idle()
    assert len(seen) == 2
