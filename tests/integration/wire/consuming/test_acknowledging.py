"""Acknowledging entries."""

import pytest

from streamops.errors import NotFound
from streamops.wire.consuming.entries import AckRow, acknowledge_checked, acknowledge_plain
from tests.support.wire.consuming.shop import GROUP, PAYLOAD, STREAM, Shop


async def test_only_our_own_entries_are_acknowledged(shop: Shop) -> None:
    ids = shop.deliver(3)
    shop.command("XCLAIM", STREAM, GROUP, "bob", 0, ids[1])
    done = await acknowledge_checked(shop.server, shop.ann, retries=False, rows=[AckRow(one) for one in ids])
    assert (done.acknowledged, done.lost) == (2, (ids[1],))
    assert list(shop.pending()) == [ids[1]]
    again = await acknowledge_checked(shop.server, shop.ann, retries=False, rows=[AckRow(one) for one in ids])
    assert (again.acknowledged, again.lost) == (0, tuple(ids))
    assert list(shop.pending()) == [ids[1]]


@pytest.mark.parametrize("retries", [False, True])
@pytest.mark.parametrize("others", [False, True])
async def test_a_payload_goes_unless_another_group_needs_it(
    shop: Shop, *, retries: bool, others: bool
) -> None:
    if others:
        shop.command("XGROUP", "CREATE", STREAM, "others", "0")
    (one,) = shop.deliver(1, "_so_payload", PAYLOAD, retries=retries)
    shop.command("SET", PAYLOAD, "large")
    await acknowledge_checked(shop.server, shop.ann, retries=retries, rows=[AckRow(one, PAYLOAD)])
    assert shop.command("EXISTS", PAYLOAD) == int(others)


async def test_the_payload_of_an_entry_that_is_not_ours_stays(shop: Shop) -> None:
    (one,) = shop.deliver(1, "_so_payload", PAYLOAD, to="bob")
    shop.command("SET", PAYLOAD, "large")
    await acknowledge_checked(shop.server, shop.ann, retries=False, rows=[AckRow(one, PAYLOAD)])
    assert shop.command("EXISTS", PAYLOAD) == 1


@pytest.mark.parametrize("key", [STREAM, "{orders}:dlq", "precious", "{other}:payload:7"])
async def test_no_key_but_a_payload_beside_the_stream_is_deleted(shop: Shop, key: str) -> None:
    (one,) = shop.deliver(1, "_so_payload", key)
    shop.command("SET" if key != STREAM else "EXISTS", key, *(["x"] if key != STREAM else []))
    done = await acknowledge_checked(shop.server, shop.ann, retries=False, rows=[AckRow(one, key)])
    assert done.acknowledged == 1
    assert shop.command("EXISTS", key) == 1


async def test_many_are_acknowledged_in_few_calls(shop: Shop) -> None:
    ids = shop.deliver(1_200)
    sent = shop.server.commands_sent
    done = await acknowledge_checked(shop.server, shop.ann, retries=False, rows=[AckRow(one) for one in ids])
    assert (done.acknowledged, done.lost) == (1_200, ())
    assert shop.server.commands_sent - sent == 3
    assert shop.pending() == {}


async def test_where_the_group_is_gone_all_are_lost(shop: Shop) -> None:
    ids = shop.deliver(2)
    shop.command("XGROUP", "DESTROY", STREAM, GROUP)
    done = await acknowledge_checked(shop.server, shop.ann, retries=False, rows=[AckRow(one) for one in ids])
    assert (done.acknowledged, done.lost) == (0, tuple(ids))


async def test_another_type_is_an_error(shop: Shop) -> None:
    shop.command("DEL", STREAM)
    shop.command("SET", STREAM, "x")
    with pytest.raises(NotFound):
        await acknowledge_plain(shop.server, shop.ann, [b"1-1"], 0)
    with pytest.raises(NotFound):
        await acknowledge_checked(shop.server, shop.ann, retries=False, rows=[AckRow(b"1-1")])
