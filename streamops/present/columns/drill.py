"""An overload drill: its timeline, document and verdict."""

from collections.abc import Callable, Iterable
from typing import Final

from streamops.model.drill import DrillPlan, DrillProgress, DrillVerdict
from streamops.model.json_text import Json
from streamops.model.pools import PoolDecision
from streamops.model.wording import counted
from streamops.present.cells import count_cell, rate_cell, rounded
from streamops.present.plans import Fact
from streamops.present.pools import decision_json
from streamops.present.table import Align, Cell, Column, Tone
from streamops.present.units import duration, size


def _number_column(
    key: str, title: str, text: str, pick: Callable[[DrillProgress], int], width: int = 9
) -> Column[DrillProgress]:
    return Column(
        key=key,
        title=title,
        help=text,
        cell=lambda moment: count_cell(pick(moment)),
        value=pick,
        width=width,
        align=Align.RIGHT,
        priority=0,
    )


DRILL_COLUMNS: Final[tuple[Column[DrillProgress], ...]] = (
    Column(
        key="at_seconds",
        title="AT",
        help="Time since the burst began.",
        cell=lambda moment: Cell(f"{moment.at.total_seconds():.1f}s"),
        value=lambda moment: round(moment.at.total_seconds(), 3),
        width=7,
        align=Align.RIGHT,
        priority=0,
    ),
    _number_column("lag", "LAG", "Events that no worker was given.", lambda moment: moment.lag),
    _number_column(
        "pending",
        "PENDING",
        "Events in flight at a worker, not acknowledged.",
        lambda moment: moment.pending,
    ),
    _number_column(
        "retrying",
        "RETRYING",
        "Events that failed and wait for their next try, or are at it.",
        lambda moment: moment.retrying,
    ),
    _number_column(
        "handled", "HANDLED", "Events that were handled, each counted once.", lambda moment: moment.handled
    ),
    Column(
        key="per_second",
        title="RATE",
        help="How many of them a second since the row before.",
        cell=lambda moment: rate_cell(moment.per_second),
        value=lambda moment: rounded(moment.per_second),
        width=8,
        align=Align.RIGHT,
        priority=0,
    ),
    _number_column("workers", "WORKERS", "Worker processes at work.", lambda moment: moment.workers, 7),
    _number_column(
        "dead_letters", "DEAD", "Events in the dead-letter queue.", lambda moment: moment.dead_letters, 7
    ),
    Column(
        key="note",
        title="WORKERS WERE",
        help="What was done to the workers.",
        cell=lambda moment: Cell(moment.note, Tone.WARN),
        value=lambda moment: moment.note or None,
        width=12,
        flexible=True,
        priority=0,
    ),
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
        share = f", {times:.2f} times what the workers that there were could have done it in"
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
    return f"{times} an event was handled again, as happens if its worker is gone before it is acknowledged"


def _fact(name: str, text: str, *, holds: bool) -> Fact:
    return Fact(name, (Cell(text, Tone.OK if holds else Tone.CRITICAL),))
