"""Every history of this folder by its name, each with a deployment of its own: for whoever plays many of them."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

from tests.chaos.topologies import cluster_histories, sentinel_histories
from tests.chaos.topologies.clusters import ReplicatedCluster
from tests.chaos.topologies.histories import Scenario
from tests.chaos.topologies.outcome import Outcome
from tests.chaos.topologies.sentinels import Watched
from tests.support.programs import ServerProgram

Play = Callable[[int, ServerProgram], Awaitable[Outcome]]
"""Plays a history by its seed on servers of a version; raises ``BrokenPromiseError``."""


async def on_a_cluster(scenario: Scenario[ReplicatedCluster], seed: int, program: ServerProgram) -> Outcome:
    """Play a history on a cluster that lives no longer."""
    with ReplicatedCluster(program) as cluster:
        return await scenario(seed, await cluster.ready())


async def behind_sentinels(scenario: Scenario[Watched], seed: int, program: ServerProgram) -> Outcome:
    """Play a history behind Sentinels that live no longer."""
    with Watched(program) as watched:
        return await scenario(seed, await watched.ready())


SCENARIOS: Final[Mapping[str, Play]] = {
    **{
        f"cluster: {name}": partial(on_a_cluster, scenario)
        for name, scenario in cluster_histories.SCENARIOS.items()
    },
    **{
        f"sentinel: {name}": partial(behind_sentinels, scenario)
        for name, scenario in sentinel_histories.SCENARIOS.items()
    },
}
"""By name."""
