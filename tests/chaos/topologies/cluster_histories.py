"""Histories on a cluster: slots that move, a primary that is killed, a primary that hands over."""

from collections.abc import Mapping, Sequence
from typing import Final

from tests.chaos.topologies.clusters import ReplicatedCluster
from tests.chaos.topologies.histories import History, Scenario, undisturbed
from tests.chaos.topologies.outcome import Outcome
from tests.chaos.topologies.workers import Run
from tests.chaos.topologies.works import Claim, Replay, Survived, Trim


async def slots_move(seed: int, cluster: ReplicatedCluster) -> Outcome:
    """A replay, a trim, a claim and a worker, while their slots move to other primaries key by key."""
    history = _history("slots move", seed, cluster)

    async def strike(_: Sequence[str]) -> Survived:
        streams = [work.keys[0] for work in history.works]
        history.random.shuffle(streams)
        await cluster.move_slots(history.random, streams)
        return {}

    return await history.play(strike)


async def primary_hands_over(seed: int, cluster: ReplicatedCluster) -> Outcome:
    """The same, while their primary and its replica change places as an operator planned it."""
    history = _history("primary hands over", seed, cluster)

    async def strike(_: Sequence[str]) -> Survived:
        await cluster.fail_over()
        return {}

    return await history.play(strike)


async def primary_dies(seed: int, cluster: ReplicatedCluster) -> Outcome:
    """The same, while their primary is killed and its replica takes over, at every other seed without the last writes."""
    history = _history("primary dies", seed, cluster)
    unreplicated = history.random.uniform(0.2, 0.6) if seed % 2 else 0.0

    async def strike(keys: Sequence[str]) -> Survived:
        return await cluster.kill(keys, unreplicated)

    return await history.play(strike)


SCENARIOS: Final[Mapping[str, Scenario[ReplicatedCluster]]] = {
    "slots move": undisturbed(slots_move),
    "primary hands over": undisturbed(primary_hands_over),
    "primary dies": undisturbed(primary_dies),
}


def _history(name: str, seed: int, cluster: ReplicatedCluster) -> History:
    """Everything that can go on, on one primary; one replay ends, or begins, on another."""
    cluster.flush()
    history = History(name, seed, cluster)
    cluster.aim(history.random)
    replayed, trimmed, claimed, worked, here = cluster.names("replay", "trim", "claim", "run", "far")
    there = cluster.far_name("distant")
    across = (here, f"{there}:dlq") if history.random.random() < 0.5 else (there, f"{here}:dlq")
    history.works = [
        Replay(cluster, history.somebody(types=True), replayed),
        Replay(cluster, history.somebody(), *across),
        Trim(cluster, history.somebody(), trimmed),
        Claim(cluster, history.somebody(), claimed),
        Run(cluster, worked),
    ]
    return history
