"""Policies beside each other: what ``autoscale simulate`` shows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from streamops.present.cells import NOT_THERE
from streamops.present.scaling import ScoreRow
from streamops.present.table import Align, Cell, Column, Tone
from streamops.present.units import count
from streamops.scaling.simulator.contest import OURS
from streamops.scaling.simulator.standings import EACH_FIXED, KEPT_FIXED, MEAN, ONE_FIXED, Standing

POLICIES: Final[Mapping[str, tuple[str, str]]] = {
    OURS: ("OURS", "The policy of this package."),
    EACH_FIXED: (
        "FIX EACH",
        "A number that never changes: for each load the one that scores best in hindsight.",
    ),
    KEPT_FIXED: (
        "FIX KEPT",
        "A number that never changes: for each load the fewest that serve 99 % of what can be served in time.",
    ),
    ONE_FIXED: ("FIX ONE", "A number that never changes: one for all shapes, the best in hindsight."),
    "flink": (
        "FLINK",
        "Flink's autoscaler: arrivals and backlog over the true rate, a band, downs after 10 min.",
    ),
    "judoscale": ("JUDOSCALE", "A band of queue latency, one worker at a time."),
    "aws": ("AWS", "Backlog per instance, target tracking."),
    "keda_lag": ("KEDA LAG", "KEDA on lag through an HPA, its target tuned to the true rate."),
    "keda_lag_100": ("KEDA 100", "The same with a target of 100."),
    "keda_pending": ("KEDA PEND", "KEDA on pending entries through an HPA."),
    "dask": ("DASK", "Dask's adaptive deployments, which know the true duration."),
    "celery": ("CELERY", "Celery's autoscale option, by reserved requests."),
}
"""Title and meaning of each, in the order of the table."""


def score_columns(policies: Sequence[str]) -> tuple[Column[ScoreRow], ...]:
    """A column for the shape, and one for the scores of each policy, the last ones dropped first."""
    shape: Column[ScoreRow] = Column(
        key="shape",
        title="SHAPE",
        help="The load; the mean of all stands last.",
        cell=lambda row: Cell(row.shape, Tone.STRONG if row.shape == MEAN else Tone.PLAIN),
        value=lambda row: row.shape,
        width=10,
        priority=0,
    )
    return (shape, *(_score_column(name, place) for place, name in enumerate(policies)))


def _score_column(policy: str, place: int) -> Column[ScoreRow]:
    title, text = POLICIES[policy]
    return Column(
        key=policy,
        title=title,
        help=f"{text} The score: 1 is what a clairvoyant reaches, lower is better.",
        cell=lambda row: _score(row, policy),
        value=lambda row: round(row.scores[policy], 3),
        width=9,
        align=Align.RIGHT,
        priority=place,
    )


def _score(row: ScoreRow, policy: str) -> Cell:
    """A score; the best of the row stands out."""
    number = row.scores[policy]
    return Cell(f"{number:.2f}", Tone.OK if number == min(row.scores.values()) else Tone.PLAIN)


def _number(
    key: str, title: str, text: str, pick: Callable[[Standing], float], *, digits: int = 1, priority: int = 1
) -> Column[Standing]:
    return Column(
        key=key,
        title=title,
        help=text,
        cell=lambda row: Cell(f"{pick(row):,.{digits}f}"),
        value=lambda row: round(pick(row), 4),
        width=max(7, len(title)),
        align=Align.RIGHT,
        priority=priority,
    )


STANDING_COLUMNS: Final[tuple[Column[Standing], ...]] = (
    Column(
        key="shape",
        title="SHAPE",
        help="The load, or the mean of all.",
        cell=lambda row: Cell(row.shape),
        value=lambda row: row.shape,
        width=10,
        priority=0,
    ),
    Column(
        key="policy",
        title="POLICY",
        help="Who decided.",
        cell=lambda row: Cell(row.policy, Tone.STRONG if row.policy == OURS else Tone.PLAIN),
        value=lambda row: row.policy,
        width=12,
        priority=0,
    ),
    _number(
        "score",
        "SCORE",
        "The score J: 1 is what a clairvoyant reaches.",
        lambda row: row.score,
        digits=2,
        priority=0,
    ),
    Column(
        key="late",
        title="LATE",
        help="Share of entries that waited longer than the objective, whether anybody could help it or not.",
        cell=lambda row: Cell(f"{row.late:.1%}"),
        value=lambda row: round(row.late, 6),
        width=6,
        align=Align.RIGHT,
        priority=0,
    ),
    _number(
        "p99_seconds", "P99", "The wait that 99 of 100 stay under, in seconds.", lambda row: row.p99, digits=0
    ),
    _number(
        "worker_hours",
        "HOURS",
        "Workers paid for, in hours.",
        lambda row: row.worker_hours,
        digits=1,
        priority=0,
    ),
    _number("actions", "ACTIONS", "Changes of the number of workers.", lambda row: row.actions),
    _number(
        "reversals",
        "REVERSALS",
        "Changes back within ten minutes.",
        lambda row: row.flaps,
        digits=1,
        priority=2,
    ),
    Column(
        key="most",
        title="MOST",
        help="The most workers there were.",
        cell=lambda row: Cell(count(row.most)),
        value=lambda row: row.most,
        width=5,
        align=Align.RIGHT,
        priority=1,
    ),
)


def _fault(key: str, title: str, text: str, pick: Callable[[Standing], int]) -> Column[Standing]:
    return Column(
        key=key,
        title=title,
        help=text,
        cell=lambda row: Cell(count(pick(row)), Tone.WARN) if pick(row) else NOT_THERE,
        value=pick,
        width=8,
        align=Align.RIGHT,
        priority=3,
    )


STANDING_DETAIL_COLUMNS: Final[tuple[Column[Standing], ...]] = (
    _number(
        "p50_seconds", "P50", "The wait that half of the entries stay under.", lambda row: row.p50, digits=0
    ),
    _fault("ups_stuck", "UPS STUCK", "Orders while handlers stood still.", lambda row: row.ups_stuck),
    _fault(
        "downs_unknown",
        "DOWNS NIL",
        "Workers let go while the lag was unknown.",
        lambda row: row.downs_unknown,
    ),
    _fault(
        "false_caps",
        "FALSE CAPS",
        "Looks that called a pool saturated which was not.",
        lambda row: row.false_caps,
    ),
    Column(
        key="runs",
        title="RUNS",
        help="How many runs these are the means of.",
        cell=lambda row: Cell(count(row.runs)),
        value=lambda row: row.runs,
        width=5,
        align=Align.RIGHT,
    ),
)
