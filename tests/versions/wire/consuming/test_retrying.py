"""Settling what failed: marks, retries, dead letters."""

import pytest

from streamops.errors import ServerError
from streamops.model.delayed import DelayedBody
from streamops.model.deliveries import Settled, Start
from streamops.wire.consuming.settling import mark_starts
from tests.support.wire.consuming.settling import (
    BINARY,
    MINUTE,
    OOM,
    PAIRS,
    WEEK,
    bury,
    letter_of,
    mark_start,
    retry_later,
)
from tests.support.wire.consuming.shop import GROUP, GUARD, STREAM, Shop

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


# Marks.


async def test_starts_of_others_are_not_marked(shop: Shop) -> None:
    first, second = shop.deliver(2)
    shop.command("XCLAIM", STREAM, GROUP, "bob", 0, second)
    rows = [Start(first, 0), Start(second, 0), Start(b"1-1", 0)]
    marks = await mark_starts(shop.server, shop.ann, retries=False, rows=rows, ttl=WEEK)
    assert marks == [1, Settled.NOT_OURS, Settled.NOT_OURS]
    assert list(shop.marks) == [first]
    shop.command("XGROUP", "DESTROY", STREAM, GROUP)
    marks = await mark_starts(shop.server, shop.ann, retries=False, rows=rows, ttl=WEEK)
    assert marks == [Settled.GROUP_GONE] * 3


# Retries.


async def test_a_retry_waits_with_its_fields_and_who_it_is_for(shop: Shop) -> None:
    (one,) = shop.deliver(1, *BINARY)
    shop.mark(one, 1)
    before = int(shop.command("TIME")[0]) * 1000
    settled = await retry_later(shop.server, shop.ann, retries=False, entry_id=one, delay=MINUTE, attempt=2)
    assert settled is Settled.DONE
    assert shop.delayed == {b"g:" + one: DelayedBody(shop.ann.retries, PAIRS, GROUP, 2, one.decode())}
    assert 0 <= int(shop.command("ZSCORE", shop.ann.delayed, b"g:" + one)) - before - 60_000 < 5_000
    assert (shop.pending(), shop.marks) == ({}, {})
    assert [each for each, _ in shop.entries(STREAM)] == [one]


# Dead letters.


async def test_where_the_group_is_gone_nothing_is_done(shop: Shop) -> None:
    (one,) = shop.deliver(1)
    shop.command("XGROUP", "DESTROY", STREAM, GROUP)
    for _ in range(2):
        settled = await retry_later(
            shop.server, shop.ann, retries=False, entry_id=one, delay=MINUTE, attempt=2
        )
        assert settled is Settled.GROUP_GONE
        buried = await bury(shop.server, shop.ann, retries=False, letter=letter_of(one))
        assert buried is Settled.GROUP_GONE
        shop.command("DEL", STREAM)
    assert (shop.letters, shop.delayed) == ([], {})


# Trouble.


async def test_out_of_memory_leaves_everything_as_it_was(full_shop: Shop) -> None:
    shop = full_shop
    (one,) = shop.deliver(1)
    shop.command("SET", GUARD, one)
    letter = letter_of(one, guard_key=GUARD)
    shop.command("CONFIG", "SET", "maxmemory", OOM)
    with pytest.raises(ServerError, match="out of memory"):
        await bury(shop.server, shop.ann, retries=False, letter=letter)
    with pytest.raises(ServerError, match="out of memory"):
        await retry_later(shop.server, shop.ann, retries=False, entry_id=one, delay=MINUTE, attempt=2)
    with pytest.raises(ServerError, match="out of memory"):
        await mark_start(shop.server, shop.ann, retries=False, entry_id=one, marks=0, ttl=WEEK)
    assert list(shop.pending()) == [one]
    assert (shop.letters, shop.delayed, shop.marks) == ([], {}, {})
    assert shop.command("GET", GUARD) == one
    shop.command("CONFIG", "SET", "maxmemory", "0")
    assert await bury(shop.server, shop.ann, retries=False, letter=letter) is Settled.DONE
