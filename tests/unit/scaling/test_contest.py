"""Policies side by side, and what hindsight chooses of fixed numbers."""

from itertools import pairwise
from random import Random

from streamops.scaling.simulator.contest import (
    OURS,
    Outcome,
    fixed_counts,
    heats,
    play,
)
from streamops.scaling.simulator.standings import POLICIES, standings
from streamops.scaling.simulator.world import World


def outcome(policy: str, shape: str, score: float, avoidable: float = 0.0) -> Outcome:
    return Outcome(
        policy=policy,
        shape=shape,
        seed=1,
        score=score,
        avoidable=avoidable,
        late=avoidable,
        p50=0,
        p99=1,
        worker_seconds=3600,
        actions=1,
        flaps=0,
        most=3,
        ups_stuck=0,
        downs_unknown=0,
        false_caps=0,
    )


RUNS = [
    outcome("ours", "step", 1.2),
    outcome("ours", "ramp", 1.4),
    outcome("fixed:1", "step", 1.1, 0.02),
    outcome("fixed:2", "step", 1.5, 0.01),
    outcome("fixed:3", "step", 1.9, 0.0),
    outcome("fixed:1", "ramp", 9.0, 0.8),
    outcome("fixed:2", "ramp", 2.0, 0.3),
    outcome("fixed:3", "ramp", 3.0, 0.1),
]


def test_fixed_numbers_are_chosen_in_hindsight() -> None:
    found = {(each.policy, each.shape): round(each.score, 3) for each in standings(RUNS)}
    assert found == {
        ("ours", "step"): 1.2,
        ("ours", "ramp"): 1.4,
        ("ours", "mean"): 1.3,
        ("fixed_each", "step"): 1.1,
        ("fixed_each", "ramp"): 2.0,
        ("fixed_each", "mean"): 1.55,
        # On the ramp no number serves 99 %: the best one stands.
        ("fixed_kept", "step"): 1.5,
        ("fixed_kept", "ramp"): 2.0,
        ("fixed_kept", "mean"): 1.75,
        ("fixed_one", "step"): 1.5,
        ("fixed_one", "ramp"): 2.0,
        ("fixed_one", "mean"): 1.75,
    }


def test_fixed_numbers_of_large_pools_are_about_a_tenth_apart() -> None:
    counts = fixed_counts(World(maximum=100))
    assert counts[:20] == list(range(1, 21))
    assert counts[-1] == 100
    assert all(after - before <= 1 + before / 10 for before, after in pairwise(counts))


def test_contest_gives_every_policy_the_same_chance() -> None:
    (heat,) = heats(["burst50k"], [5], Random, world=World(maximum=2), against=("aws", "fixed"))
    first, second = play(heat, Random), play(heat, Random)
    assert first == second
    assert [each.policy for each in first] == [OURS, "aws", "fixed:1", "fixed:2"]
    assert all(each.score >= 0.9 for each in first)
    assert {each.policy for each in standings(first)} < set(POLICIES)


def test_without_a_world_each_seed_has_its_own() -> None:
    loads = heats(["step", "ramp"], [1, 2], Random)
    assert loads[0].world == loads[1].world != loads[2].world
