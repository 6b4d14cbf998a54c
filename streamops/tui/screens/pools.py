"""Pools of workers: all of them, and one with what was decided about it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from streamops.model.pools import PoolDecision
from streamops.resources.pools import (
    OUTCOME_TONES,
    POOLS,
    TROUBLE,
    PoolRow,
    pool_facts,
)
from streamops.resources.table import Cell, Fact, Tone
from streamops.resources.text import safe
from streamops.resources.units import count, duration, timestamp
from streamops.tui import routes
from streamops.tui.lines.details import fact_lines, heading, paragraph
from streamops.tui.rows.selection import Selection
from streamops.tui.screens.read_listing import Page, ReadingFrame, ReadList, ReadListing
from streamops.tui.screens.workers import selection_of_pool
from streamops.tui.source import Source
from streamops.tui.widgets.paint import BLANK_LINE, Line

FEW_DECISIONS = 20
"""As many as the pane may show."""


def selection_of_row(row: PoolRow) -> Selection:
    """A pool as what is acted on."""
    return selection_of_pool(row.pool.name, row.pool, row.now)


MOST_DECISIONS = 100


class PoolScreen(ReadingFrame[PoolRow]):
    """A pool in full, read again with every observation."""

    HINTS = ("pool.group", "tail", ("read_now", "reload"), ("copy_id", "copy name"), "back")

    follows = True

    async def read(self, source: Source) -> PoolRow:
        """The pool with its decisions."""
        now = await source.pools.clock()
        ((pool, size),) = await source.pools.with_sizes([await source.pools.one(self.copyable())], now)
        decisions = await source.pools.decisions(self.copyable(), MOST_DECISIONS)
        return PoolRow(pool, size, now=now, decisions=tuple(decisions))

    def lines(self, thing: PoolRow, width: int) -> Sequence[Line]:
        """What it has, why, and the decisions."""
        return pool_lines(thing, width)

    def selection(self) -> Selection | None:
        """The pool."""
        return None if self.thing is None else selection_of_row(self.thing)

    def stream_name(self) -> str | None:
        """The stream that its workers read."""
        return None if self.thing is None else self.thing.pool.stream or None

    def action_group(self) -> None:
        """Show the group whose work it does."""
        pool = None if self.thing is None else self.thing.pool
        if pool is not None and pool.stream and pool.group:
            self.console.go(routes.GroupRoute(pool.stream, pool.group))


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
    lines: list[Line] = [heading("Decisions")]
    if not decisions:
        lines += paragraph("no decisions yet: `streamops autoscale run` starts a controller", width, Tone.DIM)
    for decision in decisions:
        lines.append(_decision_line(decision, now))
        lines += paragraph(safe(decision.text), width, Tone.PLAIN, indent=AGE_WIDTH + 2)
        if decision.problem:
            lines += paragraph(
                f"✗ {safe(decision.problem)}", width, Tone.CRITICAL, indent=AGE_WIDTH + 2, hang=2
            )
    return lines


def pool_lines(row: PoolRow, width: int) -> list[Line]:
    """A pool, and the decisions about it where they were read."""
    lines = pool_facts_lines(row, width)
    return (
        lines
        if row.decisions is None
        else [*lines, BLANK_LINE, *decisions_lines(row.decisions, row.now, width)]
    )


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
    when = timestamp(decision.at) if now is None else duration(max(now - decision.at, timedelta()))
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


async def _read(screen: ReadListing[PoolRow], source: Source) -> Page[PoolRow]:
    """All pools; what was decided about the one under the cursor, else about the first, is read too."""
    known = {row.pool.name: row.decisions for row in screen.page.rows}
    now = await source.pools.clock()
    pools = await source.pools.with_sizes(await source.pools.all(), now)
    if (row := screen.list.highlighted or next(iter(screen.page.rows), None)) is not None:
        known[row.pool.name] = tuple(await source.pools.decisions(row.pool.name, FEW_DECISIONS))
    return Page(
        rows=tuple(PoolRow(pool, size, now=now, decisions=known.get(pool.name)) for pool, size in pools),
        nothing="no pool has a controller, or supervisors that follow one: `autoscale run`, `run --workers auto`",
    )


POOL_LIST: Final = ReadList(
    resource=POOLS,
    hints=(("open", "decisions"), ("workers", "workers"), "filter", "faults", "back"),
    read=_read,
    every=2.0,
    leads=lambda row: routes.PoolRoute(row.pool.name),
    selects=selection_of_row,
    stream=lambda row: row.pool.stream or None,
    detail=pool_lines,
)
