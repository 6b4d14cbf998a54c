"""Each version bears a share of what befalls clusters and Sentinels; all of it where ``STREAMOPS_ALL_TOPOLOGIES`` says so.

``STREAMOPS_HISTORIES`` says how many seeds are played.
"""

import os
from collections.abc import AsyncIterator, Mapping, Sequence

import pytest

from tests.chaos.topologies import cluster_histories, sentinel_histories
from tests.chaos.topologies.clusters import ReplicatedCluster
from tests.chaos.topologies.histories import UNSPARING, Scenario, Somewhere
from tests.chaos.topologies.outcome import Outcome
from tests.chaos.topologies.sentinels import Watched
from tests.support.programs import BORDERS, PROGRAMS, ServerProgram

SEEDS: Sequence[int] = range(1, 1 + int(os.environ.get("STREAMOPS_HISTORIES", "1")))
MANY = UNSPARING or len(SEEDS) > 1

pytestmark = pytest.mark.timeout(600 * len(SEEDS))


@pytest.fixture
async def replicated_cluster(program: ServerProgram) -> AsyncIterator[ReplicatedCluster]:
    with ReplicatedCluster(program) as cluster:
        yield await cluster.ready()


@pytest.fixture
async def watched(program: ServerProgram) -> AsyncIterator[Watched]:
    with Watched(program) as deployment:
        yield await deployment.ready()


@pytest.mark.every_server("histories are played on each version")
async def test_a_cluster_whose_slots_move_and_whose_primaries_change(
    program: ServerProgram, replicated_cluster: ReplicatedCluster
) -> None:
    """One cluster for all of them: the dead come back as replicas."""
    for seed in SEEDS:
        for scenario in share_of(PROGRAMS, program, cluster_histories.SCENARIOS):
            tell(await scenario(seed, replicated_cluster))


@pytest.mark.border_servers("a Sentinel replaces its primary alike on versions between")
async def test_sentinels_that_replace_their_primary(program: ServerProgram, watched: Watched) -> None:
    for seed in SEEDS:
        for scenario in share_of(BORDERS, program, sentinel_histories.SCENARIOS):
            tell(await scenario(seed, watched))


def share_of(
    programs: Sequence[ServerProgram], program: ServerProgram, scenarios: Mapping[str, Scenario[Somewhere]]
) -> Sequence[Scenario[Somewhere]]:
    """What one version is to bear of these, so that all versions together bear everything."""
    every = [*scenarios.values()]
    return every if MANY else [every[programs.index(program) % len(every)]]


def tell(outcome: Outcome) -> None:
    """Everything that was begun is where it has to be, or was destroyed by what was done to the servers."""
    print(outcome)  # noqa: T201 - shown where a later one fails
    assert outcome.faults
    assert all(outcome.entries.values())
    missing = {name: count - outcome.handled[name] for name, count in outcome.entries.items()}
    assert min(missing.values()) == missing["trim"] == missing["claim"] == 0
    assert sum(missing.values()) == sum(outcome.destroyed.values())
