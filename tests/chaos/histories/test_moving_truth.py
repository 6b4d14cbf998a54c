"""Nothing is called exact that never was so, whatever happens between the batches of a collection."""

import os

import pytest

from tests.support.operate.moving_truth import play
from tests.support.servers import RunningServer

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover

SEEDS = int(os.environ.get("STREAMOPS_MOVING_SEEDS", "6"))


@pytest.mark.every_server("histories are played on each version")
@pytest.mark.parametrize("deep", [False, True], ids=["shallow", "deep"])
async def test_every_number_was_so_at_some_instant(server: RunningServer, *, deep: bool) -> None:
    for seed in range(SEEDS):
        try:
            await play(server, seed, deep=deep, stingy=bool(seed % 3 == 0))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
