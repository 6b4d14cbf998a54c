"""Settling what failed: marks, retries, dead letters."""

from datetime import timedelta

import pytest

from streamops.errors import Refused, ServerError
from streamops.model.delayed import DelayedBody
from streamops.model.deliveries import ScheduledRetry, Settled
from streamops.wire.consuming.settling import retry_all
from streamops.wire.server import Server
from tests.support.wire.consuming.settling import (
    BINARY,
    MINUTE,
    OOM,
    PAIRS,
    bury,
    letter_of,
    mark_start,
    retry_later,
)
from tests.support.wire.consuming.shop import GROUP, PAYLOAD, STREAM, Shop
from tests.support.wire.fixtures import SetUser

# Marks.


@pytest.mark.parametrize("retries", [False, True])
async def test_a_start_is_marked_once_however_often_it_is_asked(shop: Shop, *, retries: bool) -> None:
    (one,) = shop.deliver(1, retries=retries)
    for known, now in ((0, 1), (0, 1), (1, 2), (0, 2), (5, 6)):
        marks = await mark_start(
            shop.server, shop.ann, retries=retries, entry_id=one, marks=known, ttl=timedelta(seconds=30)
        )
        assert marks == now
    assert shop.marks == {(b"retry:" if retries else b"") + one: b"6"}
    assert 29_000 < shop.command("PTTL", shop.ann.attempts) <= 30_000


# Retries.


async def test_a_retry_of_a_retry_keeps_its_origin_and_leaves_no_entry(shop: Shop) -> None:
    fields: tuple[str | bytes, ...] = (
        *BINARY,
        "_so_origin_id",
        "7-0",
        "_so_attempt",
        "2",
        "_so_payload",
        PAYLOAD,
    )
    (one,) = shop.deliver(1, *fields, retries=True)
    shop.mark(b"retry:" + one, 1)
    settled = await retry_later(
        shop.server, shop.ann, retries=True, entry_id=one, delay=MINUTE, attempt=3, origin_id="7-0"
    )
    assert settled is Settled.DONE
    pairs = (*PAIRS, (b"_so_payload", PAYLOAD.encode()))
    assert shop.delayed == {b"g:retry:" + one: DelayedBody(shop.ann.retries, pairs, GROUP, 3, "7-0")}
    assert (shop.entries(shop.ann.retries), shop.pending(retries=True), shop.marks) == ([], {}, {})


async def test_a_retry_keeps_replay_of_and_not_the_origin_that_its_entry_says(shop: Shop) -> None:
    (one,) = shop.deliver(1, "f", "v", "_so_origin_id", "7-0", "_so_replay_of", "9-0")
    await retry_later(shop.server, shop.ann, retries=False, entry_id=one, delay=MINUTE, attempt=2)
    (body,) = shop.delayed.values()
    assert body.fields == ((b"f", b"v"), (b"_so_replay_of", b"9-0"))
    assert body.origin_id == one.decode()


async def test_an_entry_of_reserved_fields_alone_still_comes_back(shop: Shop) -> None:
    (one,) = shop.deliver(1, "_so_attempt", "5")
    await retry_later(shop.server, shop.ann, retries=False, entry_id=one, delay=MINUTE, attempt=2)
    (body,) = shop.delayed.values()
    assert body.fields == ((b"_so_attempt", b"5"),)


async def test_a_repeated_call_writes_no_second_retry(shop: Shop) -> None:
    ids = shop.deliver(3)
    rows = [ScheduledRetry(one, 1_000, 2) for one in ids]
    assert await retry_all(shop.server, shop.ann, retries=False, rows=rows[:2]) == [Settled.DONE] * 2
    assert await retry_all(shop.server, shop.ann, retries=False, rows=rows) == [Settled.DONE] * 3
    assert len(shop.delayed) == 3
    shop.command("DEL", shop.ann.delayed, shop.ann.bodies)
    assert await retry_all(shop.server, shop.ann, retries=False, rows=rows) == [Settled.NOT_OURS] * 3
    assert shop.delayed == {}


async def test_an_entry_that_is_read_again_is_retried_beside_its_first_retry(shop: Shop) -> None:
    (one,) = shop.deliver(1)
    await retry_later(shop.server, shop.ann, retries=False, entry_id=one, delay=MINUTE, attempt=2)
    shop.command("XGROUP", "SETID", STREAM, GROUP, "0")
    shop.command("XREADGROUP", "GROUP", GROUP, "ann", "STREAMS", STREAM, ">")
    await retry_later(shop.server, shop.ann, retries=False, entry_id=one, delay=MINUTE, attempt=2)
    assert sorted(shop.delayed) == [b"g:" + one, b"g:" + one + b":2"]


@pytest.mark.parametrize("retries", [False, True])
async def test_an_entry_of_somebody_else_is_not_retried(shop: Shop, *, retries: bool) -> None:
    (one,) = shop.deliver(1, retries=retries)
    shop.command("XCLAIM", shop.key(retries=retries), GROUP, "bob", 0, one)
    settled = await retry_later(shop.server, shop.ann, retries=retries, entry_id=one, delay=MINUTE, attempt=2)
    assert settled is Settled.NOT_OURS
    assert shop.delayed == {}
    assert shop.pending(retries=retries)[one].owner == b"bob"


async def test_a_deleted_entry_is_not_retried_and_stays_pending(shop: Shop) -> None:
    (one,) = shop.deliver(1)
    shop.command("XDEL", STREAM, one)
    settled = await retry_later(shop.server, shop.ann, retries=False, entry_id=one, delay=MINUTE, attempt=2)
    assert settled is Settled.GONE
    assert (list(shop.pending()), shop.delayed) == ([one], {})


async def test_a_thousand_retries_take_a_few_calls(shop: Shop) -> None:
    ids = shop.deliver(1_000)
    sent = shop.server.commands_sent
    rows = [ScheduledRetry(one, 1_000, 2) for one in ids]
    assert await retry_all(shop.server, shop.ann, retries=False, rows=rows) == [Settled.DONE] * 1_000
    assert shop.server.commands_sent - sent == 10
    assert len(shop.delayed) == 1_000


async def test_a_retry_costs_the_network_less_than_600_bytes(shop: Shop) -> None:
    first, second = shop.deliver(2)
    await retry_later(shop.server, shop.ann, retries=False, entry_id=first, delay=MINUTE, attempt=2)

    def received() -> int:
        return int(shop.command("INFO", "stats").partition(b"total_net_input_bytes:")[2].split()[0])

    before, own = received(), received()
    await retry_later(shop.server, shop.ann, retries=False, entry_id=second, delay=MINUTE, attempt=2)
    assert received() - own - (own - before) < 600


async def test_large_entries_are_settled_a_few_at_a_time(shop: Shop) -> None:
    ids = shop.deliver(6, "body", "x" * 2_000_000)
    rows = [ScheduledRetry(one, 1_000, 2) for one in ids]
    sent = shop.server.commands_sent
    assert await retry_all(shop.server, shop.ann, retries=False, rows=rows) == [Settled.DONE] * 6
    assert shop.server.commands_sent - sent == 2


async def test_pumps_hear_of_a_retry_that_is_due_first(shop: Shop) -> None:
    ids = shop.deliver(3)
    with shop.running.connect().pubsub() as listener:  # type: ignore[no-untyped-call] # as it is in redis-py
        listener.subscribe(shop.ann.delayed)
        assert listener.get_message(timeout=5)
        for one, delay in zip(ids, (60, 90, 30), strict=True):
            await retry_later(
                shop.server, shop.ann, retries=False, entry_id=one, delay=timedelta(seconds=delay), attempt=2
            )
        heard = [listener.get_message(timeout=1) for _ in range(2)]
        assert listener.get_message(timeout=0) is None
    scores = shop.command("ZRANGE", shop.ann.delayed, 0, -1, "WITHSCORES")[1::2]
    assert [message["data"] for message in heard if message] == [scores[1], scores[0]]


# Dead letters.


@pytest.mark.parametrize("settle", ["retry", "bury"])
@pytest.mark.parametrize(
    ("key", "stays"), [(PAYLOAD, True), ("{other}:payload:7", False), ("session:7", False)]
)
async def test_what_moves_keeps_a_payload_beside_its_stream_and_touches_no_other_key(
    shop: Shop, settle: str, key: str, *, stays: bool
) -> None:
    (one,) = shop.deliver(1, "_so_payload", key)
    shop.command("SET", key, "large", "EX", 60)
    if settle == "retry":
        await retry_later(
            shop.server, shop.ann, retries=False, entry_id=one, delay=MINUTE, attempt=2, payload_key=key
        )
    else:
        await bury(shop.server, shop.ann, retries=False, letter=letter_of(one, payload_key=key))
    assert (shop.command("TTL", key) == -1) is stays


async def test_a_wide_letter_meets_out_of_memory_and_another_type(full_shop: Shop) -> None:
    shop = full_shop
    (one,) = shop.deliver(1, *(["f", "v"] * 5_000))
    shop.command("CONFIG", "SET", "maxmemory", OOM)
    with pytest.raises(ServerError, match="out of memory"):
        await bury(shop.server, shop.ann, retries=False, letter=letter_of(one))
    shop.command("CONFIG", "SET", "maxmemory", "0")
    shop.command("SET", shop.ann.dead_letters, "text")
    with pytest.raises(ServerError):
        await bury(shop.server, shop.ann, retries=False, letter=letter_of(one))
    assert list(shop.pending()) == [one]
    shop.command("DEL", shop.ann.dead_letters)
    assert await bury(shop.server, shop.ann, retries=False, letter=letter_of(one)) is Settled.DONE
    assert len(shop.letters) == 1


async def test_too_many_fields_are_not_retried(shop: Shop) -> None:
    wide, narrow = shop.deliver(1, *(["f", "v"] * 3_899))[0], shop.deliver(1, *(["f", "v"] * 3_898))[0]
    rows = [ScheduledRetry(wide, 1, 2), ScheduledRetry(narrow, 1, 2)]
    words = await retry_all(shop.server, shop.ann, retries=False, rows=rows)
    assert words == [Settled.TOO_WIDE, Settled.DONE]
    assert list(shop.pending()) == [wide]


# Trouble.


async def test_a_replica_does_nothing(full_shop: Shop) -> None:
    shop = full_shop
    (one,) = shop.deliver(1)
    shop.command("REPLICAOF", "127.0.0.1", "1")
    with pytest.raises(ServerError, match="read-only"):
        await bury(shop.server, shop.ann, retries=False, letter=letter_of(one))
    with pytest.raises(ServerError, match="read-only"):
        await retry_later(shop.server, shop.ann, retries=False, entry_id=one, delay=MINUTE, attempt=2)
    assert (list(shop.pending()), shop.letters, shop.delayed) == ([one], [], {})


@pytest.mark.parametrize("denied", ["-xack", "-xdel", "-hdel", "-xadd", "-zadd", "-hset"])
async def test_a_missing_permission_leaves_no_half(shop: Shop, as_user: SetUser, denied: str) -> None:
    (one,) = shop.deliver(1, retries=True)
    connection = await Server.connect(as_user("~*", "&*", "+@all", denied))
    try:
        if denied not in {"-zadd", "-hset"}:
            with pytest.raises(Refused):
                await bury(connection, shop.ann, retries=True, letter=letter_of(one))
        if denied != "-xadd":
            with pytest.raises(Refused):
                await retry_later(connection, shop.ann, retries=True, entry_id=one, delay=MINUTE, attempt=2)
    finally:
        await connection.close()
    assert (list(shop.pending(retries=True)), shop.letters, shop.delayed) == ([one], [], {})


@pytest.mark.parametrize("key", ["{orders}:delayed", "{orders}:delayed:jobs", "{orders}:attempts:g"])
async def test_a_key_of_another_type_leaves_no_half(shop: Shop, key: str) -> None:
    (one,) = shop.deliver(1)
    shop.command("SET", key, "text")
    with pytest.raises(ServerError):
        await retry_later(shop.server, shop.ann, retries=False, entry_id=one, delay=MINUTE, attempt=2)
    assert list(shop.pending()) == [one]
    assert shop.command("DBSIZE") == 3


async def test_a_queue_of_another_type_leaves_no_half(shop: Shop) -> None:
    (one,) = shop.deliver(1)
    shop.command("SET", shop.ann.dead_letters, "text")
    with pytest.raises(ServerError):
        await bury(shop.server, shop.ann, retries=False, letter=letter_of(one))
    assert list(shop.pending()) == [one]
