"""Pools of workers, and the decisions about them, as columns."""

from typing import Final

from streamops.model.pools import Applied, PoolDecision
from streamops.resources.cells import NAME_WIDTH, NOT_THERE, count_cell
from streamops.resources.columns.kinds import NUMBER, of_rows
from streamops.resources.pools import PoolRow
from streamops.resources.table import Align, Cell, Column, Tone
from streamops.resources.text import safe
from streamops.resources.units import count, rfc3339

_HASH: Final = "the pool's hash, streamops:pool:NAME"
_LOG: Final = "the pool's decisions, streamops:decisions:NAME"
OUTCOME_TONES: Final = {
    Applied.KEPT: Tone.PLAIN,
    Applied.DONE: Tone.OK,
    Applied.ADVISED: Tone.PLAIN,
    Applied.WAITING: Tone.WARN,
    Applied.CHANGED: Tone.WARN,
    Applied.FAILED: Tone.CRITICAL,
}


def _ready(row: PoolRow) -> Cell:
    return NOT_THERE if row.ready is None and row.ordered is None else count_cell(row.ready)


def _desired(row: PoolRow) -> Cell:
    if row.desired is None:
        return NOT_THERE
    return Cell(count(row.desired), Tone.PLAIN if row.desired == row.ordered else Tone.WARN)


def _target(row: PoolDecision) -> Cell:
    if not row.was_read:
        return NOT_THERE
    return Cell(count(row.target), Tone.PLAIN if row.target == row.ordered else Tone.OK)


def _limits(row: PoolRow) -> Cell:
    return NOT_THERE if row.limits is None else Cell("{}-{}".format(*row.limits))


def _why(row: PoolRow) -> Cell:
    last = row.pool.last
    bad = bool(row.trouble) or (row.is_led and last is not None and bool(last.problem))
    tone = Tone.WARN if row.is_trouble else Tone.PLAIN
    return Cell(safe(row.why), Tone.CRITICAL if bad else tone)


POOL = of_rows(PoolRow, _HASH)
DECISION = of_rows(PoolDecision, _LOG)

POOL_COLUMNS: Final[tuple[Column[PoolRow], ...]] = (
    POOL.text("pool", "POOL", NAME_WIDTH, lambda row: row.pool.name, flexible=True, priority=0).means(
        "Its name, as `pools scale` and `autoscale run` take it."
    ),
    POOL.count("ordered", "WORKERS", 7, lambda row: row.ordered, absent=True, priority=0).means(
        "Desired workers, ready or not.", "its target"
    ),
    POOL.column("ready", "READY", 5, lambda row: row.ready, _ready, priority=0, **NUMBER).means(
        "Workers that are ready, by its target or their heartbeats; ? where neither tells.",
        "its target, or its roster, streamops:roster:NAME",
    ),
    POOL.column(
        "desired",
        "WANTED",
        6,
        lambda row: row.desired,
        _desired,
        align=Align.RIGHT,
        descending=True,
        priority=0,
    ).means("Workers that its controller decided on, where it has one."),
    POOL.column(
        "limits",
        "LIMITS",
        7,
        lambda row: None if row.limits is None else _limits(row).text,
        _limits,
        align=Align.RIGHT,
        priority=2,
    ).means("The minimum and maximum in force."),
    POOL.age("age_seconds", "DECIDED", 7, lambda row: row.age, absent=True, priority=2).means(
        "Time since its controller decided last, by the server's clock.", "TIME, less the moment of that"
    ),
    POOL.column("why", "WHY", 40, lambda row: row.why, _why, flexible=True, priority=1).means(
        "Why it has the workers it has."
    ),
)
POOL_DETAIL_COLUMNS: Final[tuple[Column[PoolRow], ...]] = (
    POOL.text("stream", "STREAM", NAME_WIDTH, lambda row: row.pool.stream or None, flexible=True).means(
        "The stream that its workers read, where a controller said so."
    ),
    POOL.text("group", "GROUP", 12, lambda row: row.pool.group or None, flexible=True).means(
        "Their group, the same."
    ),
    POOL.text("target", "TARGET", 24, lambda row: row.pool.target or None, flexible=True).means(
        "Its target: what starts and stops its workers.", "the configuration"
    ),
    POOL.text(
        "controller",
        "CONTROLLER",
        NAME_WIDTH,
        lambda row: row.pool.lead.holder if row.is_led and row.pool.lead else None,
        flexible=True,
    ).means("Who decides about it now."),
)
DECISION_COLUMNS: Final[tuple[Column[PoolDecision], ...]] = (
    DECISION.text("decided_at", "WHEN", 20, lambda row: rfc3339(row.at), priority=0).means(
        "When it was decided, by the server's clock."
    ),
    DECISION.text("code", "RULE", 12, lambda row: row.code.value, priority=0).means("The rule that decided."),
    DECISION.count(
        "ordered",
        "FROM",
        5,
        lambda row: row.ordered if row.was_read else None,
        absent=True,
        descending=False,
        priority=0,
    ).means("Desired workers before it."),
    DECISION.column(
        "target",
        "TO",
        5,
        lambda row: row.target if row.was_read else None,
        _target,
        align=Align.RIGHT,
        priority=0,
    ).means("Desired workers after it."),
    DECISION.column(
        "outcome",
        "OUTCOME",
        8,
        lambda row: row.outcome.value,
        lambda row: Cell(row.outcome.value, OUTCOME_TONES[row.outcome]),
        priority=1,
    ).means("What became of it: kept, done, advised; waiting, changed or failed, with the reason."),
    DECISION.column(
        "text",
        "WHY",
        48,
        lambda row: row.text,
        lambda row: Cell(safe(row.text if not row.problem else f"{row.text} ({row.problem})")),
        flexible=True,
        priority=0,
    ).means("Why, in a sentence with numbers."),
)
