"""Claim check: what is too large for its stream is kept beside it, and deleted by whoever is done with it."""

from collections.abc import AsyncIterator
from datetime import timedelta

import msgspec
import pytest

from streamops.errors import PublishError, SettingsError
from streamops.runtime.payloads import Payload
from streamops.runtime.publisher import Publisher
from tests.support.servers import RunningServer

HOUR = timedelta(hours=1)


class Report(msgspec.Struct):
    text: str


@pytest.fixture
async def publisher(server: RunningServer) -> AsyncIterator[Publisher]:
    async with Publisher(server.options, payload=Payload(ttl=HOUR, max_inline=100)) as publisher:
        yield publisher


def entry(server: RunningServer, stream: str = "reports") -> dict[bytes, bytes]:
    (_, parts) = server.command("XRANGE", stream, "-", "+")[-1]
    return dict(zip(parts[::2], parts[1::2], strict=True))


async def test_d1_a_large_body_is_kept_beside_its_stream(server: RunningServer, publisher: Publisher) -> None:
    await publisher.publish("reports", Report("x" * 1_000), fields={"kind": "monthly"})
    fields = entry(server)
    assert list(fields) == [b"_so_payload", b"kind"]
    key = fields[b"_so_payload"]
    assert key.startswith(b"{reports}:payload:")
    assert msgspec.json.decode(server.command("GET", key), type=Report) == Report("x" * 1_000)
    assert 3_590_000 < server.command("PTTL", key) <= 3_600_000


async def test_a_small_body_stays_in_its_entry(server: RunningServer, publisher: Publisher) -> None:
    await publisher.publish("reports", Report("x"))
    assert entry(server) == {b"data": b'{"text":"x"}'}
    assert server.command("KEYS", "*") == [b"reports"]


async def test_large_plain_fields_are_kept_as_json(server: RunningServer, publisher: Publisher) -> None:
    await publisher.publish("reports", {"a": "x" * 200, "n": 1})
    fields = entry(server)
    assert list(fields) == [b"_so_payload", b"_so_shape"]
    assert msgspec.json.decode(server.command("GET", fields[b"_so_payload"])) == {"a": "x" * 200, "n": 1}


async def test_bytes_of_ones_own(server: RunningServer, publisher: Publisher) -> None:
    await publisher.publish("reports", {"n": 1}, payload=b"\xff\x00", payload_ttl=timedelta(minutes=1))
    fields = entry(server)
    assert list(fields) == [b"n", b"_so_payload"]
    assert server.command("GET", fields[b"_so_payload"]) == b"\xff\x00"
    assert 50_000 < server.command("PTTL", fields[b"_so_payload"]) <= 60_000


async def test_no_payload_without_its_entry(server: RunningServer, publisher: Publisher) -> None:
    server.command("SET", "reports", "no stream")
    with pytest.raises(PublishError, match="is not a stream"):
        await publisher.publish("reports", Report("x" * 1_000))
    assert server.command("KEYS", "*") == [b"reports"]


async def test_many_keep_their_order_whether_large_or_small(
    server: RunningServer, publisher: Publisher
) -> None:
    sizes = [1, 1_000, 2, 2_000, 3, 3_000]
    ids = await publisher.publish_many("reports", (Report("x" * size) for size in sizes))
    found: list[int] = []
    for entry_id, parts in server.command("XRANGE", "reports", "-", "+"):
        assert entry_id.decode() == ids[len(found)]
        value = parts[1] if parts[0] == b"data" else server.command("GET", parts[1])
        found.append(len(msgspec.json.decode(value, type=Report).text))
    assert found == sizes


async def test_a_delayed_payload_outlives_its_delay(server: RunningServer, publisher: Publisher) -> None:
    await publisher.publish("reports", Report("x" * 1_000), delay=HOUR)
    (key,) = server.command("KEYS", "*payload*")
    assert 7_190_000 < server.command("PTTL", key) <= 7_200_000


async def test_a_cancelled_message_takes_its_payload_along(
    server: RunningServer, publisher: Publisher
) -> None:
    ident = await publisher.publish("reports", Report("x" * 1_000), delay=HOUR)
    assert await publisher.cancel("reports", ident)
    assert server.command("KEYS", "*") == []


async def test_a_delayed_message_whose_id_is_taken_leaves_no_payload(
    server: RunningServer, publisher: Publisher
) -> None:
    await publisher.publish("reports", Report("x"), delay=HOUR, id="monthly")
    with pytest.raises(PublishError, match="monthly already"):
        await publisher.publish("reports", Report("x" * 1_000), delay=HOUR, id="monthly")
    assert server.command("KEYS", "*payload*") == []


def test_policies_that_make_no_sense() -> None:
    with pytest.raises(SettingsError, match="kept for"):
        Payload(ttl=timedelta(0))
    with pytest.raises(SettingsError, match="max_inline"):
        Payload(max_inline=-1)
