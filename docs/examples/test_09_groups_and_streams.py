"""An application may have many handlers. Each group gets every entry of its streams; within a group each entry
goes to one worker. Where a group begins that does not exist yet is said by ``start``: at what comes from now on,
at the beginning, or after an ID. A handler of several streams may weigh them: of weights 5, 3 and 2 the first
stream gets half of the turns while all of them have something waiting, and none ever starves.
"""

import asyncio
from collections import Counter

import pytest

from streamops.errors import SettingsError
from streamops.runtime import Entry, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions


async def test_every_group_gets_every_entry(redis: ConnectionOptions) -> None:
    app, seen = Streamops(), Counter[str]()

    @app.handler("orders", group="shipping")
    async def ship(entry: Entry) -> None:
        seen[entry.group] += 1

    @app.handler(["orders", "refunds"], group="statistics")
    async def count(entry: Entry) -> None:
        seen[f"{entry.group} of {entry.stream}"] += 1

    async with staged(app, redis) as stage:
        for stream in ("orders", "orders", "refunds"):
            await stage.publish(stream, {"order_id": "o-1"})
        await stage.idle()
    assert seen == {"shipping": 2, "statistics of orders": 2, "statistics of refunds": 1}


async def test_within_a_group_workers_share_the_entries(redis: ConnectionOptions) -> None:
    app, seen = Streamops(), Counter[str]()

    @app.handler("orders", group="shipping")
    async def ship(entry: Entry) -> None:
        seen[entry.id] += 1

    async with staged(app, redis) as stage, staged(app, redis), app.publisher() as publisher:
        ids = await publisher.publish_many("orders", ({"n": number} for number in range(200)))
        await stage.idle()
    assert seen == dict.fromkeys(ids, 1)


@pytest.mark.parametrize(("start", "seen"), [("0", ["1-1", "2-1", "3-1"]), ("2-1", ["3-1"]), ("$", [])])
async def test_a_new_group_begins_where_it_is_told_to(
    redis: ConnectionOptions, start: str, seen: list[str]
) -> None:
    app, given = Streamops(redis), list[str]()
    async with app.publisher() as publisher:
        for number in (1, 2, 3):
            await publisher.publish("orders", {"n": number}, id=f"{number}-1")

    @app.handler("orders", group="shipping", start=start, concurrency=1)
    async def ship(entry: Entry) -> None:
        given.append(entry.id)

    async with staged(app, redis) as stage:
        await stage.publish("orders", {"n": 4}, id="4-1")
        await stage.idle()
    assert given == [*seen, "4-1"]


async def test_weights_share_the_turns_and_starve_nobody(redis: ConnectionOptions) -> None:
    app, turns = Streamops(redis), list[str]()
    weights = {"jobs:high": 5, "jobs:normal": 3, "jobs:low": 2}
    async with app.publisher() as publisher:
        for stream in weights:
            await publisher.publish_many(stream, ({"n": number} for number in range(200)))

    @app.handler(weights, group="workers", start="all", concurrency=1)
    async def work(entry: Entry) -> None:
        turns.append(entry.stream)
        # Work that takes a moment; what takes none has no queue to weigh.
        await asyncio.sleep(0.001)

    async with staged(app, redis) as stage:
        await stage.idle()
    # While all three had something waiting: the first 300 turns.
    share = Counter(turns[100:300])
    assert [share[stream] / 20 for stream in weights] == pytest.approx([5, 3, 2], abs=0.6)
    assert len(turns) == 600


def test_two_handlers_of_one_group_would_take_each_others_entries() -> None:
    app = Streamops()

    @app.handler("orders", group="shipping")
    async def ship(_: Entry) -> None: ...

    async def pack(_: Entry) -> None: ...

    with pytest.raises(SettingsError, match=r"group shipping of stream orders is read by .*ship already"):
        app.handler("orders", group="shipping")(pack)
