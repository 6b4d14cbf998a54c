"""What ``pools simulate`` shows: what our policy and fixed numbers of workers make of a recorded load."""

from collections.abc import Callable, Sequence
from typing import Final

from streamops.autoscaling.history import OURS, ArrivalHistory, Replayed
from streamops.autoscaling.simulation import Result, SimulatedWorkers, SimulationStep
from streamops.model.json_text import Json
from streamops.resources.kinds import Columns, of_rows
from streamops.resources.table import Align, Cell, Column, Tone
from streamops.resources.units import rfc3339


def _seconds(key: str, title: str, read: Callable[[Result], int]) -> Column[Replayed]:
    return RESULT.column(
        key, title, 6, read, lambda run: Cell(f"{read(run):,}s"), align=Align.RIGHT, priority=0
    )


REPLAYED = of_rows(Replayed)


RESULT = Columns[Replayed, Result](lambda row: row.result)


SIMULATION_COLUMNS: Final[tuple[Column[Replayed], ...]] = (
    REPLAYED.column(
        "policy",
        "POLICY",
        12,
        lambda row: row.policy,
        lambda row: Cell(row.policy, Tone.STRONG if row.policy == OURS else Tone.PLAIN),
        priority=0,
    ).means("The policy, or a fixed worker count."),
    RESULT.column(
        "worker_hours",
        "WORKER HOURS",
        12,
        lambda run: round(run.worker_seconds / 3600, 3),
        lambda run: Cell(f"{run.worker_seconds / 3600:,.2f}"),
        align=Align.RIGHT,
        priority=0,
    ).means("Worker count over time, starting workers included."),
    _seconds("p50_seconds", "P50", lambda run: run.p50).means("Median wait."),
    _seconds("p99_seconds", "P99", lambda run: run.p99).means("99th percentile of the wait."),
    RESULT.count("late_entries", "LATE", 9, lambda run: run.late_entries, descending=False, priority=0).means(
        "Entries that waited longer than the objective."
    ),
    RESULT.column(
        "late",
        "SHARE",
        7,
        lambda run: round(run.late, 6),
        lambda run: Cell(f"{run.late:.2%}", Tone.PLAIN if run.late else Tone.DIM),
        align=Align.RIGHT,
        priority=1,
    ).means("Their share."),
    RESULT.count("most", "MOST", 9, lambda run: run.most, descending=False, priority=1).means(
        "Highest worker count."
    ),
    RESULT.count("actions", "CHANGES", 9, lambda run: run.changes, descending=False, priority=2).means(
        "Changes of the worker count."
    ),
    RESULT.count("reversals", "REVERSALS", 9, lambda run: run.reversals, descending=False, priority=3).means(
        "Changes back within ten minutes."
    ),
)


def simulation_document(
    history: ArrivalHistory, workers: SimulatedWorkers, rows: Sequence[Replayed], interval: int
) -> Json:
    """``streamops.autoscale.simulate/2``: what each policy makes of a history, and when ours would have acted.

    Args:
        history: The load.
        workers: The workers.
        rows: What became of it, ours first.
        interval: Seconds between two readings.
    """
    return {
        "schema": "streamops.autoscale.simulate/2",
        "interval_seconds": interval,
        "history": {
            "begins_at": rfc3339(history.begins_at),
            "seconds": len(history.counts),
            "entries": history.entries,
            "peak_per_second": history.peak,
            "step_seconds": round(history.step, 3),
            "missing": list(history.missing),
        },
        "workers": {
            "objective_seconds": workers.objective,
            "start_up_seconds": round(workers.start_up, 3),
            "slots": workers.slots,
            "min": workers.minimum,
            "max": workers.maximum,
            "rate_per_second": round(workers.rate, 3),
        },
        "policies": [{column.key: column.value(row) for column in SIMULATION_COLUMNS} for row in rows],
        "decisions": [_decision(step) for step in _changes(rows[0].result.steps)],
    }


def _changes(steps: Sequence[SimulationStep]) -> list[SimulationStep]:
    """The readings at which the number of workers or the rule that decided was another than before."""
    return [
        step
        for before, step in zip((None, *steps), steps, strict=False)
        if before is None or step.wanted != step.ordered or _rule(step) != _rule(before)
    ]


def _rule(step: SimulationStep) -> str:
    return step.why.partition(": ")[0]


def _decision(step: SimulationStep) -> Json:
    return {
        "second": step.second,
        "queue": step.queue,
        "ordered": step.ordered,
        "ready": step.ready,
        "target": step.wanted,
        "code": _rule(step),
        "text": step.why.partition(": ")[2],
    }
