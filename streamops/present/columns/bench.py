"""Benchmarks and drills: what ``bench`` and ``bench drill`` show."""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from streamops.model.bench import DrillMoment, Figure
from streamops.present.cells import NOT_THERE, count_cell, duration_cell, rate_cell, rounded
from streamops.present.table import Align, Cell, Column, Tone

MILLISECOND: Final = timedelta(milliseconds=1)
WHAT_WIDTH: Final = 30


def _latency(span: timedelta | None) -> Cell:
    """A span that may be a small part of a millisecond."""
    return NOT_THERE if span is None else Cell(f"{span / MILLISECOND:,.2f} ms")


def _exact(span: timedelta | None) -> float | None:
    """A span for machines, to the microsecond."""
    return None if span is None else span.total_seconds()


def _rate(per_second: float | None) -> Cell:
    return NOT_THERE if per_second is None else rate_cell(per_second)


def _span_column(
    key: str, title: str, text: str, pick: Callable[[Figure], timedelta | None]
) -> Column[Figure]:
    return Column(
        key=f"{key}_seconds",
        title=title,
        help=text,
        cell=lambda figure: _latency(pick(figure)),
        value=lambda figure: _exact(pick(figure)),
        width=10,
        align=Align.RIGHT,
        priority=0,
    )


BENCH_COLUMNS: Final[tuple[Column[Figure], ...]] = (
    Column(
        key="what",
        title="MEASURED",
        help="What was measured.",
        cell=lambda figure: Cell(figure.what),
        value=lambda figure: figure.what,
        width=WHAT_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="entries",
        title="ENTRIES",
        help="How many entries it took.",
        cell=lambda figure: count_cell(figure.entries),
        value=lambda figure: figure.entries,
        width=9,
        align=Align.RIGHT,
        priority=2,
    ),
    Column(
        key="took_seconds",
        title="TOOK",
        help="How long that took.",
        cell=lambda figure: duration_cell(figure.took),
        value=lambda figure: _exact(figure.took),
        width=7,
        align=Align.RIGHT,
        priority=3,
    ),
    Column(
        key="per_second",
        title="RATE",
        help="Entries a second; a dash where a latency was measured.",
        cell=lambda figure: _rate(figure.per_second),
        value=lambda figure: rounded(figure.per_second),
        width=9,
        align=Align.RIGHT,
        priority=0,
    ),
    _span_column(
        "p50",
        "P50",
        "The median latency, the longest of the faster half; a dash where a rate was measured.",
        lambda figure: figure.p50,
    ),
    _span_column("p99", "P99", "The latency that one of a hundred exceeds.", lambda figure: figure.p99),
    _span_column("max", "MAX", "The longest latency.", lambda figure: figure.longest),
    Column(
        key="of_bare",
        title="OF BARE",
        help="The rate, or the median, as a multiple of a bare redis-py loop's; a dash without --bare.",
        cell=lambda figure: NOT_THERE if figure.of_bare is None else Cell(f"{figure.of_bare:.2f}"),
        value=lambda figure: rounded(figure.of_bare),
        width=7,
        align=Align.RIGHT,
        priority=1,
    ),
)
BENCH_DETAIL_COLUMNS: Final[tuple[Column[Figure], ...]] = (
    Column(
        key="measure",
        title="MEASURE",
        help="Its name, which stays the same.",
        cell=lambda figure: Cell(figure.measure),
        value=lambda figure: figure.measure,
        width=18,
    ),
    Column(
        key="bare_per_second",
        title="BARE RATE",
        help="The rate of a bare redis-py loop.",
        cell=lambda figure: _rate(figure.bare_per_second),
        value=lambda figure: rounded(figure.bare_per_second),
        width=9,
        align=Align.RIGHT,
    ),
    _span_column(
        "bare_p50", "BARE P50", "The median of a bare redis-py loop.", lambda figure: figure.bare_p50
    ),
)


def _number_column(
    key: str, title: str, text: str, pick: Callable[[DrillMoment], int], width: int = 9
) -> Column[DrillMoment]:
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


DRILL_COLUMNS: Final[tuple[Column[DrillMoment], ...]] = (
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
        "Events in the hands of a worker, not acknowledged.",
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
