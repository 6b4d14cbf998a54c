"""Burying entries: the letter, all that is in it, and that it is there once."""

from datetime import UTC, datetime

import pytest

from streamops.model.deliveries import Settled
from streamops.wire.consuming.settling import dead_letter_all
from tests.support.wire.consuming.settling import BINARY, about, bury, letter_of
from tests.support.wire.consuming.shop import GUARD, STREAM, Shop

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


async def test_a_letter_has_all_fields_and_what_is_known_of_why(shop: Shop) -> None:
    (one,) = shop.deliver(1, *BINARY)
    shop.mark(one, 1)
    letter = letter_of(one, error="no \udcff way")
    assert await bury(shop.server, shop.ann, retries=False, letter=letter) is Settled.DONE
    ((number, fields),) = shop.entries(shop.ann.dead_letters)
    assert fields[: len(BINARY)] == BINARY
    told = about(fields, len(BINARY))
    failed_at = datetime.fromisoformat(told.pop(b"_so_failed_at").decode())
    assert failed_at.replace(microsecond=0) == datetime.fromtimestamp(int(number.split(b"-")[0]) // 1000, UTC)
    assert told == {
        b"_so_origin": b"orders",
        b"_so_origin_id": one,
        b"_so_group": b"g",
        b"_so_consumer": b"ann",
        b"_so_reason": b"rejected",
        b"_so_error": b"no \xff way",
        b"_so_deliveries": b"2",
        b"_so_attempt": b"3",
    }
    assert (shop.pending(), shop.marks) == ({}, {})
    assert len(shop.entries(STREAM)) == 1


@pytest.mark.parametrize("retries", [False, True])
async def test_a_deleted_entry_leaves_a_letter_without_fields(shop: Shop, *, retries: bool) -> None:
    (one,) = shop.deliver(1, retries=retries)
    shop.command("XDEL", shop.key(retries=retries), one)
    letter = letter_of(one, origin_id="7-0")
    assert await bury(shop.server, shop.ann, retries=retries, letter=letter) is Settled.GONE
    (fields,) = shop.letters
    told = about(fields, 0)
    assert told[b"_so_reason"] == b"payload-missing"
    assert told[b"_so_origin_id"] == (b"7-0" if retries else one)
    assert shop.pending(retries=retries) == {}


@pytest.mark.parametrize("pairs", [3_891, 3_892, 9_000])
@pytest.mark.parametrize("retries", [False, True])
async def test_entries_of_thousands_of_fields_are_buried(shop: Shop, pairs: int, *, retries: bool) -> None:
    narrow, wide, last = (
        shop.deliver(1, *fields, retries=retries)[0]
        for fields in (["a", "b"], ["f", "v"] * pairs, ["c", "d"])
    )
    shop.command("SET", GUARD, wide)
    letters = [letter_of(one, guard_key=GUARD) for one in (narrow, wide, last)]
    assert await dead_letter_all(shop.server, shop.ann, retries=retries, rows=letters) == [Settled.DONE] * 3
    found = {
        dict(zip(fields[-18::2], fields[-17::2], strict=True))[b"_so_origin_id"]: fields
        for fields in shop.letters
    }
    assert found[wide][:-18] == [b"f", b"v"] * pairs
    assert len(found) == 3
    assert (shop.pending(retries=retries), shop.command("EXISTS", GUARD)) == ({}, 0)
    again = await dead_letter_all(shop.server, shop.ann, retries=retries, rows=letters)
    assert again == [Settled.NOT_OURS] * 3
    assert len(shop.letters) == 3
