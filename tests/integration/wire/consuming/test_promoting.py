"""Moving due messages: what becomes of them, of what cannot be moved, and when the server refuses."""

from datetime import timedelta

import msgspec
import pytest

from streamops.errors import NotFound, Refused
from streamops.model.delayed import DelayedBody
from streamops.wire.consuming import promoting
from streamops.wire.consuming.promoting import Promotion, promote_due
from streamops.wire.delayed import ForeignBodyError, decode_body, encode_body, read_messages
from streamops.wire.delayed_writes import MessageToDelay, move_now, schedule_many
from streamops.wire.server import Server
from tests.support.servers import RunningServer
from tests.support.streams import parts_of
from tests.support.wire.consuming.promoting import (
    BODIES,
    LETTERS,
    LONG_AGO,
    LONG_AGO_MS,
    ORDER,
    QUEUE,
    RETRIES,
    RETRY,
    delay,
    named,
    pump_all,
)
from tests.support.wire.fixtures import SetUser

SHIPPING = "{orders}:retry:shipping"


async def test_pumping_an_empty_queue_moves_nothing(connected: Server, server: RunningServer) -> None:
    promotion = await pump_all(connected)
    assert promotion == Promotion(0, None, promotion.now_ms)
    assert promotion.wait is None
    assert server.command("DBSIZE") == 0


async def test_entries_are_those_of_run_now(connected: Server, server: RunningServer) -> None:
    for body in (ORDER, RETRY):
        await delay(connected, ("promotion", body, 0))
        await pump_all(connected, RETRIES)
        await delay(connected, ("run", body, 0))
        read = [message async for page in read_messages(connected, QUEUE, ["run"]) for message in page]
        await move_now(connected, QUEUE, body.destination, read)
        promotion, run = parts_of(server, body.destination)
        assert promotion == run == [part for pair in body.entry_fields for part in pair]


async def test_destinations_are_declared_or_told(connected: Server, server: RunningServer) -> None:
    await delay(connected, ("r", RETRY, 0), ("a", ORDER, 1), ("s", DelayedBody(SHIPPING, ORDER.fields), 2))
    promotion = await pump_all(connected)
    assert promotion.moved == 1
    assert set(promotion.unknown) == {RETRIES, SHIPPING}
    assert promotion.wait == timedelta()
    again = await pump_all(connected, *promotion.unknown)
    assert (again.moved, again.unknown, again.next_due_ms) == (2, (), None)
    assert server.command("EXISTS", QUEUE, BODIES) == 0


@pytest.mark.parametrize(
    "named",
    [
        "payments",
        "{payments}:retry:g",
        "streamops:audit",
        "{orders}:delayed",
        "{orders}:dlq",
        "{orders}:",
        "{order",
    ],
)
async def test_message_that_names_a_key_not_its_streams_becomes_a_letter_and_touches_nothing(
    connected: Server, server: RunningServer, named: str
) -> None:
    await delay(connected, ("a", DelayedBody(named, ORDER.fields, "g"), 0), ("b", ORDER, 0))
    before = {key: server.command("DUMP", key) for key in (named,) if named != QUEUE}
    promotion = await pump_all(connected, named)
    assert (promotion.moved, promotion.unknown) == (1, ())
    assert promotion.buried == (("a", "it names another stream"),)
    ((_, letter),) = server.command("XRANGE", LETTERS, "-", "+")
    assert (letter[1], letter[-1]) == (b"a", b"delayed message a: it names another stream")
    if named not in (QUEUE, LETTERS):
        assert before[named] == server.command("DUMP", named)


async def test_no_group_is_made_elsewhere(connected: Server, server: RunningServer) -> None:
    await delay(connected, ("a", DelayedBody("orders", RETRY.fields, "billing", 2, "1-1"), 0))
    assert (await pump_all(connected)).moved == 1
    assert server.command("XINFO", "GROUPS", "orders") == []


PACKED = {
    "nothing": b"",
    "no_msgpack": b"\xc1",
    "cut": encode_body(ORDER)[:-1],
    "more": encode_body(ORDER) + b"\x01",
    "more_nil": encode_body(ORDER) + b"\xc0",
    "map": msgspec.msgpack.encode({1: 1, 2: "orders", 3: "", 4: 0, 5: "", 6: ["f", "v"]}),
    "version": msgspec.msgpack.encode([0, "orders", "", 0, "", ["f", "v"]]),
    "version_text": msgspec.msgpack.encode(["1", "orders", "", 0, "", ["f", "v"]]),
    "short": msgspec.msgpack.encode([1, "orders"]),
    "long": msgspec.msgpack.encode([1, "orders", "", 0, "", ["f", "v"], 0]),
    "odd": msgspec.msgpack.encode([1, "orders", "", 0, "", ["f"]]),
    "odd_nil": msgspec.msgpack.encode([1, "orders", "", 0, "", ["f", "v", None]]),
    "empty": msgspec.msgpack.encode([1, "orders", "", 0, "", []]),
    "no_list": msgspec.msgpack.encode([1, "orders", "", 0, "", "fv"]),
    "field_map": msgspec.msgpack.encode([1, "orders", "", 0, "", {"f": "v"}]),
    "number": msgspec.msgpack.encode([1, "orders", "", 0, "", ["f", 7]]),
    "truth": msgspec.msgpack.encode([1, "orders", "", 0, "", ["f", False]]),
    "nested": msgspec.msgpack.encode([1, "orders", "", 0, "", ["f", ["v"]]]),
    "deep": b"\x91" * 100_000,
    "nowhere": msgspec.msgpack.encode([1, "", "", 0, "", ["f", "v"]]),
    "nil_destination": msgspec.msgpack.encode([1, None, "", 0, "", ["f", "v"]]),
    "number_destination": msgspec.msgpack.encode([1, 5, "", 0, "", ["f", "v"]]),
    "false_group": msgspec.msgpack.encode([1, "orders", False, 0, "", ["f", "v"]]),
    "number_origin": msgspec.msgpack.encode([1, "orders", "", 0, 5, ["f", "v"]]),
    "text_attempt": msgspec.msgpack.encode([1, "orders", "", "2", "", ["f", "v"]]),
    "half_attempt": msgspec.msgpack.encode([1, "orders", "", 2.5, "", ["f", "v"]]),
    "extension": msgspec.msgpack.encode([1, "orders", "", 0, "", ["f", msgspec.msgpack.Ext(1, b"x")]]),
    "binary": msgspec.msgpack.encode([1, b"orders", b"billing", 2, b"1-1", [b"f\xff\xc0", b"v" * 300]]),
    "large_binary": msgspec.msgpack.encode([1, b"orders", "", 0, "", [b"f", b"v" * 70_000]]),
    "nils": msgspec.msgpack.encode([1, "orders", None, None, None, ["f", None, "g", "v", None, None]]),
    "many_nils": msgspec.msgpack.encode([1, "orders", None, None, None, ["f", None] * 40_000][:6]),
    "array16": b"\xdc\x00\x06" + encode_body(ORDER)[1:],
    "array32": b"\xdd\x00\x00\x00\x06" + encode_body(ORDER)[1:],
    "many": encode_body(DelayedBody("orders", tuple((b"%d" % n, b"v\xc0") for n in range(40)))),
}


async def test_bodies_of_any_writer(connected: Server, server: RunningServer) -> None:
    """What the console can read becomes the entry that it shows; a broken message is kept whole among the dead letters."""
    for name, raw in PACKED.items():
        server.flush()
        server.command("ZADD", QUEUE, 5, name)
        server.command("HSET", BODIES, name, raw)
        promotion = await pump_all(connected, "x")
        try:
            body = decode_body(raw)
            if len(body.fields) > 3_898:
                raise ValueError("too wide")  # noqa: TRY301 - no script can write it
        except ForeignBodyError:
            assert (promotion.foreign, promotion.moved, promotion.buried) == (1, 0, ()), name
            assert server.command("ZRANGE", QUEUE, 0, -1, "WITHSCORES") == [name.encode(), b"5"], name
            assert server.command("HGETALL", BODIES) == [name.encode(), raw], name
            continue
        except ValueError:
            assert [ident for ident, _ in promotion.buried] == [name], name
            (letter,) = parts_of(server, LETTERS)
            assert letter[:6] == [b"id", name.encode(), b"due", b"5", b"body", raw]
            reserved = named(letter[6:])
            assert reserved[b"_so_origin"] == b"orders"
            assert reserved[b"_so_reason"] == b"undecodable"
            assert reserved[b"_so_error"].startswith(b"delayed message " + name.encode())
        else:
            assert promotion.moved == 1, name
            assert parts_of(server, "orders") == [[part for pair in body.entry_fields for part in pair]], name
        assert server.command("EXISTS", QUEUE, BODIES) == 0, name


async def test_bodies_that_the_queue_does_not_name(connected: Server, server: RunningServer) -> None:
    server.command("HSET", BODIES, "stray", encode_body(ORDER))
    assert (await pump_all(connected)).strays == 1
    await delay(connected, ("a", ORDER, 0))
    promotion = await pump_all(connected)
    assert (promotion.moved, promotion.strays) == (1, 1)
    assert server.command("HKEYS", BODIES) == [b"stray"]


async def test_a_message_that_never_comes_due_is_not_waited_for(
    connected: Server, server: RunningServer
) -> None:
    server.command("ZADD", QUEUE, "+inf", "a")
    server.command("HSET", BODIES, "a", encode_body(ORDER))
    promotion = await pump_all(connected)
    assert (promotion.moved, promotion.next_due_ms) == (0, None)
    server.command("ZADD", QUEUE, "99999999999999.25", "a")
    assert (await pump_all(connected)).next_due_ms == 100_000_000_000_000


async def test_a_destination_that_is_no_stream(connected: Server, server: RunningServer) -> None:
    """Others pass; those that wait for it come back in a minute."""
    server.command("SET", SHIPPING, "no stream")
    body = DelayedBody(SHIPPING, ORDER.fields)
    await delay(connected, ("x1", body, 0), ("x2", body, 1), ("a", ORDER, 2))
    promotion = await pump_all(connected, SHIPPING)
    assert promotion.moved == 1
    ((key, error, messages),) = [(one.key, one.error, one.messages) for one in promotion.refused]
    assert (key, messages) == (SHIPPING, 2)
    assert "WRONGTYPE" in error
    assert promotion.wait is not None
    assert promotion.wait > timedelta(seconds=59)
    server.command("DEL", SHIPPING)
    server.command("ZADD", QUEUE, "XX", 1, "x1", 2, "x2")
    assert (await pump_all(connected, SHIPPING)).moved == 2
    assert server.command("EXISTS", QUEUE, BODIES) == 0


async def test_a_retry_stream_that_is_none(connected: Server, server: RunningServer) -> None:
    server.command("SET", RETRIES, "no stream")
    await delay(connected, ("r", RETRY, 0))
    (refusal,) = (await pump_all(connected, RETRIES)).refused
    assert (refusal.key, refusal.messages) == (RETRIES, 1)
    assert server.command("ZCARD", QUEUE) == server.command("HLEN", BODIES) == 1


async def test_dead_letters_that_cannot_be_written(connected: Server, server: RunningServer) -> None:
    server.command("SET", LETTERS, "no stream")
    server.command("ZADD", QUEUE, 5, "broken")
    server.command("HSET", BODIES, "broken", PACKED["odd"])
    promotion = await pump_all(connected)
    assert promotion.buried == ()
    assert [(one.key, one.messages) for one in promotion.refused] == [(LETTERS, 1)]
    assert server.command("HGET", BODIES, "broken") == PACKED["odd"]
    assert server.command("ZCARD", QUEUE) == 1


async def test_a_queue_under_another_key_is_pumped(connected: Server, server: RunningServer) -> None:
    rows = [MessageToDelay("a", ORDER, LONG_AGO)]
    await schedule_many(connected, "orders", rows, "waiting")
    server.command("ZADD", "waiting", 5, "broken")
    server.command("HSET", "waiting:jobs", "broken", PACKED["odd"])
    promotion = await promote_due(connected, "orders", queue="waiting", dead_letters="dead")
    assert (promotion.moved, len(promotion.buried)) == (1, 1)
    assert sorted(server.command("KEYS", "*")) == [b"dead", b"orders"]


async def test_large_bodies_take_several_calls(connected: Server, server: RunningServer) -> None:
    large = DelayedBody("orders", ((b"f", b"x" * (promoting.MOST_BYTES // 4)),))
    await delay(connected, *((f"m{number}", large, number) for number in range(9)))
    assert [(await pump_all(connected)).moved for _ in range(3)] == [4, 4, 1]
    assert server.command("XLEN", "orders") == 9


async def test_scripts_that_were_flushed(connected: Server, server: RunningServer) -> None:
    await delay(connected, ("a", ORDER, 0))
    await pump_all(connected)
    server.command("SCRIPT", "FLUSH")
    await delay(connected, ("b", ORDER, 0))
    assert (await pump_all(connected)).moved == 1


@pytest.mark.parametrize("key", [QUEUE, BODIES])
async def test_keys_of_another_type(connected: Server, server: RunningServer, key: str) -> None:
    await delay(connected, ("a", ORDER, 0))
    server.command("SET", key, "x")
    with pytest.raises(NotFound):
        await promote_due(connected, "orders")
    assert server.command("EXISTS", "orders") == 0


@pytest.mark.parametrize("command", ["zrem", "hdel", "zadd", "zrange", "hmget"])
async def test_permissions_are_looked_at_first(
    connected: Server, server: RunningServer, as_user: SetUser, command: str
) -> None:
    """An entry added again and again, because it cannot be taken off the queue, would be the worst of all."""
    await delay(connected, ("a", ORDER, 0))
    user = await Server.connect(as_user("~*", "+@all", f"-{command}"))
    with pytest.raises(Refused):
        await promote_due(user, "orders")
    await user.close()
    assert server.command("EXISTS", "orders") == 0
    assert server.command("ZSCORE", QUEUE, "a") == b"%d" % LONG_AGO_MS


async def test_a_message_whose_body_comes_later_is_moved_then(
    connected: Server, server: RunningServer
) -> None:
    """Others may write the two halves apart."""
    server.command("ZADD", QUEUE, 5, "late", "-inf", "never")
    await delay(connected, ("a", ORDER, 0))
    promotion = await pump_all(connected)
    assert (promotion.moved, promotion.foreign, promotion.buried, promotion.wait) == (1, 2, (), None)
    server.command("HSET", BODIES, "late", encode_body(ORDER))
    again = await pump_all(connected)
    assert (again.moved, again.foreign) == (1, 1)
    assert server.command("ZRANGE", QUEUE, 0, -1, "WITHSCORES") == [b"never", b"-inf"]
    assert server.command("EXISTS", LETTERS, BODIES) == 0
