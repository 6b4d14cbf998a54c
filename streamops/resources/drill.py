"""An overload drill: its timeline, document and verdict."""

from collections.abc import Iterable
from typing import Final

from streamops.model.drill import DrillPlan, DrillProgress, DrillVerdict
from streamops.model.json_text import Json
from streamops.model.pools import PoolDecision
from streamops.model.wording import counted
from streamops.resources.kinds import of_rows
from streamops.resources.pools import decision_json
from streamops.resources.table import Align, Cell, Column, Fact, Tone
from streamops.resources.units import duration, size

DRILL = of_rows(DrillProgress)


DRILL_COLUMNS: Final[tuple[Column[DrillProgress], ...]] = (
    DRILL.column(
        "at_seconds",
        "AT",
        7,
        lambda moment: round(moment.at.total_seconds(), 3),
        lambda moment: Cell(f"{moment.at.total_seconds():.1f}s"),
        align=Align.RIGHT,
        priority=0,
    ).means("Time since the burst began."),
    DRILL.count("lag", "LAG", 9, lambda moment: moment.lag, priority=0).means("Events not yet delivered."),
    DRILL.count("pending", "PENDING", 9, lambda moment: moment.pending, priority=0).means(
        "Events in flight at a worker, not acknowledged."
    ),
    DRILL.count("retrying", "RETRYING", 9, lambda moment: moment.retrying, priority=0).means(
        "Events that wait for a retry, or are being retried."
    ),
    DRILL.count("handled", "HANDLED", 9, lambda moment: moment.handled, priority=0).means(
        "Events processed, each counted once."
    ),
    DRILL.rate("per_second", "RATE", 8, lambda moment: moment.per_second, priority=0).means(
        "Events processed per second, since the row before."
    ),
    DRILL.count("workers", "WORKERS", 7, lambda moment: moment.workers, priority=0).means(
        "Worker processes that run."
    ),
    DRILL.count("dead_letters", "DEAD", 7, lambda moment: moment.dead_letters, priority=0).means(
        "Events in the dead-letter queue."
    ),
    DRILL.column(
        "note",
        "WORKERS WERE",
        12,
        lambda moment: moment.note or None,
        lambda moment: Cell(moment.note, Tone.WARN),
        flexible=True,
        priority=0,
    ).means("What happened to the workers."),
)


def drill_load(plan: DrillPlan, tag: str, server: str) -> str:
    """What a drill puts on a server, before it begins."""
    least = "" if plan.minimum == plan.maximum else f"{plan.minimum:,} to "
    workers = counted(plan.maximum, "worker process", "worker processes")
    return (
        f"writes {counted(plan.events, 'event', 'events')}, handled by {least}{workers} in {duration(plan.ideal)} or"
        f" more, under {tag} on {server}: up to {size(plan.memory)} of its memory, and other clients feel it"
    )


def drill_document(
    plan: DrillPlan,
    moments: Iterable[DrillProgress],
    verdict: DrillVerdict,
    decisions: Iterable[PoolDecision],
) -> Json:
    """``streamops.drill/1``."""
    return {
        "schema": "streamops.drill/1",
        "events": plan.events,
        "slots": plan.slots,
        "workers": [plan.minimum, plan.maximum],
        "work_seconds": [plan.least.total_seconds(), plan.most.total_seconds()],
        "errors_percent": plan.errors,
        "timeline": [{column.key: column.value(one) for column in DRILL_COLUMNS} for one in moments],
        "verdict": {
            "passed": verdict.passes(plan),
            "accounted": verdict.accounted,
            "handled": verdict.handled,
            "dead_letters": verdict.dead_letters,
            "to_fail": verdict.to_fail,
            "lost": verdict.lost,
            "astray": verdict.astray,
            "repeated": verdict.repeated,
            "lag": verdict.lag,
            "pending": verdict.pending,
            "retrying": verdict.retrying,
            "killed": verdict.killed,
            "took_seconds": round(verdict.took.total_seconds(), 3),
            "could_seconds": round(verdict.could.total_seconds(), 3),
            "most_workers": verdict.most_workers,
            "last_workers": verdict.last_workers,
        },
        "decisions": [decision_json(one) for one in decisions],
    }


def verdict_facts(plan: DrillPlan, verdict: DrillVerdict) -> tuple[Fact, ...]:
    """A verdict as people read it, a line each."""
    left = verdict.lag + verdict.pending + verdict.retrying
    share = ""
    if verdict.could:
        times = verdict.took / verdict.could
        share = f", {times:.2f} times what the workers could have done it in"
    return (
        _fact("accounted for", _sum(verdict), holds=verdict.accounted),
        _fact(
            "dead letters",
            f"{verdict.dead_letters:,}; {verdict.to_fail:,} were to fail for good",
            holds=verdict.dead_letters == verdict.to_fail,
        ),
        _fact(
            "left over",
            f"lag {verdict.lag:,}, pending {verdict.pending:,}, retrying {verdict.retrying:,}",
            holds=not left,
        ),
        _fact(
            "workers",
            f"{verdict.killed:,} killed (SIGKILL); {verdict.most_workers:,} at most, {verdict.last_workers:,} in the end",
            holds=verdict.last_workers <= plan.minimum,
        ),
        Fact("repeated", (Cell(_repeated(verdict)),)),
        Fact("took", (Cell(f"{duration(verdict.took)}{share}"),)),
        _fact("verdict", "passed" if verdict.passes(plan) else "failed", holds=verdict.passes(plan)),
    )


def _sum(verdict: DrillVerdict) -> str:
    handled, dead = counted(verdict.handled, "handled", "handled"), verdict.dead_letters
    ends = f"{handled} + {counted(dead, 'dead letter', 'dead letters')}"
    events = counted(verdict.events, "event", "events")
    if verdict.accounted:
        return f"{events} = {ends}"
    return f"{events}, but {ends}: {verdict.lost:,} lost, {verdict.astray:,} where they should not be"


def _repeated(verdict: DrillVerdict) -> str:
    if not verdict.repeated:
        return "no event was handled twice"
    times = counted(verdict.repeated, "time", "times")
    return f"{times} an event was handled again, as happens when its worker dies before acknowledging it"


def _fact(name: str, text: str, *, holds: bool) -> Fact:
    return Fact(name, (Cell(text, Tone.OK if holds else Tone.CRITICAL),))
