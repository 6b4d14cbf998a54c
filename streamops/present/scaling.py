"""Simulated scaling as rows, documents and words."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from msgspec import Struct

from streamops.analysis.wording import counted
from streamops.present.documents import Json
from streamops.present.units import duration, rate, rfc3339, timestamp
from streamops.scaling.simulator.contest import OURS, Heat
from streamops.scaling.simulator.history import History, Replayed, Told
from streamops.scaling.simulator.result import Step
from streamops.scaling.simulator.standings import MEAN, Standing
from streamops.scaling.simulator.world import NOMINAL, World

SCHEMA = "streamops.autoscale.simulate/1"
FIXED_TEXT = (
    "fixed numbers, chosen in hindsight: each, the best for each load; kept, the fewest for each load that serve 99 % of"
    " what can be served in time; one, the best for all shapes together"
)


class ScoreRow(Struct, frozen=True):
    """The scores of all policies on one shape.

    Attributes:
        shape: The shape.
        scores: Scores by policy.
    """

    shape: str
    scores: Mapping[str, float]


def score_rows(standings: Sequence[Standing]) -> list[ScoreRow]:
    """One row a shape, the mean last."""
    shapes = dict.fromkeys(standing.shape for standing in standings if standing.shape != MEAN)
    return [
        ScoreRow(shape, {each.policy: each.score for each in standings if each.shape == shape})
        for shape in (*shapes, MEAN)
    ]


def contest_document(heats: Sequence[Heat], standings: Sequence[Standing], interval: int) -> Json:
    """``streamops.autoscale.simulate/1`` of load shapes: each policy on each of them, and the means."""
    worlds = {heat.seed: heat.world for heat in heats}
    return {
        "schema": SCHEMA,
        "interval_seconds": interval,
        "worlds": [{"seed": seed, **_world_json(world)} for seed, world in worlds.items()],
        "policies": [
            {
                "policy": mean.policy,
                **_standing_json(mean),
                "shapes": [
                    {"shape": each.shape, **_standing_json(each)}
                    for each in standings
                    if each.policy == mean.policy and each is not mean
                ],
            }
            for mean in standings
            if mean.shape == MEAN
        ],
    }


def _standing_json(standing: Standing) -> Json:
    return {
        "runs": standing.runs,
        "score": round(standing.score, 4),
        "late": round(standing.late, 6),
        "p50_seconds": round(standing.p50, 1),
        "p99_seconds": round(standing.p99, 1),
        "worker_hours": round(standing.worker_hours, 3),
        "actions": round(standing.actions, 2),
        "reversals": round(standing.flaps, 2),
        "most": standing.most,
        "ups_stuck": standing.ups_stuck,
        "downs_unknown": standing.downs_unknown,
        "false_caps": standing.false_caps,
    }


def _world_json(world: World) -> Json:
    return {
        "objective_seconds": world.objective,
        "start_up_seconds": round(world.late * NOMINAL, 3),
        "slots": world.slots,
        "min": world.minimum,
        "max": world.maximum,
        "handler": {
            "times": world.handling.kind,
            "mean_seconds": round(world.handling.mean, 6),
            "deviation_seconds": round(world.handling.deviation, 6),
        },
        "rate_per_second": round(world.rate, 3),
    }


def guards_text(standings: Sequence[Standing]) -> str:
    """What ours must never do, and how often it did."""
    ours = next(each for each in standings if each.policy == OURS and each.shape == MEAN)
    return (
        f"ours in {counted(ours.runs, 'run', 'runs')}: ordered workers {_times(ours.ups_stuck)} while handlers stood"
        f" still, let some go {_times(ours.downs_unknown)} on an unknown lag, called a pool saturated that was not"
        f" {_times(ours.false_caps)}"
    )


def _times(number: int) -> str:
    return counted(number, "time", "times")


def history_text(history: History) -> str:
    """A history on one line."""
    span = timedelta(seconds=len(history.counts))
    mean = history.entries / max(1, len(history.counts))
    return (
        f"{counted(history.entries, 'entry', 'entries')} in {duration(span)} from {timestamp(history.begins_at)}:"
        f" {rate(mean)} on average, {rate(history.peak)} at most"
    )


def history_document(history: History, world: World, replayed: Replayed, interval: int) -> Json:
    """``streamops.autoscale.simulate/1`` of a recorded history."""
    return {
        "schema": SCHEMA,
        "interval_seconds": interval,
        "history": {
            "begins_at": rfc3339(history.begins_at),
            "seconds": len(history.counts),
            "entries": history.entries,
            "peak_per_second": history.peak,
            "step_seconds": round(history.step, 3),
            "missing": list(history.missing),
        },
        "world": _world_json(world),
        "policies": [told_json(told) for told in replayed.told],
    }


def told_json(told: Told) -> Json:
    """What one policy would have made of it."""
    return {
        "policy": told.policy,
        "worker_hours": round(told.worker_hours, 3),
        "p50_seconds": told.p50,
        "p99_seconds": told.p99,
        "late_entries": told.late_entries,
        "late": round(told.late, 6),
        "most": told.most,
        "actions": told.actions,
        "reversals": told.flaps,
        "score": round(told.score, 4),
    }


def changes(steps: Sequence[Step]) -> list[Step]:
    """The looks at which the number of workers or the rule that decided was another than before."""
    kept: list[Step] = []
    for before, step in zip((None, *steps), steps, strict=False):
        if before is None or step.wanted != step.ordered or code_of(step) != code_of(before):
            kept.append(step)
    return kept


def code_of(step: Step) -> str:
    """The rule that decided."""
    return step.why.partition(": ")[0]


def sentence_of(step: Step) -> str:
    """Why."""
    return step.why.partition(": ")[2]


def trace_document(name: str, steps: Sequence[Step], interval: int) -> Json:
    """``streamops.autoscale.simulate.trace/1``: the decisions of one run."""
    return {
        "schema": "streamops.autoscale.simulate.trace/1",
        "interval_seconds": interval,
        "load": name,
        "decisions": [
            {
                "second": step.second,
                "queue": step.queue,
                "ordered": step.ordered,
                "ready": step.ready,
                "target": step.wanted,
                "code": code_of(step),
                "text": sentence_of(step),
            }
            for step in steps
        ],
    }
