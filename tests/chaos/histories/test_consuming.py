"""Random histories of workers: nothing is lost, nothing is there twice, and every answer is true."""

import os
from typing import Final

import pytest

from tests.support.wire.consuming.histories import History
from tests.support.wire.consuming.shop import Shop

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover

HISTORIES: Final = int(os.environ.get("STREAMOPS_HISTORIES", "6"))


@pytest.mark.every_server("histories are played on each version")
@pytest.mark.timeout(3600)
async def test_nothing_is_lost_and_nothing_is_there_twice(shop: Shop) -> None:
    for seed in range(HISTORIES):
        shop.running.flush()
        again = Shop(shop.running, shop.server)
        try:
            await History(again, seed).run()
        except AssertionError as error:
            error.add_note(f"in history {seed}")
            raise
