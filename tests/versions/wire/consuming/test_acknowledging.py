"""Acknowledging entries."""

import pytest

from streamops.wire.consuming.entries import AckRow, acknowledge_checked, acknowledge_plain
from tests.support.wire.consuming.shop import STREAM, Shop

pytestmark = pytest.mark.every_server("replies and scripts differ by version")


async def test_plain_acknowledgements_are_counted_by_the_server(shop: Shop) -> None:
    ids = shop.deliver(3)
    assert await acknowledge_plain(shop.server, shop.ann, ids[:2], 0) == 2
    assert await acknowledge_plain(shop.server, shop.ann, ids, 0) == 1
    shop.command("DEL", STREAM)
    assert await acknowledge_plain(shop.server, shop.ann, ids, 0) == 0


@pytest.mark.parametrize("retries", [False, True])
async def test_marks_go_and_only_retries_are_deleted(shop: Shop, *, retries: bool) -> None:
    (one,) = shop.deliver(1, retries=retries)
    shop.mark(one, 1)
    shop.mark(b"retry:" + one, 1)
    await acknowledge_checked(shop.server, shop.ann, retries=retries, rows=[AckRow(one), AckRow(one)])
    assert list(shop.marks) == [one if retries else b"retry:" + one]
    assert len(shop.entries(shop.key(retries=retries))) == (0 if retries else 1)
