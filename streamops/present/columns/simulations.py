"""What ``pools simulate`` shows: what our policy and fixed numbers of workers make of a recorded load."""

from collections.abc import Callable, Sequence
from typing import Final

from streamops.autoscaling.history import OURS, ArrivalHistory, Replayed
from streamops.autoscaling.simulation import Result, SimulatedWorkers, SimulationStep
from streamops.model.json_text import Json
from streamops.present.cells import count_cell
from streamops.present.table import Align, Cell, Column, Tone
from streamops.present.units import rfc3339


def _count(key: str, title: str, text: str, pick: Callable[[Result], int], priority: int) -> Column[Replayed]:
    return Column(
        key=key,
        title=title,
        help=text,
        cell=lambda row: count_cell(pick(row.result)),
        value=lambda row: pick(row.result),
        width=9,
        align=Align.RIGHT,
        priority=priority,
    )


def _seconds(key: str, title: str, text: str, pick: Callable[[Result], int]) -> Column[Replayed]:
    return Column(
        key=key,
        title=title,
        help=text,
        cell=lambda row: Cell(f"{pick(row.result):,}s"),
        value=lambda row: pick(row.result),
        width=6,
        align=Align.RIGHT,
        priority=0,
    )


SIMULATION_COLUMNS: Final[tuple[Column[Replayed], ...]] = (
    Column(
        key="policy",
        title="POLICY",
        help="What would have decided: our policy, or a number of workers that never changes.",
        cell=lambda row: Cell(row.policy, Tone.STRONG if row.policy == OURS else Tone.PLAIN),
        value=lambda row: row.policy,
        width=12,
        priority=0,
    ),
    Column(
        key="worker_hours",
        title="WORKER HOURS",
        help="Workers paid for, starting ones too.",
        cell=lambda row: Cell(f"{row.result.worker_seconds / 3600:,.2f}"),
        value=lambda row: round(row.result.worker_seconds / 3600, 3),
        width=12,
        align=Align.RIGHT,
        priority=0,
    ),
    _seconds("p50_seconds", "P50", "The wait that half of the entries stay under.", lambda run: run.p50),
    _seconds("p99_seconds", "P99", "The wait that 99 of 100 entries stay under.", lambda run: run.p99),
    _count(
        "late_entries",
        "LATE",
        "Entries that waited longer than the objective.",
        lambda run: run.late_entries,
        0,
    ),
    Column(
        key="late",
        title="SHARE",
        help="Their share.",
        cell=lambda row: Cell(f"{row.result.late:.2%}", Tone.PLAIN if row.result.late else Tone.DIM),
        value=lambda row: round(row.result.late, 6),
        width=7,
        align=Align.RIGHT,
        priority=1,
    ),
    _count("most", "MOST", "The most workers there were.", lambda run: run.most, 1),
    _count("actions", "CHANGES", "Changes of the number of workers.", lambda run: run.changes, 2),
    _count("reversals", "REVERSALS", "Changes back within ten minutes.", lambda run: run.reversals, 3),
)


def simulation_document(
    history: ArrivalHistory, workers: SimulatedWorkers, rows: Sequence[Replayed], interval: int
) -> Json:
    """``streamops.autoscale.simulate/2``: what each policy makes of a history, and when ours would have acted.

    Args:
        history: The load.
        workers: The workers.
        rows: What became of it, ours first.
        interval: Seconds between two readings of ours.
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
