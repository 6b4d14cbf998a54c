"""Pools of workers in full: what they have and why, and what was decided before. Pure lines of cells."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from streamops.model.pools import PoolDecision
from streamops.present.columns.pools import OUTCOME_TONES
from streamops.present.plans import Fact
from streamops.present.pools import TROUBLE, PoolRow, pool_facts
from streamops.present.table import Cell, Tone
from streamops.present.text import safe
from streamops.present.units import count, duration, rfc3339
from streamops.tui.acting.plan_lines import fact_lines
from streamops.tui.details import paragraph
from streamops.tui.paint import BLANK_LINE, Line

SAID_ABOVE: Final = "pool"
AGE_WIDTH: Final = 8
ROOM_FOR_LABELS: Final = 60


def pool_facts_lines(row: PoolRow, width: int) -> list[Line]:
    """A pool, why it has the workers it has, what that rests on, and what would change it."""
    facts = [fact for fact in pool_facts(row) if fact.name != SAID_ABOVE]
    title = paragraph(safe(row.pool.name), width, Tone.STRONG)
    return [*title, *(fact_lines(facts, width) if width >= ROOM_FOR_LABELS else _narrow(facts, width))]


def decisions_lines(decisions: Sequence[PoolDecision], now: datetime | None, width: int) -> list[Line]:
    """What was decided, newest first: those that said the same as the one before were not written down."""
    lines: list[Line] = [(Cell(" Decisions", Tone.STRONG),)]
    if not decisions:
        lines += paragraph(
            "none yet: a controller that decides is `streamops autoscale run`", width, Tone.DIM
        )
    for decision in decisions:
        lines.append(_decision_line(decision, now))
        lines += paragraph(safe(decision.text), width, Tone.PLAIN, indent=AGE_WIDTH + 2)
        if decision.problem:
            lines += paragraph(
                f"✗ {safe(decision.problem)}", width, Tone.CRITICAL, indent=AGE_WIDTH + 2, hang=2
            )
    return lines


def pool_lines(row: PoolRow, decisions: Sequence[PoolDecision], width: int) -> list[Line]:
    """All of it."""
    return [*pool_facts_lines(row, width), BLANK_LINE, *decisions_lines(decisions, row.now, width)]


def _narrow(facts: Sequence[Fact], width: int) -> list[Line]:
    """Facts with their names before them, or above where they are several: nothing beside them stays empty."""
    lines: list[Line] = []
    for fact in facts:
        if len(fact.lines) == 1:
            lines += paragraph(f"{fact.name}: {fact.lines[0].text}", width, fact.lines[0].tone, hang=2)
        else:
            lines.append((Cell(f" {fact.name}", Tone.DIM),))
            lines += [
                line
                for cell in fact.lines
                for line in paragraph(cell.text, width, cell.tone, indent=3, hang=2)
            ]
    return lines


def _decision_line(decision: PoolDecision, now: datetime | None) -> Line:
    when = rfc3339(decision.at) if now is None else duration(max(now - decision.at, timedelta()))
    moved = decision.target != decision.ordered
    sizes = "" if not decision.was_read else f"  {count(decision.ordered)}"
    if decision.was_read and moved:
        sizes += f" → {count(decision.target)}"
    return (
        Cell(f" {when.rjust(AGE_WIDTH)} ", Tone.DIM),
        Cell(decision.code.value, Tone.WARN if decision.code in TROUBLE else Tone.STRONG),
        Cell(sizes, Tone.OK if moved else Tone.PLAIN),
        Cell(f"  {decision.outcome.value}", OUTCOME_TONES[decision.outcome]),
    )
