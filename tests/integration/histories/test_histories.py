"""A few histories of each kind on the newest server; tests/chaos/histories plays more, on every version."""

from collections.abc import Iterator

import pytest

from tests.chaos.histories import trims, truth
from tests.chaos.histories.kinds import KINDS
from tests.support.programs import newest_program
from tests.support.servers import RunningServer

FEW = {"moving_truth": 1}


@pytest.fixture(scope="module")
def short_nodes() -> Iterator[RunningServer]:
    with RunningServer(newest_program(), "--stream-node-max-entries", str(trims.NODE_ENTRIES)) as running:
        yield running


@pytest.mark.parametrize("kind", KINDS)
async def test_history_loses_doubles_and_misreports_nothing(server: RunningServer, kind: str) -> None:
    await KINDS[kind](server, range(FEW.get(kind, 2)))


async def test_safe_trim_keeps_what_groups_need(short_nodes: RunningServer) -> None:
    await trims.play(short_nodes, range(3))


@pytest.mark.parametrize("machine", [truth.StreamTruth, truth.DeepTruth, truth.RestrictedTruth])
def test_numbers_are_true_after_any_history(server: RunningServer, machine: type[truth.StreamTruth]) -> None:
    truth.play(machine, server, examples=1)
