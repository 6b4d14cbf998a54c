"""Histories behind Sentinels: a primary that hands over, dies, hangs and comes back, or misses its replicas."""

from collections.abc import Mapping, Sequence
from typing import Final

from tests.chaos.topologies.histories import History, Scenario, undisturbed
from tests.chaos.topologies.outcome import BrokenPromiseError, Outcome
from tests.chaos.topologies.sentinels import Watched
from tests.chaos.topologies.watchers import Leads, Scrapes, StatusWatcher
from tests.chaos.topologies.workers import Run
from tests.chaos.topologies.works import Claim, Replay, Survived, Trim
from tests.support.autoscaling import pools


async def primary_is_replaced(seed: int, watched: Watched) -> Outcome:
    """Operators, a worker and watchers, while a Sentinel is asked for a failover: what was not replicated is lost."""
    history = await _history("primary is replaced", seed, watched)

    async def strike(keys: Sequence[str]) -> Survived:
        return await watched.fail_over(keys)

    return await history.play(strike)


async def primary_dies(seed: int, watched: Watched) -> Outcome:
    """The same, while the primary is killed and a replica takes over, at every other seed without the last writes."""
    history = await _history("primary dies", seed, watched)
    unreplicated = history.random.uniform(0.2, 0.6) if seed % 2 else 0.0

    async def strike(keys: Sequence[str]) -> Survived:
        return await watched.kill(keys, unreplicated)

    return await history.play(strike)


async def primary_hangs(seed: int, watched: Watched) -> Outcome:
    """The same, while the primary stands still, is replaced, and then goes on as if it were the primary."""
    history = await _history("primary hangs", seed, watched)

    async def strike(keys: Sequence[str]) -> Survived:
        return await watched.hang(keys)

    return await history.play(strike)


async def replicas_are_missed(seed: int, watched: Watched) -> Outcome:
    """The same, while the primary takes no writes because its replicas are away; at odd seeds it dies of that.

    Raises:
        BrokenPromiseError: Besides: something that was acknowledged is lost, though replicas were asked for.
    """
    history = await _history("replicas are missed", seed, watched)
    seconds = history.random.uniform(0.5, 2.0)

    async def strike(keys: Sequence[str]) -> Survived:
        return await watched.miss_replicas(keys, seconds, until_it_dies=bool(seed % 2))

    outcome = await history.play(strike)
    if outcome.destroyed:
        raise BrokenPromiseError(outcome, [f"lost in spite of min-replicas-to-write: {outcome.destroyed}"])
    return outcome


SCENARIOS: Final[Mapping[str, Scenario[Watched]]] = {
    "primary dies": undisturbed(primary_dies),
    "primary hangs": undisturbed(primary_hangs),
    "primary is replaced": undisturbed(primary_is_replaced),
    "replicas are missed": undisturbed(replicas_are_missed),
}


async def _history(name: str, seed: int, watched: Watched) -> History:
    """Everything that can go on, and everybody who can look on."""
    await watched.return_of_the_dead()
    watched.flush()
    history = History(name, seed, watched)
    replayed, trimmed, claimed, worked = watched.names("replay", "trim", "claim", "run")
    history.works = [
        Replay(watched, history.somebody(types=True), replayed),
        Trim(watched, history.somebody(), trimmed),
        Claim(watched, history.somebody(), claimed),
        Run(watched, worked),
    ]
    pools.add_waiting(watched.primary, entries=10)
    history.watchers = [StatusWatcher(watched), Scrapes(watched), Leads(watched)]
    return history
