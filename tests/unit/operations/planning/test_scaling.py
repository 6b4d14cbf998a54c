"""Resizing pools and steering their controllers, in words."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import Forbidden, SettingsError, StalePlan
from streamops.model.pools import FREE, Lead, Pool, PoolOverrides, PoolSize
from streamops.operations.autoscale.intent import (
    ControllerIntent,
    LimitsIntent,
    OverrideIntent,
    PauseScalingIntent,
    ResumeScalingIntent,
    ScaleIntent,
)
from streamops.operations.autoscale.plan import (
    OverridesEvidence,
    ScaleEvidence,
    overrides_words,
    plan_overrides,
    plan_scale,
    steered,
    steered_back,
)
from tests.support.tables import table

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
LED = Lead(holder="web-1", until=NOW + timedelta(seconds=5), term=2)
OVER = Lead(holder="web-1", until=NOW, term=2)
PAUSED = PoolOverrides(paused=True, by="ada")
KEPT = PoolOverrides(override=7, until=NOW + HOUR, by="ada")
LIMITED = PoolOverrides(minimum=2, maximum=9)

PAUSE, RESUME = PauseScalingIntent(pool="p"), ResumeScalingIntent(pool="p")
OVERRIDE = OverrideIntent(pool="p", workers=7, span=HOUR)
LIMITS = LimitsIntent(pool="p", maximum=4)


def scaling(pool: Pool, size: PoolSize, kind: str = "local", now: datetime | None = NOW) -> ScaleEvidence:
    return ScaleEvidence(pool=pool, size=size, target="deployment shop/p", kind=kind, now=now)


def steering(known: PoolOverrides, lead: Lead | None = LED, now: datetime | None = NOW) -> OverridesEvidence:
    return OverridesEvidence(pool=Pool(name="p", steering=known, lead=lead), now=now)


FOUR = scaling(Pool(name="p"), PoolSize(ordered=4, ready=3))


@table(
    ("evidence", "workers", "count", "words"),
    [
        (FOUR, 6, 1, "4 to 6 workers. New workers read as soon as they have started."),
        (FOUR, 1, 1, "4 to 1 worker. Workers that stop read nothing more, finish and acknowledge"),
        (
            scaling(Pool(name="p"), PoolSize(ordered=4), kind="kubernetes"),
            0,
            1,
            "4 to 0 workers. The target chooses which workers stop, and when",
        ),
        (FOUR, 4, 0, ""),
    ],
)
def test_a_plan_of_scaling_tells_from_how_many_workers_to_how_many(
    evidence: ScaleEvidence, workers: int, count: int, words: str
) -> None:
    plan = plan_scale(ScaleIntent(pool="p", workers=workers), evidence)
    assert plan.count == count
    assert " ".join(plan.effects).startswith(words)
    assert bool(plan.opposite) is bool(count)
    assert plan.command == f"streamops pools scale p {workers}"


@table(
    ("pool", "now", "workers", "warnings"),
    [
        (Pool(name="p"), NOW, 9, []),
        (Pool(name="p", lead=LED), NOW, 9, ["web-1 scales"]),
        (Pool(name="p", lead=OVER), NOW, 9, []),
        (Pool(name="p", lead=OVER), None, 9, ["web-1 scales"]),
        (Pool(name="p", minimum=2, maximum=8), NOW, 9, ["maximum, 8 workers"]),
        (Pool(name="p", minimum=2, maximum=8), NOW, 1, ["minimum, 2 workers"]),
    ],
)
def test_a_number_of_workers_that_cannot_last_is_warned_of(
    pool: Pool, now: datetime | None, workers: int, warnings: list[str]
) -> None:
    plan = plan_scale(ScaleIntent(pool="p", workers=workers), scaling(pool, PoolSize(ordered=4), now=now))
    assert len(plan.warnings) == len(warnings)
    assert all(part in told for part, told in zip(warnings, plan.warnings, strict=True))


def test_another_number_than_was_meant() -> None:
    with pytest.raises(StalePlan, match="has 4 workers, not 5"):
        plan_scale(ScaleIntent(pool="p", workers=6, current=5), FOUR)


@pytest.mark.parametrize("workers", [-1, 100_001])
def test_a_number_of_workers_out_of_bounds_is_refused(workers: int) -> None:
    with pytest.raises(SettingsError, match="is not a worker count"):
        plan_scale(ScaleIntent(pool="p", workers=workers), FOUR)
    for intent in (OverrideIntent(pool="p", workers=workers), LimitsIntent(pool="p", minimum=workers)):
        with pytest.raises(SettingsError, match="is not a worker count"):
            plan_overrides(intent, steering(FREE))


@table(
    ("known", "intent", "told"),
    [
        (FREE, PAUSE, "paused"),
        (FREE, replace(PAUSE, span=HOUR), "paused until 2026-03-01 13:00:00Z"),
        (KEPT, PAUSE, "paused (ada)"),
        (PAUSED, RESUME, "the policy decides"),
        (PAUSED, OVERRIDE, "kept at 7 workers until 2026-03-01 13:00:00Z (ada)"),
        (KEPT, RESUME, "the policy decides"),
        (LIMITED, RESUME, "at least 2, at most 9"),
        (LIMITED, PAUSE, "paused, at least 2, at most 9"),
        (LIMITED, LIMITS, "at least 2, at most 4"),
        (LIMITED, replace(LIMITS, reset=True), "at most 4"),
        (LIMITED, LimitsIntent(pool="p", reset=True), "the policy decides"),
    ],
)
def test_a_pools_steering_is_told_in_words(known: PoolOverrides, intent: ControllerIntent, told: str) -> None:
    assert overrides_words(steered(intent, steering(known)), NOW) == told


@table(
    ("known", "intent", "count", "effects", "opposite"),
    [
        (FREE, PAUSE, 1, ["changes nothing, until it is resumed"], "autoscale resume p"),
        (PAUSED, PAUSE, 0, ["Nothing changes for pool p: paused"], ""),
        (KEPT, PAUSE, 1, ["no longer kept at 7", "changes nothing"], "autoscale resume p"),
        (KEPT, RESUME, 1, ["no longer kept at 7", "The policy sets the worker count"], ""),
        (PAUSED, RESUME, 1, ["The policy sets the worker count"], "autoscale pause p"),
        (FREE, RESUME, 0, ["Nothing changes for pool p: the policy decides"], ""),
        (FREE, OVERRIDE, 1, ["keeps pool p at 7 workers until 2026-03-01 13"], "autoscale resume p"),
        (PAUSED, OVERRIDE, 1, ["keeps pool p at 7 workers"], "autoscale pause p"),
        (FREE, LIMITS, 1, ["from the configured minimum to 4 workers"], "pools limits p --reset"),
        (LIMITED, LIMITS, 1, ["from 2 to 4 workers"], "pools limits p --minimum 2 --maximum 9"),
        (replace(LIMITED, minimum=None, maximum=4), LIMITS, 0, ["Nothing changes for pool p: at most 4"], ""),
    ],
)
def test_plans_of_steering(
    known: PoolOverrides, intent: ControllerIntent, count: int, effects: list[str], opposite: str
) -> None:
    plan = plan_overrides(intent, steering(known))
    assert plan.count == count
    assert len(plan.effects) == len(effects)
    assert all(part in told for part, told in zip(effects, plan.effects, strict=True))
    assert (plan.undo, plan.opposite) == ("", f"streamops {opposite}" if opposite else "")
    assert plan.warnings == ()


@table(
    ("known", "workers", "limits"),
    [
        (FREE, 3, ""),
        (FREE, 4, "beyond the limits of the pool, 1 to 3"),
        (FREE, 0, "beyond the limits of the pool, 1 to 3"),
        (LIMITED, 4, ""),
        (LIMITED, 10, "beyond the limits of the pool, 2 to 9"),
    ],
)
def test_an_override_beyond_the_limits_of_its_pool_warns(
    known: PoolOverrides, workers: int, limits: str
) -> None:
    evidence = steering(known)
    evidence = replace(evidence, pool=replace(evidence.pool, minimum=1, maximum=3))
    plan = plan_overrides(OverrideIntent(pool="p", workers=workers), evidence)
    assert [limits in warning for warning in plan.warnings] == ([True] if limits else [])


@table(
    ("intent", "typed"),
    [
        (replace(PAUSE, span=timedelta(days=30)), "autoscale pause p --for 30d"),
        (
            OverrideIntent(pool="p", workers=0, span=timedelta(seconds=1.5)),
            "pools override p 0 --for 1s500ms",
        ),
        (OverrideIntent(pool="-p q", workers=3), "pools override --for 1h -- '-p q' 3"),
        (LimitsIntent(pool="p", minimum=0, maximum=4), "pools limits p --minimum 0 --maximum 4"),
        (LimitsIntent(pool="p", minimum=2, reset=True), "pools limits p --minimum 2 --reset"),
    ],
)
def test_equivalent_commands(intent: ControllerIntent, typed: str) -> None:
    assert plan_overrides(intent, steering(FREE)).command == f"streamops {typed}"


@pytest.mark.parametrize("lead", [None, OVER])
def test_steering_without_a_controller_warns(lead: Lead | None) -> None:
    (warning,) = plan_overrides(PAUSE, steering(FREE, lead)).warnings
    assert "No controller scales" in warning


@table(
    ("intent", "known", "back"),
    [
        (PAUSE, FREE, RESUME),
        (PAUSE, KEPT, RESUME),
        (OVERRIDE, PAUSED, PAUSE),
        (RESUME, PAUSED, PAUSE),
        (LIMITS, LIMITED, LimitsIntent(pool="p", minimum=2, maximum=9)),
        (LIMITS, replace(KEPT, minimum=1), LimitsIntent(pool="p", minimum=1, reset=True)),
    ],
)
def test_the_reverse_of_steering_restores_what_was_so(
    intent: ControllerIntent, known: PoolOverrides, back: ControllerIntent
) -> None:
    assert steered_back(intent, known) == back


@table(
    ("intent", "words"),
    [
        (replace(PAUSE, span=timedelta(0)), "must be greater than 0"),
        (replace(OVERRIDE, span=-HOUR), "must be greater than 0"),
        (LimitsIntent(pool="p", maximum=0), "would leave no workers"),
        (LimitsIntent(pool="p", minimum=5, maximum=4), "the minimum, 5, would be above the maximum, 4"),
    ],
)
def test_senseless_steering_is_refused(intent: ControllerIntent, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        plan_overrides(intent, steering(FREE))


def test_a_span_needs_the_servers_clock() -> None:
    with pytest.raises(Forbidden, match="clock"):
        plan_overrides(OVERRIDE, steering(FREE, now=None))
    assert plan_overrides(PAUSE, steering(FREE, now=None)).count == 1
