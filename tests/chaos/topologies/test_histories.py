"""Histories on the newest version; more of them by ``STREAMOPS_HISTORIES``, on all versions by ``STREAMOPS_ALL_TOPOLOGIES``."""

import os
from collections.abc import AsyncIterator, Sequence

import pytest

from tests.chaos.topologies import cluster_histories, sentinel_histories
from tests.chaos.topologies.clusters import ReplicatedCluster
from tests.chaos.topologies.histories import UNSPARING
from tests.chaos.topologies.outcome import Outcome
from tests.chaos.topologies.sentinels import Watched
from tests.conftest import PROGRAMS
from tests.programs import ServerProgram

SEEDS: Sequence[int] = range(1, 1 + int(os.environ.get("STREAMOPS_HISTORIES", "1")))
MANY = UNSPARING or len(SEEDS) > 1
SHORT = ("primary dies", "primary is replaced")
VERSIONS = PROGRAMS if UNSPARING else PROGRAMS[-1:]

pytestmark = pytest.mark.timeout(600 * len(SEEDS))


@pytest.fixture(params=VERSIONS, ids=lambda program: program.label)
def version(request: pytest.FixtureRequest) -> ServerProgram:
    program: ServerProgram = request.param
    return program


@pytest.fixture
async def replicated_cluster(version: ServerProgram) -> AsyncIterator[ReplicatedCluster]:
    with ReplicatedCluster(version) as cluster:
        yield await cluster.ready()


@pytest.fixture
async def watched(version: ServerProgram) -> AsyncIterator[Watched]:
    with Watched(version) as deployment:
        yield await deployment.ready()


async def test_a_cluster_whose_slots_move_and_whose_primaries_change(
    replicated_cluster: ReplicatedCluster,
) -> None:
    """One cluster for all of them: the dead come back as replicas."""
    for seed in SEEDS:
        for scenario in cluster_histories.SCENARIOS.values():
            tell(await scenario(seed, replicated_cluster))


async def test_sentinels_that_replace_their_primary(watched: Watched) -> None:
    for seed in SEEDS:
        for name in sentinel_histories.SCENARIOS if MANY else SHORT:
            tell(await sentinel_histories.SCENARIOS[name](seed, watched))


def tell(outcome: Outcome) -> None:
    """Everything that was begun is where it has to be, or was destroyed by what was done to the servers."""
    print(outcome)  # noqa: T201 - shown where a later one fails
    assert outcome.faults
    assert all(outcome.entries.values())
    missing = {name: count - outcome.handled[name] for name, count in outcome.entries.items()}
    assert min(missing.values()) == missing["trim"] == missing["claim"] == 0
    assert sum(missing.values()) == sum(outcome.destroyed.values())
