"""Publishing to real servers: entries, many of them, delayed ones, and what is told where it fails."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from streamops.errors import (
    NotFound,
    PartlyPublished,
    PublishError,
    ServerError,
    SettingsError,
    Unreachable,
)
from streamops.runtime import Streamops
from streamops.runtime.publisher import Publisher, Schema
from streamops.wire.consuming import publishing as lines
from tests.support.eventually import wait_until
from tests.support.programs import ServerProgram
from tests.support.runtime.publishing import HOUR, ORDERS, STOCK, Order, Stock
from tests.support.servers import RunningServer, StartServer
from tests.support.streams import entries_of
from tests.support.wire.strangers import stranger


def clients(server: RunningServer) -> int:
    """How many connections the server has."""
    return len(server.command("CLIENT", "LIST").splitlines())


@pytest.fixture
async def publisher(server: RunningServer) -> AsyncIterator[Publisher]:
    async with Publisher(server.options, schemas=[ORDERS, STOCK]) as publisher:
        yield publisher


def test_an_application_publishes_in_each_event_loop_and_closes_what_it_opened(server: RunningServer) -> None:
    app = Streamops(server.options)

    async def publish() -> list[str]:
        return await asyncio.gather(*(app.publish("orders", {"n": number}) for number in range(3)))

    before = clients(server)
    ids = asyncio.run(publish()) + asyncio.run(publish())
    assert [entry_id for entry_id, _ in entries_of(server, "orders")] == sorted(ids)
    wait_until(lambda: clients(server) == before)


async def test_an_application_that_could_not_connect_tries_again(
    server: RunningServer, unused_tcp_port: int
) -> None:
    app = Streamops(f"redis://127.0.0.1:{unused_tcp_port}/0")
    for _ in range(2):
        with pytest.raises(Unreachable):
            await app.publish("orders", {"n": 1})
    app.connection = server.options
    await app.publish("orders", {"n": 1})
    assert len(entries_of(server, "orders")) == 1


async def test_entries_in_their_order(server: RunningServer, publisher: Publisher) -> None:
    first = await publisher.publish("orders", Order("a", 3))
    second = await publisher.publish("orders", [("n", 2), ("n", b"\xff")], fields={"by": "me"})
    assert entries_of(server, "orders") == [
        (first, [b"data", b'{"order_id":"a","total":3}']),
        (second, [b"n", b"2", b"n", b"\xff", b"by", b"me"]),
    ]


async def test_an_id_of_ones_own_makes_repeating_harmless(
    server: RunningServer, publisher: Publisher
) -> None:
    assert await publisher.publish("orders", {"n": 1}, id="5-1") == "5-1"
    with pytest.raises(PublishError, match="has an entry of this ID or a greater one already"):
        await publisher.publish("orders", {"n": 1}, id="5-1")
    with pytest.raises(PublishError, match="is no entry ID"):
        await publisher.publish("orders", {"n": 1}, id="five")
    with pytest.raises(PublishError, match="is no entry ID"):
        await publisher.publish("orders", {"n": 1}, id="0-0")
    assert len(entries_of(server, "orders")) == 1


async def test_a1_a_cap_is_approximate_and_only_where_it_is_asked_for(
    server: RunningServer, publisher: Publisher
) -> None:
    await publisher.publish_many("orders", ({"n": n} for n in range(1_000)))
    assert server.command("XLEN", "orders") == 1_000
    await publisher.publish("orders", {"n": 1}, maxlen=250)
    assert 250 <= server.command("XLEN", "orders") < 400
    await publisher.publish_many("order", [Order("a")] * 1_000)
    assert 200 <= server.command("XLEN", "orders:events") < 400


async def test_a_cap_for_all_streams(server: RunningServer) -> None:
    async with Publisher(server.options, maxlen=100) as publisher:
        await publisher.publish_many("orders", ({"n": n} for n in range(1_000)))
    assert 100 <= server.command("XLEN", "orders") < 300


async def test_d5_a_schema_chooses_the_stream_and_checks_the_type(
    server: RunningServer, publisher: Publisher
) -> None:
    await publisher.publish("order", Order("a"))
    await publisher.publish(ORDERS, Order("b"))
    assert len(await publisher.publish_many(ORDERS, [Order("c"), Order("d")])) == 2
    await publisher.publish(STOCK, Stock(item="pen", left=1))
    assert [
        msgspec.json.decode(parts[1])["order_id"] for _, parts in entries_of(server, "orders:events")
    ] == list("abcd")
    with pytest.raises(PublishError, match="order takes Order: it is a dict"):
        await publisher.publish("order", {"order_id": "a"})
    with pytest.raises(PublishError, match="stock takes Stock: "):
        await publisher.publish("stock", {"item": "pen"})
    with pytest.raises(PublishError, match="order takes Order"):
        await publisher.publish_many("order", [Order("e"), "f"])
    assert len(entries_of(server, "orders:events")) == 4


async def test_many_in_their_order_in_pipelines_of_bounded_size(
    server: RunningServer, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BYTES_AT_ONCE", 10_000)
    sizes = [1] * 1_200 + [30_000] + [4_000] * 5 + [1]
    ids = await publisher.publish_many("orders", ({"x": "x" * size} for size in sizes))
    found = entries_of(server, "orders")
    assert [one for one, _ in found] == ids
    assert [len(parts[1]) for _, parts in found] == sizes
    assert await publisher.publish_many("orders", []) == []


async def test_many_bodies_with_ids_are_added_but_for_ids_that_are_too_small(
    server: RunningServer, publisher: Publisher
) -> None:
    bodies = [{"n": n} for n in range(4)]
    assert await publisher.publish_many("orders", bodies[:2], ids=["5-1", "5-2"]) == ["5-1", "5-2"]
    with pytest.raises(PublishError, match="1 IDs for 4 bodies"):
        await publisher.publish_many("orders", bodies, ids=["6-0"])
    with pytest.raises(PartlyPublished, match=r"2 of 4 were added to orders, then: .* already") as raised:
        await publisher.publish_many("orders", bodies, ids=["6-0", "5-9", "5-8", "7-0"])
    assert raised.value.ids == ("6-0", None, None, "7-0")
    assert [one for one, _ in entries_of(server, "orders")] == ["5-1", "5-2", "6-0", "7-0"]


async def test_entries_of_many_callers_at_once_are_all_added(
    server: RunningServer, publisher: Publisher
) -> None:
    async def publish(caller: int) -> list[str]:
        return [await publisher.publish("orders", {"caller": caller, "n": n}) for n in range(20)]

    ids = await asyncio.gather(*(publish(caller) for caller in range(50)))
    assert sorted(one for some in ids for one in some) == sorted(
        one for one, _ in entries_of(server, "orders")
    )
    assert all(some == sorted(some, key=lambda one: tuple(map(int, one.split("-")))) for some in ids)


async def test_e2_delayed_messages_by_id(server: RunningServer, publisher: Publisher) -> None:
    ident = await publisher.publish("orders", Order("a"), delay=HOUR)
    message = await publisher.get("orders", ident)
    assert message is not None
    assert message.body is not None
    assert message.body.destination == "orders"
    assert message.body.fields == ((b"data", b'{"order_id":"a","total":0}'),)
    assert await publisher.cancel("orders", ident)
    assert await publisher.get("orders", ident) is None
    assert not await publisher.cancel("orders", ident)
    assert server.command("KEYS", "*") == []


async def test_c2_a_time_and_an_id_of_ones_own(publisher: Publisher) -> None:
    at = datetime(2100, 1, 1, tzinfo=UTC)
    assert await publisher.publish("orders", Order("a"), at=at, id="monthly") == "monthly"
    message = await publisher.get("orders", "monthly")
    assert message is not None
    assert message.due_at == at
    with pytest.raises(PublishError, match="has a delayed message monthly already"):
        await publisher.publish("orders", Order("a"), delay=5, id="monthly")


async def test_many_delayed_messages_are_added_but_for_ids_that_are_taken(
    server: RunningServer, publisher: Publisher
) -> None:
    ids = await publisher.publish_many("orders", ({"n": n} for n in range(600)), delay=3_600)
    assert len(set(ids)) == server.command("ZCARD", "{orders}:delayed") == 600
    with pytest.raises(PartlyPublished, match="1 of 2 were added"):
        await publisher.publish_many("orders", [{"n": 1}, {"n": 2}], ids=["new", ids[0]], delay=1)


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"delay": 1, "at": datetime(2100, 1, 1, tzinfo=UTC)}, "both"),
        ({"at": datetime(2100, 1, 1)}, "without a time zone"),  # noqa: DTZ001 - the mistake that is looked for
        ({"delay": -1}, "negative"),
        ({"delay": 1, "maxlen": 5}, "cannot cap"),
        ({"maxlen": 0}, "maxlen is 0"),
        ({"fields": {"_so_x": 1}}, "reserved"),
    ],
)
async def test_wishes_that_make_no_sense(
    server: RunningServer, wishes: dict[str, object], words: str
) -> None:
    async with Publisher(server.options) as publisher:
        with pytest.raises(PublishError, match=words):
            await publisher.publish("orders", Order("a"), **wishes)  # type: ignore[arg-type]
        with pytest.raises(PublishError, match="name is empty"):
            await publisher.publish("", Order("a"))
    assert server.command("KEYS", "*") == []


def test_two_schemas_of_one_name_are_refused(server: RunningServer) -> None:
    with pytest.raises(SettingsError, match="two schemas are called order"):
        Publisher(server.options, schemas=[ORDERS, Schema("other", name="order")])


async def test_a_key_of_another_type(server: RunningServer, publisher: Publisher) -> None:
    server.command("SET", "orders", "text")
    with pytest.raises(PublishError, match="orders is not a stream"):
        await publisher.publish("orders", {"n": 1})
    with pytest.raises(PublishError, match="orders is not a stream"):
        await publisher.publish_many("orders", [{"n": 1}, {"n": 2}])
    server.command("SET", "{stock}:delayed", "text")
    with pytest.raises((NotFound, ServerError)):
        await publisher.publish("stock", Stock(item="pen", left=1), delay=1)
    assert server.command("EXISTS", "{stock}:delayed:jobs") == 0


async def test_publishing_without_memory_is_an_error(
    start_server: StartServer, program: ServerProgram
) -> None:
    server = start_server("--maxmemory", "1", program=program)
    async with Publisher(server.options) as publisher:
        with pytest.raises(ServerError, match="out of memory"):
            await publisher.publish("orders", {"n": 1})
        with pytest.raises(ServerError, match="out of memory"):
            await publisher.publish_many("orders", [{"n": 1}])


async def test_a_connection_lost_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of three pipelines is lost: what the first added is told, and the third is never sent."""
    monkeypatch.setattr(lines, "AT_ONCE", 2)
    seen = 0

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        await reader.readuntil(b"streamops\r\n")
        writer.write(b"+OK\r\n")
        while await reader.readuntil(b"\r\n"):
            if not (line := await reader.read(65_536)):
                return
            seen += line.count(b"XADD")
            if b"PING" in line:
                writer.write(b"+PONG\r\n")
            elif seen > 2:
                return
            else:
                writer.write(b"$3\r\n1-1\r\n$3\r\n1-2\r\n")

    async with stranger(speak) as options, Publisher(options) as publisher:
        with pytest.raises(
            PartlyPublished, match=r"2 of 6 were added to orders, then: .* not known whether"
        ) as raised:
            await publisher.publish_many("orders", [{"n": n} for n in range(6)])
    assert raised.value.ids == ("1-1", "1-2", None, None, None, None)
    assert seen == 4


async def test_a_publisher_without_a_server_is_unreachable(server: RunningServer) -> None:
    with pytest.raises(Unreachable):
        async with Publisher(replace(server.options, socket_path="/nonexistent")):
            pass


async def test_a_publisher_that_is_not_open_says_so(server: RunningServer) -> None:
    publisher = Publisher(server.options)
    with pytest.raises(PublishError, match="is not open"):
        await publisher.publish("orders", Order("a"))
    async with publisher:
        await publisher.publish("orders", Order("a"))
    with pytest.raises(PublishError, match="is not open"):
        await publisher.publish_many("orders", [Order("a")])


@pytest.mark.parametrize(
    "given", [{"delay": "5"}, {"delay": float("inf")}, {"delay": 1e30}, {"delay": -1}, {"at": "2100-01-01"}]
)
async def test_a_time_that_is_none_is_refused(server: RunningServer, given: dict[str, Any]) -> None:
    async with Publisher(server.options) as publisher:
        with pytest.raises(PublishError):
            await publisher.publish("orders", Order("a"), **given)
    assert server.command("KEYS", "*") == []


@pytest.mark.parametrize("bodies", [{"n": 1}, "ab", b"ab"])
async def test_one_body_is_not_many(server: RunningServer, bodies: Any) -> None:  # noqa: ANN401 - what is refused
    async with Publisher(server.options) as publisher:
        with pytest.raises(PublishError, match="is one body, not many"):
            await publisher.publish_many("orders", bodies)
