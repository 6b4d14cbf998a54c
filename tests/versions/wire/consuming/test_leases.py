"""Renewing leases, giving entries back, leaving a group."""

from datetime import timedelta

import pytest

from streamops.model.deliveries import DeadLetterDraft, Settled
from streamops.wire.consuming.claiming import take_idle
from streamops.wire.consuming.leases import leave, release, release_all, renew
from tests.support.wire.consuming.settling import bury
from tests.support.wire.consuming.shop import GROUP, MINUTE_MS, STREAM, Shop

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


@pytest.mark.parametrize("retries", [False, True])
async def test_renewed_entries_look_fresh_and_their_count_stays(shop: Shop, *, retries: bool) -> None:
    ids = shop.deliver(3, retries=retries)
    shop.rest(ids, MINUTE_MS, retries=retries)
    renewed = await renew(shop.server, shop.ann, retries=retries, ids=ids[:2])
    assert (renewed.lost, renewed.gone) == ((), ())
    idles = [row.idle_ms for row in shop.pending(retries=retries).values()]
    assert [idle < MINUTE_MS / 2 for idle in idles] == [True, True, False]
    assert shop.deliveries(*ids, retries=retries) == [1, 1, 1]


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
    letter = DeadLetterDraft(ids[2], "rejected", "no", deliveries=1, attempt=1)
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


async def test_released_entries_are_taken_at_once_and_their_count_stays(shop: Shop) -> None:
    ids = shop.deliver(3)
    await release(shop.server, shop.ann, retries=False, ids=ids[:2])
    assert shop.deliveries(*ids) == [1, 1, 1]
    recovered = await take_idle(shop.server, shop.bob, retries=False, min_idle=timedelta(days=1), limit=10)
    assert [taken.id for taken in recovered.entries] == ids[:2]
    assert shop.pending()[ids[2]].owner == b"ann"


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
