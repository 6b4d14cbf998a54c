"""Pools of workers, and the decisions about them, as columns."""

from typing import Final

from streamops.model.pools import Applied, PoolDecision
from streamops.present.cells import NAME_WIDTH, NOT_THERE, duration_cell, name_cell, seconds
from streamops.present.pools import PoolRow
from streamops.present.table import Align, Cell, Column, Tone
from streamops.present.text import safe
from streamops.present.units import UNKNOWN, count, rfc3339

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


def _number(value: int | None) -> Cell:
    return NOT_THERE if value is None else Cell(count(value))


def _ready(row: PoolRow) -> Cell:
    known = row.ready is not None or row.ordered is None
    return _number(row.ready) if known else Cell(UNKNOWN, Tone.UNKNOWN)


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


POOL_COLUMNS: Final[tuple[Column[PoolRow], ...]] = (
    Column(
        key="pool",
        title="POOL",
        help="Its name, as `pools scale` and `autoscale run` take it.",
        source=_HASH,
        cell=lambda row: name_cell(row.pool.name),
        value=lambda row: row.pool.name,
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="ordered",
        title="WORKERS",
        help="Desired workers, ready or not.",
        source="its target",
        cell=lambda row: _number(row.ordered),
        value=lambda row: row.ordered,
        width=7,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="ready",
        title="READY",
        help="Workers that are ready, by its target or their heartbeats; ? where neither tells.",
        source="its target, or its roster, streamops:roster:NAME",
        cell=_ready,
        value=lambda row: row.ready,
        width=5,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="desired",
        title="WANTED",
        help="Workers that its controller decided on, where it has one.",
        source=_HASH,
        cell=_desired,
        value=lambda row: row.desired,
        width=6,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="limits",
        title="LIMITS",
        help="The minimum and maximum in force.",
        source=_HASH,
        cell=_limits,
        value=lambda row: None if row.limits is None else _limits(row).text,
        width=7,
        align=Align.RIGHT,
        priority=2,
    ),
    Column(
        key="age_seconds",
        title="DECIDED",
        help="Time since its controller decided last, by the server's clock.",
        source="TIME, less the moment of that",
        cell=lambda row: NOT_THERE if row.pool.last is None else duration_cell(row.age),
        value=lambda row: seconds(row.age),
        width=7,
        align=Align.RIGHT,
        priority=2,
        descending=True,
    ),
    Column(
        key="why",
        title="WHY",
        help="Why it has the workers it has.",
        source=_HASH,
        cell=_why,
        value=lambda row: row.why,
        width=40,
        flexible=True,
        priority=1,
    ),
)
POOL_DETAIL_COLUMNS: Final[tuple[Column[PoolRow], ...]] = (
    Column(
        key="stream",
        title="STREAM",
        help="The stream that its workers read, where a controller said so.",
        source=_HASH,
        cell=lambda row: name_cell(row.pool.stream) if row.pool.stream else NOT_THERE,
        value=lambda row: row.pool.stream or None,
        width=NAME_WIDTH,
        flexible=True,
    ),
    Column(
        key="group",
        title="GROUP",
        help="Their group, the same.",
        source=_HASH,
        cell=lambda row: name_cell(row.pool.group) if row.pool.group else NOT_THERE,
        value=lambda row: row.pool.group or None,
        width=12,
        flexible=True,
    ),
    Column(
        key="target",
        title="TARGET",
        help="Its target: what starts and stops its workers.",
        source="the configuration",
        cell=lambda row: Cell(safe(row.pool.target)) if row.pool.target else NOT_THERE,
        value=lambda row: row.pool.target or None,
        width=24,
        flexible=True,
    ),
    Column(
        key="controller",
        title="CONTROLLER",
        help="Who decides about it now.",
        source=_HASH,
        cell=lambda row: name_cell(row.pool.lead.holder) if row.is_led and row.pool.lead else NOT_THERE,
        value=lambda row: row.pool.lead.holder if row.is_led and row.pool.lead else None,
        width=NAME_WIDTH,
        flexible=True,
    ),
)
DECISION_COLUMNS: Final[tuple[Column[PoolDecision], ...]] = (
    Column(
        key="decided_at",
        title="WHEN",
        help="When it was decided, by the server's clock.",
        source=_LOG,
        cell=lambda row: Cell(rfc3339(row.at)),
        value=lambda row: rfc3339(row.at),
        width=20,
        priority=0,
    ),
    Column(
        key="code",
        title="RULE",
        help="The rule that decided.",
        source=_LOG,
        cell=lambda row: Cell(row.code.value),
        value=lambda row: row.code.value,
        width=12,
        priority=0,
    ),
    Column(
        key="ordered",
        title="FROM",
        help="Desired workers before it.",
        source=_LOG,
        cell=lambda row: Cell(count(row.ordered)) if row.was_read else NOT_THERE,
        value=lambda row: row.ordered if row.was_read else None,
        width=5,
        align=Align.RIGHT,
        priority=0,
    ),
    Column(
        key="target",
        title="TO",
        help="Desired workers after it.",
        source=_LOG,
        cell=_target,
        value=lambda row: row.target if row.was_read else None,
        width=5,
        align=Align.RIGHT,
        priority=0,
    ),
    Column(
        key="outcome",
        title="OUTCOME",
        help="What became of it: kept, done, advised; waiting, changed or failed, with the reason.",
        source=_LOG,
        cell=lambda row: Cell(row.outcome.value, OUTCOME_TONES[row.outcome]),
        value=lambda row: row.outcome.value,
        width=8,
        priority=1,
    ),
    Column(
        key="text",
        title="WHY",
        help="Why, in a sentence with numbers.",
        source=_LOG,
        cell=lambda row: Cell(safe(row.text if not row.problem else f"{row.text} ({row.problem})")),
        value=lambda row: row.text,
        width=48,
        flexible=True,
        priority=0,
    ),
)
