"""Renewing leases, giving entries back, leaving a group."""

import pytest

from streamops.model.deliveries import Registered
from streamops.wire.consuming.leases import leave, register, release, release_all, renew
from tests.support.wire.consuming.shop import GROUP, MINUTE_MS, STREAM, Shop


async def test_entries_that_are_not_ours_are_lost_and_untouched(shop: Shop) -> None:
    ids = shop.deliver(4)
    shop.command("XCLAIM", STREAM, GROUP, "bob", 0, ids[1], "IDLE", MINUTE_MS, "JUSTID")
    shop.command("XACK", STREAM, GROUP, ids[2])
    for renewing in (renew, release):
        renewed = await renewing(shop.server, shop.ann, retries=False, ids=[*ids, b"1-1"])
        assert renewed.lost == (ids[1], ids[2], b"1-1")
        row = shop.pending()[ids[1]]
        assert row.owner == b"bob"
        assert MINUTE_MS <= row.idle_ms < 2 * MINUTE_MS


@pytest.mark.parametrize("retries", [False, True])
async def test_entries_of_a_destroyed_group_are_registered_where_they_are_nobodys(
    shop: Shop, *, retries: bool
) -> None:
    key, ids = shop.key(retries=retries), shop.deliver(5, retries=retries)
    shop.command("XGROUP", "DESTROY", key, GROUP)
    rows = [(one, number) for number, one in enumerate(ids, start=1)]
    assert await register(shop.server, shop.ann, retries=retries, entries=rows) == Registered()
    shop.command("XGROUP", "CREATE", key, GROUP, ids[3])
    lost = await renew(shop.server, shop.ann, retries=retries, ids=ids)
    assert (lost.lost, lost.group_lost) == (tuple(ids), True)
    shop.command("XREADGROUP", "GROUP", GROUP, "bob", "STREAMS", key, ">")
    shop.command("XDEL", key, ids[1])
    registered = await register(shop.server, shop.ann, retries=retries, entries=rows)
    assert registered == Registered((ids[0], ids[2], ids[3]), (ids[4],), (ids[1],))
    assert shop.deliveries(ids[0], ids[2], ids[3], ids[4], retries=retries) == [1, 3, 4, 1]
    again = await register(shop.server, shop.ann, retries=retries, entries=rows)
    assert again == registered
    assert not (await renew(shop.server, shop.ann, retries=retries, ids=[ids[4]])).group_lost


async def test_a_thousand_leases_are_renewed_in_one_call(shop: Shop) -> None:
    ids = shop.deliver(2_100)
    sent = shop.server.commands_sent
    renewed = await renew(shop.server, shop.ann, retries=False, ids=ids)
    assert (renewed.lost, renewed.gone) == ((), ())
    assert shop.server.commands_sent - sent == 3


async def test_everything_but_what_is_kept_is_released(shop: Shop) -> None:
    ids = shop.deliver(1_025)
    others = shop.deliver(1, to="bob")
    released = await release_all(shop.server, shop.ann, retries=False, keep=ids[::41])
    assert released == 1_000
    rows = shop.pending()
    assert [one for one in ids if rows[one].idle_ms < MINUTE_MS] == ids[::41]
    assert rows[others[0]].idle_ms < MINUTE_MS
    assert {row.deliveries for row in rows.values()} == {1}


async def test_a_dead_consumer_is_removed_from_one_stream(shop: Shop) -> None:
    (one,) = shop.deliver(1)
    shop.deliver(1, retries=True)
    for retries in (False, True):
        assert not await leave(shop.server, shop.bob, consumer="ann", retries=retries)
    shop.command("XACK", STREAM, GROUP, one)
    assert await leave(shop.server, shop.bob, consumer="ann", retries=False)
    assert shop.command("XINFO", "CONSUMERS", STREAM, GROUP) == []
    assert len(shop.pending(retries=True)) == 1


async def test_everything_is_released(shop: Shop) -> None:
    shop.deliver(3)
    shop.deliver(1, to="bob")
    await release_all(shop.server, shop.ann, retries=False)
    assert [row.idle_ms > MINUTE_MS for row in shop.pending().values()] == [True, True, True, False]


async def test_where_the_group_is_gone_everything_is_lost_and_left(shop: Shop) -> None:
    ids = shop.deliver(2)
    shop.deliver(1, retries=True)
    shop.command("XGROUP", "DESTROY", STREAM, GROUP)
    assert (await renew(shop.server, shop.ann, retries=False, ids=ids)).lost == tuple(ids)
    assert (await release(shop.server, shop.ann, retries=False, ids=ids)).lost == tuple(ids)
    assert await release_all(shop.server, shop.ann, retries=False) == 0
    assert not await leave(shop.server, shop.ann)
    shop.command("DEL", shop.ann.retries)
    assert await leave(shop.server, shop.ann)
