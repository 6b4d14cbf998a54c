"""Pools of workers: rows, columns, facts and JSON."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from streamops.model.json_text import Json, text_json
from streamops.model.pools import Applied, Pool, PoolDecision, PoolSize, ScaleCode, Signals
from streamops.operations.autoscale.plan import is_led, is_steered, overrides_words
from streamops.resources.kinds import NAME_WIDTH, NOT_THERE, NUMBER, count_cell, of_rows
from streamops.resources.table import Align, Cell, Column, Fact, Resource, Tone
from streamops.resources.text import safe
from streamops.resources.units import count, duration, percent, rate, rfc3339

TROUBLE: Final = frozenset(
    {ScaleCode.STUCK, ScaleCode.SUSPECT, ScaleCode.NOT_STARTING, ScaleCode.LAG_UNKNOWN, ScaleCode.UNREADABLE}
)
"""Rules that decide where something is wrong."""


class PoolRow(Struct, frozen=True):
    """One pool.

    Attributes:
        pool: What it was told, and who decides about it.
        size: How many workers its target has; None if that could not be read.
        problem: Why not.
        now: The server's clock; None if it may not be asked.
        decisions: The newest decisions about it; None if they were not read.
    """

    pool: Pool
    size: PoolSize | None = None
    problem: str = ""
    now: datetime | None = None
    decisions: tuple[PoolDecision, ...] | None = None

    @property
    def trouble(self) -> str:
        """What of it could not be read, and why; empty if all could."""
        return self.problem or self.pool.problem

    @property
    def is_led(self) -> bool:
        """Whether a controller decides about it, by its lease."""
        return is_led(self.pool, self.now)

    @property
    def is_steered(self) -> bool:
        """Whether its controller was told not to follow the policy: a pause, or an override."""
        return is_steered(self.pool.steering, self.now)

    @property
    def limits(self) -> tuple[int, int] | None:
        """The least and the most workers in force; None if no limits apply."""
        least, most = self.pool.minimum, self.pool.maximum
        return (least, most) if self.is_led and least is not None and most is not None else None

    @property
    def seen(self) -> PoolDecision | None:
        """The last decision, if a controller decides now by readings of the pool."""
        last = self.pool.last
        return last if last is not None and last.was_read and self.is_led else None

    @property
    def ordered(self) -> int | None:
        """Workers asked for: as its target tells, as its controller read last or asked for since, as it was told."""
        if self.size is not None:
            return self.size.ordered
        if self.seen is None:
            return None if self.pool.order is None else self.pool.order.workers
        return self.seen.target if self.seen.outcome is Applied.DONE else self.seen.ordered

    @property
    def ready(self) -> int | None:
        """Workers that work, as its target or its controller tells."""
        if self.size is not None:
            return self.size.ready
        return self.seen.ready if self.seen is not None and self.seen.ready_known else None

    @property
    def desired(self) -> int | None:
        """Workers that its controller wants; None if none decides."""
        return None if self.seen is None else self.seen.target

    @property
    def is_trouble(self) -> bool:
        """Whether it needs a look: a problem, work that does not move, or a controller that is gone."""
        last = self.pool.last
        if last is None:
            return bool(self.trouble)
        return bool(self.trouble or last.problem) or not self.is_led or last.code in TROUBLE

    @property
    def age(self) -> timedelta | None:
        """How long ago its controller decided last; None if that is not known."""
        last = self.pool.last
        return None if last is None or self.now is None else max(self.now - last.at, timedelta())

    @property
    def why(self) -> str:
        """Why it has the workers it has, in a sentence."""
        if self.trouble:
            return self.trouble
        last = self.pool.last
        if last is not None and self.is_led:
            return f"{last.code}{self._when_otherwise(last)}: {last.text}"
        order = self.pool.order
        if order is not None and order.reason:
            return f"set by {order.by or 'an unknown user'}: {order.reason}"
        return "no controller scales it"

    def _when_otherwise(self, last: PoolDecision) -> str:
        """How old a decision is that was made at other numbers of workers than there are now; empty if it was not."""
        size = self.size
        if size is None or self.age is None or not last.was_read:
            return ""
        known = last.ready_known and size.ready is not None
        is_same = size.ordered in {last.ordered, last.target} and (not known or size.ready == last.ready)
        return "" if is_same else f", {duration(self.age)} ago"


def pool_json(row: PoolRow) -> Json:
    """One pool."""
    pool = row.pool
    return {
        "pool": text_json(pool.name),
        "stream": text_json(pool.stream) if pool.stream else None,
        "group": text_json(pool.group) if pool.group else None,
        "target": text_json(pool.target) if pool.target else None,
        "ordered": row.ordered,
        "ready": row.ready,
        "desired": row.desired,
        "minimum": row.limits and row.limits[0],
        "maximum": row.limits and row.limits[1],
        "mode": pool.mode or None,
        "scaling": None if pool.problem else text_json(overrides_words(pool.steering, row.now)),
        "controller": text_json(pool.lead.holder) if row.is_led and pool.lead else None,
        "why": text_json(row.why),
        "errors": None if pool.problem else pool.errors,
        "decided_at": None if pool.last is None else rfc3339(pool.last.at),
        "age_seconds": None if row.age is None else row.age.total_seconds(),
    }


def decision_json(decision: PoolDecision) -> Json:
    """One decision."""
    told = {key: value for key, value in asdict(decision.signals).items() if value is not None}
    return {
        "decided_at": rfc3339(decision.at),
        "code": decision.code.value,
        "text": text_json(decision.text),
        "ordered": decision.ordered if decision.was_read else None,
        "ready": decision.ready if decision.was_read and decision.ready_known else None,
        "target": decision.target if decision.was_read else None,
        "outcome": decision.outcome.value,
        "problem": text_json(decision.problem) if decision.problem else None,
        "signals": told,
        "outlook": [text_json(line) for line in decision.outlook],
        "controller": text_json(decision.by) if decision.by else None,
    }


def pool_facts(row: PoolRow) -> tuple[Fact, ...]:
    """What is known of one pool, for people."""
    pool, last = row.pool, row.pool.last
    lead = f"no controller runs: `{pool.controller_command}` starts one"
    if pool.lead is not None:
        lead = safe(pool.lead.holder) if row.is_led else f"none; last {safe(pool.lead.holder)}"
    told = [
        ("pool", safe(pool.name)),
        ("group", f"{safe(pool.stream)} ▸ {safe(pool.group)}" if pool.stream else ""),
        ("workers", _workers(row)),
        ("target", safe(pool.target)),
        ("limits", "" if row.limits is None else "{:,} to {:,}".format(*row.limits)),
        ("mode", safe(pool.mode)),
        ("controller", lead),
        ("scaling", safe(overrides_words(pool.steering, row.now))),
        ("why", safe(row.why)),
    ]
    facts = [_fact(name, text) for name, text in told if text]
    if last is not None and row.is_led:
        facts += [
            _fact("inputs", *(signal_lines(last.signals) if last.was_read else ())),
            _fact("next change", *map(safe, last.outlook)),
        ]
        if last.problem:
            facts.append(_fact("problem", safe(last.problem)))
    return tuple(fact for fact in facts if fact.lines)


def signal_lines(told: Signals) -> tuple[str, ...]:
    """What a decision rests on, a line each; what was not known says so."""
    lag = "unknown" if told.lag is None else count(told.lag)
    if told.lag is None and told.at_least:
        lag += f", at least {count(told.at_least)}"
    return (
        f"lag {lag}, pending {_count(told.pending)}",
        f"added {_speed(told.arrivals)}, forecast {_speed(told.coming)}",
        f"rate per worker {_speed(told.rate)}, busy {'unknown' if told.busy is None else percent(told.busy)}",
        f"lag age {_seconds(told.wait)}, predicted {_seconds(told.predicted)}, objective {_seconds(told.objective)}",
        f"startup time {_seconds(told.start_up)}"
        + ("" if told.cap is None else f", more than {told.cap} workers do not help"),
    )


def _workers(row: PoolRow) -> str:
    if row.ordered is None:
        return "unknown"
    ready = "ready unknown" if row.ready is None else f"{row.ready:,} ready"
    desired = "" if row.desired in (None, row.ordered) else f", {row.desired:,} desired"
    return f"{row.ordered:,} workers, {ready}{desired}"


def _fact(name: str, *lines: str) -> Fact:
    return Fact(name, tuple(Cell(line) for line in lines))


def _count(value: int | None) -> str:
    return "unknown" if value is None else count(value)


def _speed(value: float | None) -> str:
    return "unknown" if value is None else rate(value)


def _seconds(value: float | None) -> str:
    return "unknown" if value is None else duration(timedelta(seconds=value))


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
        "The worker count that its target is set to, ready or not.", "its target"
    ),
    POOL.column("ready", "READY", 5, lambda row: row.ready, _ready, priority=0, **NUMBER).means(
        "Workers that are ready, by its target or their heartbeats; ? if neither reports.",
        "its target, or its roster, streamops:roster:NAME",
    ),
    POOL.column(
        "desired",
        "DESIRED",
        7,
        lambda row: row.desired,
        _desired,
        align=Align.RIGHT,
        descending=True,
        priority=0,
    ).means("Worker count that its controller last decided on."),
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
        "Time since its controller's last decision, by the server's clock.",
        "TIME, less the time of that decision",
    ),
    POOL.column("why", "WHY", 40, lambda row: row.why, _why, flexible=True, priority=1).means(
        "The reason of the last decision."
    ),
)


POOL_DETAIL_COLUMNS: Final[tuple[Column[PoolRow], ...]] = (
    POOL.text("stream", "STREAM", NAME_WIDTH, lambda row: row.pool.stream or None, flexible=True).means(
        "The stream that its workers read, by its controller."
    ),
    POOL.text("group", "GROUP", 12, lambda row: row.pool.group or None, flexible=True).means(
        "Their group, by its controller."
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
    ).means("The controller that leads it now."),
)


DECISION_COLUMNS: Final[tuple[Column[PoolDecision], ...]] = (
    DECISION.moment("decided_at", "WHEN", 20, lambda row: row.at, priority=0).means(
        "The time of the decision, by the server's clock."
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
    ).means("Its outcome: kept, done, advised, waiting, changed or failed, with the reason."),
    DECISION.column(
        "text",
        "WHY",
        48,
        lambda row: row.text,
        lambda row: Cell(safe(row.text if not row.problem else f"{row.text} ({row.problem})")),
        flexible=True,
        priority=0,
    ).means("The reason, in a sentence with numbers."),
)


POOLS: Final = Resource[PoolRow](
    key=lambda row: row.pool.name,
    columns=POOL_COLUMNS,
    more=POOL_DETAIL_COLUMNS,
    text=lambda row: f"{row.pool.name} {row.pool.stream} {row.pool.group} {row.pool.target} {row.why}",
    fault=lambda row: row.is_trouble,
)
