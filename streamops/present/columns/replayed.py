"""A history replayed, and decisions one by one: what ``autoscale simulate --history`` and ``--trace`` show."""

from collections.abc import Callable
from typing import Final

from streamops.present.cells import NOT_THERE, count_cell
from streamops.present.scaling import code_of, sentence_of
from streamops.present.table import Align, Cell, Column, Tone
from streamops.present.text import safe
from streamops.scaling.simulator.contest import OURS
from streamops.scaling.simulator.history import Told
from streamops.scaling.simulator.result import Step


def _seconds(key: str, title: str, text: str, pick: Callable[[Told], int | None]) -> Column[Told]:
    return Column(
        key=key,
        title=title,
        help=text,
        cell=lambda told: NOT_THERE if pick(told) is None else Cell(f"{pick(told):,}s"),
        value=pick,
        width=6,
        align=Align.RIGHT,
        priority=0,
    )


def _count(
    key: str, title: str, text: str, pick: Callable[[Told], int | None], priority: int
) -> Column[Told]:
    return Column(
        key=key,
        title=title,
        help=text,
        cell=lambda told: NOT_THERE if pick(told) is None else count_cell(pick(told)),
        value=pick,
        width=9,
        align=Align.RIGHT,
        priority=priority,
    )


TOLD_COLUMNS: Final[tuple[Column[Told], ...]] = (
    Column(
        key="policy",
        title="POLICY",
        help="Who would have decided; the clairvoyant is a bound that nobody reaches.",
        cell=lambda told: Cell(told.policy, Tone.STRONG if told.policy == OURS else Tone.PLAIN),
        value=lambda told: told.policy,
        width=12,
        priority=0,
    ),
    Column(
        key="worker_hours",
        title="WORKER HOURS",
        help="Workers paid for, starting ones too.",
        cell=lambda told: Cell(f"{told.worker_hours:,.2f}"),
        value=lambda told: round(told.worker_hours, 3),
        width=12,
        align=Align.RIGHT,
        priority=0,
    ),
    _seconds("p50_seconds", "P50", "The wait that half of the entries stay under.", lambda told: told.p50),
    _seconds("p99_seconds", "P99", "The wait that 99 of 100 entries stay under.", lambda told: told.p99),
    _count(
        "late_entries",
        "LATE",
        "Entries that waited longer than the objective.",
        lambda told: told.late_entries,
        0,
    ),
    Column(
        key="late",
        title="SHARE",
        help="Their share.",
        cell=lambda told: Cell(f"{told.late:.2%}", Tone.PLAIN if told.late else Tone.DIM),
        value=lambda told: round(told.late, 6),
        width=7,
        align=Align.RIGHT,
        priority=1,
    ),
    _count("most", "MOST", "The most workers there were.", lambda told: told.most, 1),
    _count("actions", "CHANGES", "Changes of the number of workers.", lambda told: told.actions, 2),
    _count("reversals", "REVERSALS", "Changes back within ten minutes.", lambda told: told.flaps, 3),
    Column(
        key="score",
        title="SCORE",
        help="The score J: 1 is the clairvoyant's, lower is better.",
        cell=lambda told: Cell(f"{told.score:.2f}"),
        value=lambda told: round(told.score, 4),
        width=6,
        align=Align.RIGHT,
        priority=2,
    ),
)


def _number(key: str, title: str, text: str, pick: Callable[[Step], int], width: int) -> Column[Step]:
    return Column(
        key=key,
        title=title,
        help=text,
        cell=lambda step: count_cell(pick(step)),
        value=pick,
        width=width,
        align=Align.RIGHT,
        priority=0,
    )


TRACE_COLUMNS: Final[tuple[Column[Step], ...]] = (
    _number("second", "SECOND", "When.", lambda step: step.second, 7),
    _number("queue", "QUEUE", "Entries not handled.", lambda step: step.queue, 9),
    Column(
        key="ready",
        title="WORKERS",
        help="Workers that work, of those that were asked for.",
        cell=lambda step: Cell(f"{step.ready}/{step.ordered}"),
        value=lambda step: step.ready,
        width=7,
        align=Align.RIGHT,
        priority=0,
    ),
    _number("target", "TARGET", "Workers there should be.", lambda step: step.wanted, 6),
    Column(
        key="code",
        title="RULE",
        help="The rule that decided.",
        cell=lambda step: Cell(
            safe(code_of(step)), Tone.PLAIN if step.wanted == step.ordered else Tone.STRONG
        ),
        value=code_of,
        width=12,
        priority=0,
    ),
    Column(
        key="text",
        title="WHY",
        help="Its reason, with numbers.",
        cell=lambda step: Cell(safe(sentence_of(step))),
        value=sentence_of,
        width=60,
        flexible=True,
        priority=0,
    ),
)
TRACE_DETAIL_COLUMNS: Final[tuple[Column[Step], ...]] = (
    _number("ordered", "ORDERED", "Workers that were asked for.", lambda step: step.ordered, 7),
)
