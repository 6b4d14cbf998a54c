"""Whatever happens to operators and consumers, no entry is lost and none is handed on twice."""

import os

import pytest

from streamops.model.acts.replay import ReplayMode
from tests.support.deployments import RunningCluster
from tests.support.operate.replay_truth import History, Place, hasten
from tests.support.servers import RunningServer

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover

HISTORIES = int(os.environ.get("STREAMOPS_HISTORIES", "20"))
SAME = "{orders}:dlq"
OTHER = "failed:dlq"


async def live(place: Place, queue: str) -> None:
    modes = list(ReplayMode)
    for seed in range(HISTORIES):
        await History(place, seed, modes[seed % len(modes)], target="orders", queue=queue).run()


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    hasten(monkeypatch)


@pytest.mark.every_server("histories are played on each version")
@pytest.mark.timeout(900)
async def test_no_entry_is_lost_or_doubled(server: RunningServer) -> None:
    await live(server, SAME)


@pytest.mark.timeout(900)
async def test_no_entry_is_lost_or_doubled_between_slots(cluster: RunningCluster) -> None:
    await live(cluster, OTHER)
