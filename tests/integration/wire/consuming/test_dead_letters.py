"""Burying entries: the letter, all that is in it, and that it is there once."""

import pytest

from streamops.model.dead_letters import DeadLetterShape, read_dead_letter
from streamops.model.deliveries import Settled
from streamops.model.entries import EntryId, StreamEntry
from streamops.wire.consuming.settling import dead_letter_all
from tests.support.wire.consuming.settling import BINARY, PAIRS, about, bury, letter_of
from tests.support.wire.consuming.shop import GROUP, GUARD, STREAM, Shop


@pytest.mark.parametrize("noted", [False, True])
async def test_a_letter_tells_an_earlier_id_only_where_the_worker_knows_it(
    shop: Shop, *, noted: bool
) -> None:
    (one,) = shop.deliver(1, *BINARY, "_so_origin_id", "5-0", "_so_replay_of", "6-0")
    letter = letter_of(one, origin_id="5-0" if noted else one.decode())
    await bury(shop.server, shop.ann, retries=False, letter=letter)
    ((number, flat),) = shop.entries(shop.ann.dead_letters)
    entry = StreamEntry(EntryId.parse(number), tuple(zip(flat[::2], flat[1::2], strict=True)))
    told = read_dead_letter(entry, shop.ann.dead_letters, None)
    assert told.shape is DeadLetterShape.OURS
    assert (told.origin, told.group, told.consumer) == (STREAM, GROUP, "ann")
    assert (told.origin_id, told.born_id) == (
        EntryId.parse(one),
        EntryId(5, 0) if noted else EntryId.parse(one),
    )
    assert (told.deliveries, told.attempt, told.replays) == (2, 3, 1)
    assert told.fields == (*PAIRS, (b"_so_replay_of", b"6-0"))


async def test_a_retry_is_buried_as_the_entry_that_it_was(shop: Shop) -> None:
    fields = ("f", "v", "_so_replay_of", "6-0", "_so_origin_id", "7-0", "_so_attempt", "2")
    (one,) = shop.deliver(1, *fields, retries=True)
    assert (
        await bury(shop.server, shop.ann, retries=True, letter=letter_of(one, origin_id="7-0"))
        is Settled.DONE
    )
    (fields_found,) = shop.letters
    assert fields_found[:4] == [b"f", b"v", b"_so_replay_of", b"6-0"]
    told = about(fields_found, 4)
    assert (told[b"_so_origin"], told[b"_so_origin_id"]) == (b"orders", b"7-0")
    assert fields_found.count(b"_so_attempt") == 1
    assert (shop.entries(shop.ann.retries), shop.pending(retries=True)) == ([], {})


async def test_a_repeated_call_writes_no_second_letter(shop: Shop) -> None:
    ids = shop.deliver(3)
    letters = [letter_of(one) for one in ids]
    assert await dead_letter_all(shop.server, shop.ann, retries=False, rows=letters[:2]) == [Settled.DONE] * 2
    words = await dead_letter_all(shop.server, shop.ann, retries=False, rows=letters)
    assert words == [Settled.NOT_OURS, Settled.NOT_OURS, Settled.DONE]
    assert len(shop.letters) == 3


@pytest.mark.parametrize("retries", [False, True])
async def test_an_entry_of_somebody_else_is_not_buried(shop: Shop, *, retries: bool) -> None:
    (one,) = shop.deliver(1, retries=retries)
    shop.command("SET", GUARD, one)
    shop.command("XCLAIM", shop.key(retries=retries), GROUP, "bob", 0, one)
    letter = letter_of(one, guard_key=GUARD)
    assert await bury(shop.server, shop.ann, retries=retries, letter=letter) is Settled.NOT_OURS
    assert shop.letters == []
    assert shop.pending(retries=retries)[one].owner == b"bob"
    assert shop.command("GET", GUARD) == one


@pytest.mark.parametrize(("holder", "freed"), [("7-0", True), ("8-0", False)])
async def test_a_letter_frees_its_own_guard_alone(shop: Shop, holder: str, *, freed: bool) -> None:
    (one,) = shop.deliver(1, "f", "v", "_so_origin_id", "7-0", retries=True)
    shop.command("SET", GUARD, holder)
    await bury(shop.server, shop.ann, retries=True, letter=letter_of(one, guard_key=GUARD, origin_id="7-0"))
    assert shop.command("EXISTS", GUARD) == int(not freed)


async def test_a_thousand_letters_take_a_few_calls(shop: Shop) -> None:
    ids = shop.deliver(1_000)
    sent = shop.server.commands_sent
    letters = [letter_of(one, guard_key=f"{{orders}}:done:g:{at}") for at, one in enumerate(ids)]
    assert await dead_letter_all(shop.server, shop.ann, retries=False, rows=letters) == [Settled.DONE] * 1_000
    assert shop.server.commands_sent - sent == 10
    assert [about(fields, 2)[b"_so_origin_id"] for fields in shop.letters] == ids


async def test_a_wide_letter_that_was_written_before_a_crash_is_not_written_again(shop: Shop) -> None:
    (one,) = shop.deliver(1, *(["f", "v"] * 5_000))
    for _ in range(2):
        assert await bury(shop.server, shop.ann, retries=False, letter=letter_of(one)) is Settled.DONE
        shop.command("XCLAIM", STREAM, GROUP, "ann", 0, one, "FORCE", "JUSTID")
    assert len(shop.letters) == 1
