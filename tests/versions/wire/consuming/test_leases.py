"""Renewing leases, giving entries back, leaving a group."""

from datetime import timedelta

import pytest

from streamops.model.deliveries import Letter, Registered, Settled
from streamops.wire.consuming.leases import leave, register, release, release_all, renew
from streamops.wire.consuming.settling import bury
from streamops.wire.consuming.taking import take_idle
from tests.support.wire.consuming.shop import GROUP, STREAM, Shop

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


MINUTE_MS = 60_000


@pytest.mark.parametrize("retries", [False, True])
async def test_renewed_entries_look_fresh_and_their_count_stays(shop: Shop, *, retries: bool) -> None:
    ids = shop.deliver(3, retries=retries)
    shop.rest(ids, MINUTE_MS, retries=retries)
    renewed = await renew(shop.server, shop.ann, retries=retries, ids=ids[:2])
    assert (renewed.lost, renewed.gone) == ((), ())
    idles = [row.idle_ms for row in shop.pending(retries=retries).values()]
    assert [idle < MINUTE_MS / 2 for idle in idles] == [True, True, False]
    assert shop.deliveries(*ids, retries=retries) == [1, 1, 1]


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


async def test_deleted_entries_are_told_of_and_stay_pending(shop: Shop) -> None:
    ids = shop.deliver(5)
    shop.rest(ids, MINUTE_MS)
    shop.command("XDEL", STREAM, ids[2])
    shop.command("XTRIM", STREAM, "MINID", ids[1])
    for renewing in (renew, release):
        renewed = await renewing(shop.server, shop.ann, retries=False, ids=ids)
        assert (renewed.lost, renewed.gone) == ((), (ids[0], ids[2]))
        rows = shop.pending()
        assert list(rows) == ids
        assert [one for one in ids if MINUTE_MS <= rows[one].idle_ms < 2 * MINUTE_MS] == [ids[0], ids[2]]
    assert await release_all(shop.server, shop.ann, retries=False) == 3
    assert list(shop.pending()) == ids
    letter = Letter(ids[2], "rejected", "no", deliveries=1, attempt=1)
    assert await bury(shop.server, shop.ann, retries=False, letter=letter) is Settled.GONE
    assert len(shop.letters) == 1


async def test_entries_that_were_never_started_count_as_never_delivered(shop: Shop) -> None:
    ids = shop.deliver(2)
    await release(shop.server, shop.ann, retries=False, ids=ids[:1], unstarted=True)
    assert shop.deliveries(*ids) == [0, 1]
    (taken,) = (
        await take_idle(shop.server, shop.bob, retries=False, min_idle=timedelta(days=1), limit=10)
    ).entries
    assert (taken.id, taken.deliveries) == (ids[0], 1)


@pytest.mark.parametrize("retries", [False, True])
async def test_entries_of_a_destroyed_group_are_registered_where_they_are_nobodys(
    shop: Shop, *, retries: bool
) -> None:
    key, ids = shop.key(retries=retries), shop.deliver(5, retries=retries)
    shop.command("XGROUP", "DESTROY", key, GROUP)
    rows = [(one, number) for number, one in enumerate(ids, start=1)]
    assert (await register(shop.server, shop.ann, retries=retries, entries=rows)).group_gone
    shop.command("XGROUP", "CREATE", key, GROUP, ids[3])
    lost = await renew(shop.server, shop.ann, retries=retries, ids=ids)
    assert (lost.lost, lost.bereft) == (tuple(ids), True)
    shop.command("XREADGROUP", "GROUP", GROUP, "bob", "STREAMS", key, ">")
    shop.command("XDEL", key, ids[1])
    registered = await register(shop.server, shop.ann, retries=retries, entries=rows)
    assert registered == Registered((ids[0], ids[2], ids[3]), (ids[4],), (ids[1],))
    assert shop.deliveries(ids[0], ids[2], ids[3], ids[4], retries=retries) == [1, 3, 4, 1]
    again = await register(shop.server, shop.ann, retries=retries, entries=rows)
    assert again == registered
    assert not (await renew(shop.server, shop.ann, retries=retries, ids=[ids[4]])).bereft


async def test_a_thousand_leases_are_renewed_in_one_call(shop: Shop) -> None:
    ids = shop.deliver(2_100)
    sent = shop.server.commands_sent
    renewed = await renew(shop.server, shop.ann, retries=False, ids=ids)
    assert (renewed.lost, renewed.gone) == ((), ())
    assert shop.server.commands_sent - sent == 3


async def test_released_entries_are_taken_at_once_and_their_count_stays(shop: Shop) -> None:
    ids = shop.deliver(3)
    await release(shop.server, shop.ann, retries=False, ids=ids[:2])
    assert shop.deliveries(*ids) == [1, 1, 1]
    takings = await take_idle(shop.server, shop.bob, retries=False, min_idle=timedelta(days=1), limit=10)
    assert [taken.id for taken in takings.entries] == ids[:2]
    assert shop.pending()[ids[2]].owner == b"ann"


async def test_everything_but_what_is_kept_is_released(shop: Shop) -> None:
    ids = shop.deliver(2_050)
    others = shop.deliver(1, to="bob")
    released = await release_all(shop.server, shop.ann, retries=False, keep=ids[::41])
    assert released == 2_000
    rows = shop.pending()
    assert [one for one in ids if rows[one].idle_ms < MINUTE_MS] == ids[::41]
    assert rows[others[0]].idle_ms < MINUTE_MS
    assert {row.deliveries for row in rows.values()} == {1}


async def test_a_consumer_leaves_only_with_empty_hands(shop: Shop) -> None:
    (one,) = shop.deliver(1)
    (other,) = shop.deliver(1, retries=True)
    assert not await leave(shop.server, shop.ann)
    shop.command("XACK", STREAM, GROUP, one)
    assert not await leave(shop.server, shop.ann)
    assert other in shop.pending(retries=True)
    shop.command("XACK", shop.ann.retries, GROUP, other)
    assert await leave(shop.server, shop.ann)
    for key in (STREAM, shop.ann.retries):
        assert shop.command("XINFO", "CONSUMERS", key, GROUP) == []
    assert await leave(shop.server, shop.ann)


async def test_a_dead_consumer_is_removed_from_one_stream(shop: Shop) -> None:
    (one,) = shop.deliver(1)
    shop.deliver(1, retries=True)
    for retries in (False, True):
        assert not await leave(shop.server, shop.bob, consumer="ann", retries=retries)
    shop.command("XACK", STREAM, GROUP, one)
    assert await leave(shop.server, shop.bob, consumer="ann", retries=False)
    assert shop.command("XINFO", "CONSUMERS", STREAM, GROUP) == []
    assert len(shop.pending(retries=True)) == 1


async def test_without_ids_everything_is_released(shop: Shop) -> None:
    shop.deliver(3)
    shop.deliver(1, to="bob")
    await release(shop.server, shop.ann, retries=False, ids=None)
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
