"""Burying entries: the letter, all that is in it, and that it is there once."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio

from streamops.model.deliveries import AckRow, Settled
from streamops.wire.consuming.claiming import take_idle
from streamops.wire.consuming.entries import acknowledge_checked
from streamops.wire.consuming.leases import leave, renew
from streamops.wire.consuming.settling import dead_letter_all
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.server import Server
from tests.support.deployments import RunningCluster
from tests.support.wire.consuming.settling import (
    BINARY,
    MINUTE,
    WEEK,
    bury,
    letter_of,
    mark_start,
    retry_later,
)
from tests.support.wire.consuming.shop import GROUP, GUARD, PAYLOAD, STREAM, Shop


@pytest_asyncio.fixture
async def far_shop(cluster: RunningCluster) -> AsyncIterator[Shop]:
    """A shop on a cluster."""
    connection = await Server.connect(cluster.options)
    yield Shop(cluster.node_of(STREAM), connection)
    await connection.close()


async def test_everything_beside_the_stream_is_in_its_slot(far_shop: Shop) -> None:
    shop, server, ann = far_shop, far_shop.server, far_shop.ann
    first, second, third = shop.deliver(3)
    (again,) = shop.deliver(1, retries=True)
    assert (await renew(server, ann, retries=False, ids=[first])).lost == ()
    recovered = await take_idle(server, shop.bob, retries=True, min_idle=timedelta(), limit=5)
    assert [taken.id for taken in recovered.entries] == [again]
    assert await mark_start(server, ann, retries=False, entry_id=first, marks=0, ttl=WEEK) == 1
    await retry_later(
        server, ann, retries=False, entry_id=first, delay=MINUTE, attempt=2, payload_key=PAYLOAD
    )
    letter = letter_of(second, guard_key=GUARD, payload_key="{other}:payload:8")
    assert await bury(server, ann, retries=False, letter=letter) is Settled.DONE
    done = await acknowledge_checked(server, ann, retries=False, rows=[AckRow(third, PAYLOAD)])
    assert (done.acknowledged, len(shop.delayed), len(shop.letters)) == (1, 1, 1)
    assert not await leave(server, shop.bob)
    assert await leave(server, ann)


@pytest.mark.parametrize("retries", [False, True])
async def test_letters_reach_a_queue_in_another_slot_once(
    far_shop: Shop, cluster: RunningCluster, *, retries: bool
) -> None:
    shop = far_shop
    sub = Subscription(STREAM, GROUP, "ann", dead_letters="elsewhere:dlq")
    queue = cluster.node_of("elsewhere:dlq")
    ids = shop.deliver(4, *BINARY, retries=retries)
    shop.command("SET", GUARD, ids[0])
    shop.command("XCLAIM", shop.key(retries=retries), GROUP, "bob", 0, ids[1])
    shop.command("XDEL", shop.key(retries=retries), ids[2])
    letters = [letter_of(one, guard_key=GUARD) for one in ids]
    words = await dead_letter_all(shop.server, sub, retries=retries, rows=letters)
    assert words == [Settled.DONE, Settled.NOT_OURS, Settled.GONE, Settled.DONE]
    found = queue.command("XRANGE", "elsewhere:dlq", "-", "+")
    assert [fields[: len(BINARY)] == BINARY for _, fields in found] == [True, False, True]
    assert list(shop.pending(retries=retries)) == [ids[1]]
    assert shop.command("EXISTS", GUARD) == 0
    again = await dead_letter_all(shop.server, sub, retries=retries, rows=letters)
    assert again == [Settled.NOT_OURS] * 4
    assert queue.command("XLEN", "elsewhere:dlq") == 3


async def test_a_letter_that_was_written_before_a_crash_is_not_written_again(
    far_shop: Shop, cluster: RunningCluster
) -> None:
    shop = far_shop
    sub = Subscription(STREAM, GROUP, "ann", dead_letters="elsewhere:dlq")
    queue = cluster.node_of("elsewhere:dlq")
    (one,) = shop.deliver(1)
    await bury(shop.server, sub, retries=False, letter=letter_of(one))
    force = ("XCLAIM", STREAM, GROUP, "ann", 0, one, "FORCE", "JUSTID")
    shop.command(*force)
    assert await bury(shop.server, sub, retries=False, letter=letter_of(one)) is Settled.DONE
    assert (queue.command("XLEN", "elsewhere:dlq"), shop.pending()) == (1, {})
    # Replayed, it dies again: the first letter counts no more.
    ((number, _),) = queue.command("XRANGE", "elsewhere:dlq", "-", "+")
    queue.command("XDEL", "elsewhere:dlq", number)
    shop.command(*force)
    assert await bury(shop.server, sub, retries=False, letter=letter_of(one)) is Settled.DONE
    assert (queue.command("XLEN", "elsewhere:dlq"), shop.pending()) == (1, {})
