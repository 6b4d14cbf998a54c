"""Taking pending entries over."""

import pytest

from streamops.errors import NotFound
from streamops.model.deliveries import RecoveredPage
from streamops.wire.consuming.claiming import START, group_consumers, recover_own, take_idle
from streamops.wire.consuming.subscription import Subscription
from tests.support.wire.consuming.claiming import (
    HOUR,
    HOUR_MS,
    ZERO,
    ids_of,
    own_pending,
    take_all,
    take_from_ann,
)
from tests.support.wire.consuming.shop import GROUP, STREAM, Shop


async def test_orphans_among_thousands_in_hand_are_found(shop: Shop) -> None:
    ids = shop.deliver(1_250)
    orphans, found, after = {*ids[::250], ids[-1]}, list[bytes](), START
    in_flight = {*ids} - orphans
    shop.command("XDEL", STREAM, ids[250])
    gone = list[bytes]()
    while after:
        recovered = await recover_own(
            shop.server, shop.ann, retries=False, limit=100, after=after, in_flight=in_flight
        )
        assert recovered.next != after
        found, after = found + ids_of(recovered), recovered.next
        gone += [one for one, _ in recovered.gone]
    assert found == [one for one in ids if one in orphans and one != ids[250]]
    assert gone == [ids[250]]
    assert {row.owner for row in shop.pending().values()} == {b"ann"}


async def test_orphans_are_taken_within_bounds(shop: Shop) -> None:
    ids, found, after, calls = shop.deliver(6, b"f", b"x" * 10_000), list[bytes](), START, 0
    while after:
        recovered = await recover_own(
            shop.server, shop.ann, retries=False, limit=5, after=after, in_flight=(), most_bytes=15_000
        )
        found, after, calls = found + ids_of(recovered), recovered.next, calls + 1
    assert found == ids
    assert calls > 2
    rested = shop.deliver(2)
    shop.rest(rested[:1], HOUR_MS)
    recovered = await recover_own(shop.server, shop.ann, retries=False, limit=9, in_flight=(), min_idle=HOUR)
    assert ids_of(recovered) == rested[:1]


async def test_only_idle_entries_of_others_are_taken(shop: Shop) -> None:
    idle = shop.deliver(3)
    fresh = shop.deliver(3)
    ours = shop.deliver(2, to="bob")
    shop.rest([*idle, *ours], 2 * HOUR_MS)
    (recovered,) = await take_all(shop)
    assert ids_of(recovered) == idle
    assert shop.deliveries(*fresh, *ours) == [1] * 5


async def test_of_two_that_take_the_same_one_gets_them(shop: Shop) -> None:
    ids = shop.deliver(4)
    assert ids_of(await take_from_ann(shop, shop.bob)) == ids
    carl = Subscription(STREAM, GROUP, "carl")
    assert await take_from_ann(shop, carl) == RecoveredPage()


async def test_a_walk_ends_and_passes_every_row_once(shop: Shop) -> None:
    ids = shop.deliver(1_200)
    idle = ids[::7]
    shop.rest(idle, 2 * HOUR_MS)
    calls = await take_all(shop, limit=50)
    assert ids_of(*calls) == idle
    assert all(len(call.entries) <= 50 for call in calls)
    assert ids_of(*await take_all(shop)) == []


async def test_a_list_of_deleted_entries_alone_comes_to_an_end(shop: Shop) -> None:
    ids = shop.deliver(1_500)
    shop.command("XTRIM", STREAM, "MAXLEN", 0)
    calls = await take_all(shop, limit=10, min_idle=ZERO)
    assert len(calls) == 2
    assert sum(len(call.gone) for call in calls) == len(ids)
    assert shop.pending() == {}


async def test_bytes_are_bounded_and_one_entry_always_comes(shop: Shop) -> None:
    large = "x" * 300_000
    ids = shop.deliver(6, "body", large)
    calls = await take_all(shop, min_idle=ZERO, most=400_000)
    assert ids_of(*calls) == ids
    assert [len(call.entries) for call in calls] == [2, 2, 2]
    again = await take_idle(
        shop.server, shop.ann, retries=False, owner="bob", min_idle=ZERO, limit=100, most_bytes=1
    )
    assert ids_of(again) == ids[:1]


async def test_the_very_last_id_ends_a_walk(shop: Shop) -> None:
    last = b"18446744073709551615-18446744073709551615"
    shop.command("XADD", STREAM, last, "f", "v")
    shop.command("XREADGROUP", "GROUP", GROUP, "ann", "STREAMS", STREAM, ">")
    recovered = await take_from_ann(shop, shop.bob, limit=1)
    assert (ids_of(recovered), recovered.next) == ([last], "")


async def test_where_the_group_is_gone_there_is_nothing(shop: Shop) -> None:
    shop.deliver(1)
    shop.command("XGROUP", "DESTROY", STREAM, GROUP)
    shop.command("DEL", shop.ann.retries)
    for retries in (False, True):
        assert (
            await take_idle(shop.server, shop.bob, retries=retries, min_idle=ZERO, limit=5) == RecoveredPage()
        )
        assert await own_pending(shop.server, shop.ann, retries=retries) == []
        assert await group_consumers(shop.server, shop.ann, retries=retries) == ()


async def test_another_type_is_an_error(shop: Shop) -> None:
    shop.command("SET", "text", "x")
    with pytest.raises(NotFound):
        await take_idle(shop.server, Subscription("text", GROUP, "a"), retries=False, min_idle=ZERO, limit=5)


async def test_own_pending_walks_all_pages(shop: Shop) -> None:
    ids = shop.deliver(1_001)
    shop.deliver(3, to="bob")
    assert await own_pending(shop.server, shop.ann, retries=False) == ids


async def test_consumers_are_told_with_and_without_anything_pending(shop: Shop) -> None:
    shop.deliver(2)
    shop.command("XGROUP", "CREATECONSUMER", STREAM, GROUP, "bob")
    consumers = await group_consumers(shop.server, shop.ann, retries=False)
    assert [(one.name, one.pending) for one in consumers] == [("ann", 2), ("bob", 0)]
