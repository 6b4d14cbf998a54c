"""Benchmarks and drills in words and as documents."""

from collections.abc import Iterable
from typing import Final

from streamops.analysis.wording import counted
from streamops.model.bench import BenchPlan, DrillMoment, DrillPlan, DrillVerdict, Figure
from streamops.present.cells import rounded
from streamops.present.columns.bench import BENCH_COLUMNS, BENCH_DETAIL_COLUMNS, DRILL_COLUMNS
from streamops.present.documents import Json
from streamops.present.plans import Fact
from streamops.present.table import Cell, Tone
from streamops.present.units import duration, size

EVENT: Final = ("event", "events")


def bench_burden(plan: BenchPlan, tag: str, server: str) -> str:
    """What a benchmark puts on a server, before it begins."""
    return _burden(
        f"writes up to {counted(plan.at_a_time, 'entry', 'entries')} at a time", plan.memory, tag, server
    )


def drill_burden(plan: DrillPlan, tag: str, server: str) -> str:
    """The same for a drill."""
    workers = counted(plan.workers, "worker process", "worker processes")
    events = f"writes {counted(plan.events, *EVENT)}, handled by {workers} in {duration(plan.ideal)} or more"
    return _burden(events, plan.memory, tag, server)


def _burden(what: str, memory: int, tag: str, server: str) -> str:
    return f"{what}, under {tag} on {server}: up to {size(memory)} of its memory, and other clients feel it"


def bench_document(plan: BenchPlan, figures: Iterable[Figure]) -> Json:
    """``streamops.bench/1``."""
    return {
        "schema": "streamops.bench/1",
        "entries": plan.entries,
        "size_bytes": plan.size,
        "concurrency": plan.concurrency,
        "workers": plan.workers,
        "batch": plan.batch,
        "rate_per_second": plan.rate,
        "figures": [
            {column.key: column.value(one) for column in (*BENCH_COLUMNS, *BENCH_DETAIL_COLUMNS)}
            for one in figures
        ],
    }


def drill_document(plan: DrillPlan, moments: Iterable[DrillMoment], verdict: DrillVerdict) -> Json:
    """``streamops.bench.drill/1``."""
    return {
        "schema": "streamops.bench.drill/1",
        "events": plan.events,
        "slots": plan.slots,
        "workers": plan.workers,
        "work_seconds": [plan.least.total_seconds(), plan.most.total_seconds()],
        "errors_percent": plan.errors,
        "stop_half": plan.stop_half,
        "seed": plan.seed,
        "timeline": [{column.key: column.value(one) for column in DRILL_COLUMNS} for one in moments],
        "verdict": {
            "passed": verdict.passed,
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
            "returned": verdict.returned,
            "took_seconds": round(verdict.took.total_seconds(), 3),
            "could_seconds": round(verdict.could.total_seconds(), 3),
            "most_workers": verdict.most,
            "rested_workers": verdict.rested,
            "of_ideal": rounded(plan.ideal / verdict.took) if verdict.took else None,
        },
    }


def verdict_facts(plan: DrillPlan, verdict: DrillVerdict) -> tuple[Fact, ...]:
    """A verdict as people read it, a line each."""
    left = verdict.lag + verdict.pending + verdict.retrying
    share = ""
    if verdict.could:
        times = verdict.took / verdict.could
        share = f", {times:.2f} times what the workers that there were could have done it in"
    facts = (
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
        Fact("workers", (Cell(f"{verdict.killed:,} killed (SIGKILL), {verdict.returned:,} returned"),)),
        Fact("repeated", (Cell(_repeated(verdict)),)),
        Fact("most workers", (Cell(f"{verdict.most:,}, and {verdict.rested:,} in the end"),)),
        Fact("took", (Cell(f"{duration(verdict.took)}{share}"),)),
        _fact("verdict", "passed" if verdict.passed else "failed", holds=verdict.passed),
    )
    left_out = {"workers"} if not plan.stop_half else set()
    if plan.rest_at is None:
        left_out.add("most workers")
    return tuple(fact for fact in facts if fact.name not in left_out)


def _sum(verdict: DrillVerdict) -> str:
    handled, dead = counted(verdict.handled, "handled", "handled"), verdict.dead_letters
    ends = f"{handled} + {counted(dead, 'dead letter', 'dead letters')}"
    events = counted(verdict.events, *EVENT)
    if verdict.accounted:
        return f"{events} = {ends}"
    return f"{events}, but {ends}: {verdict.lost:,} lost, {verdict.astray:,} where they should not be"


def _repeated(verdict: DrillVerdict) -> str:
    if not verdict.repeated:
        return "no event was handled twice"
    times = counted(verdict.repeated, "time", "times")
    return (
        f"{times} an event was handled again, as happens where its worker is gone before it is acknowledged"
    )


def _fact(name: str, text: str, *, holds: bool) -> Fact:
    return Fact(name, (Cell(text, Tone.OK if holds else Tone.CRITICAL),))
