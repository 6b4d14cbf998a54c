"""Taking pending entries over."""

import pytest

from streamops.model.deliveries import RecoveredPage, TakenEntry
from streamops.wire.consuming.claiming import recover_own, take_idle
from tests.support.wire.consuming.claiming import HOUR_MS, ZERO, ids_of, take_all, take_from_ann
from tests.support.wire.consuming.shop import GROUP, STREAM, Shop

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


@pytest.mark.parametrize("retries", [False, True])
async def test_a_dead_consumers_entries_are_taken_with_counts_and_marks(shop: Shop, *, retries: bool) -> None:
    first, second = shop.deliver(2, b"n", b"1", b"n", b"\xff\x00", retries=retries)
    (others,) = shop.deliver(1, to="carl", retries=retries)
    shop.mark((b"retry:" if retries else b"") + second, 3)
    shop.mark((b"" if retries else b"retry:") + first, 9)
    recovered = await take_idle(shop.server, shop.bob, retries=retries, owner="ann", min_idle=ZERO, limit=9)
    fields = [b"n", b"1", b"n", b"\xff\x00"]
    assert recovered == RecoveredPage((TakenEntry(first, fields, 2, 0), TakenEntry(second, fields, 2, 3)))
    rows = shop.pending(retries=retries)
    assert [rows[one].owner for one in (first, second, others)] == [b"bob", b"bob", b"carl"]
    assert shop.deliveries(first, second, others, retries=retries) == [2, 2, 1]


async def test_own_orphans_are_adopted_and_what_is_in_hand_is_not(shop: Shop) -> None:
    ids = shop.deliver(5)
    in_flight = {ids[0], ids[2]}
    recovered = await recover_own(shop.server, shop.ann, retries=False, limit=2, in_flight=in_flight)
    assert ids_of(recovered) == [ids[1], ids[3]]
    rest = await recover_own(
        shop.server,
        shop.ann,
        retries=False,
        limit=2,
        after=recovered.next,
        in_flight={*in_flight, ids[1], ids[3]},
    )
    assert ids_of(rest) == [ids[4]]
    assert rest.next == ""
    assert shop.deliveries(*ids) == [1, 2, 1, 2, 2]


async def test_deleted_entries_are_told_of_once_and_never_again(shop: Shop) -> None:
    ids = shop.deliver(30)
    doomed = ids[::2]
    shop.command("XDEL", STREAM, *doomed)
    shop.rest(ids[1::2], 2 * HOUR_MS)
    shop.mark(doomed[0], 2)
    calls = await take_all(shop, limit=4, min_idle=ZERO)
    assert ids_of(*calls) == ids[1::2]
    assert [one for call in calls for one in call.gone] == [(one, 1) for one in doomed]
    assert list(shop.pending()) == ids[1::2]
    assert shop.marks == {}
    again = await take_idle(shop.server, shop.ann, retries=False, owner="bob", min_idle=ZERO, limit=100)
    assert again.gone == ()


async def test_counts_beyond_any_measure_are_bounded(shop: Shop) -> None:
    (one,) = shop.deliver(1)
    shop.command("XCLAIM", STREAM, GROUP, "ann", 0, one, "RETRYCOUNT", 2**63 - 1, "JUSTID")
    (taken,) = (await take_from_ann(shop, shop.bob)).entries
    assert taken.deliveries == 2**52 + 1
