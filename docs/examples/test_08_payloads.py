"""Streams are kept in memory, so what is large is better kept beside them for a while: a publisher does so with
every body above a size, or with bytes that it is given. Handlers notice nothing. The payload is deleted together
with the acknowledgement where one group reads the stream, and by its time to live where there are more; where it
is gone too early, the entry is a dead letter.
"""

from datetime import timedelta

import msgspec
from redis import Redis

from streamops.runtime import Entry, Payload, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions

HOUR = timedelta(hours=1)


class Report(msgspec.Struct):
    text: str


async def test_a_large_body_travels_beside_its_stream(redis: ConnectionOptions, client: Redis) -> None:
    app, seen = Streamops(), list[Report]()

    @app.handler("reports", group="archive")
    async def file(report: Report) -> None:
        (key,) = client.keys("{reports}:payload:*")
        assert 0 < client.pttl(key) <= 3_600_000
        seen.append(report)

    async with staged(app, redis) as stage, app.publisher(payload=Payload(HOUR, max_inline=100)) as publisher:
        await publisher.publish("reports", Report("x" * 10_000))
        await stage.idle()
        assert client.keys("{reports}:payload:*") == []
    assert seen == [Report("x" * 10_000)]


async def test_bytes_may_go_beside_a_body(redis: ConnectionOptions) -> None:
    app, seen = Streamops(), list[tuple[str, bytes | None]]()

    @app.handler("reports", group="archive")
    async def file(report: Report, entry: Entry) -> None:
        seen.append((report.text, entry.payload))

    async with staged(app, redis) as stage:
        await stage.publish("reports", Report("a photo"), payload=b"\xff\xd8\xff", payload_ttl=HOUR)
        await stage.idle()
    assert seen == [("a photo", b"\xff\xd8\xff")]


async def test_a_payload_comes_along_wherever_its_entry_goes(redis: ConnectionOptions) -> None:
    app, seen = Streamops(), list[tuple[int, bytes | None]]()

    @app.handler("reports", group="archive", retry=0.01)
    async def file(entry: Entry) -> None:
        seen.append((entry.attempt, entry.payload))
        if entry.attempt == 1:
            raise OSError("no space left")

    async with staged(app, redis) as stage:
        await stage.publish("reports", Report("a photo"), payload=b"\xff\xd8\xff", delay=0.01)
        await stage.idle()
    assert seen == [(1, b"\xff\xd8\xff"), (2, b"\xff\xd8\xff")]


async def test_a_payload_that_is_gone_makes_a_dead_letter(redis: ConnectionOptions, client: Redis) -> None:
    app = Streamops()

    @app.handler("reports", group="archive")
    async def file(entry: Entry) -> None:
        raise AssertionError(entry)

    async with staged(app, redis) as stage:
        await stage.publish("reports", Report("a photo"), payload=b"\xff", delay=3_600)
        client.delete(*client.keys("{reports}:payload:*"))
        await stage.hasten()
        await stage.idle()
        (letter,) = await stage.dead_letters("reports")
    assert letter.reason == "payload-missing"
