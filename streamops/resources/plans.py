"""Plans and outcomes: columns, facts and JSON, the same in the console and on the command line."""

from typing import Final

from streamops.model.acting import Impact, Outcome, Plan, Progress
from streamops.model.effects import FOREIGN_LEFT, NODES_GO, NOT_REDELIVERABLE, STRAY, Effect
from streamops.model.json_text import Json, text_json
from streamops.model.wording import counted
from streamops.operations.registry import command_words
from streamops.resources.kinds import NAME_WIDTH, of_rows, seconds
from streamops.resources.table import Align, Cell, Column, Fact, Tone
from streamops.resources.text import safe
from streamops.resources.units import duration, percent, rate

DANGER: Final = {
    Impact.REVERSIBLE: Cell("Low: can be undone"),
    Impact.REDELIVERS: Cell("Medium: changes what is delivered", Tone.WARN),
    Impact.DESTRUCTIVE: Cell("High: deletes what undo cannot restore", Tone.CRITICAL),
}


MEDIUM: Final = {
    "ack": "skips {}",
    "dlq.add": "makes dead letters of {}",
    "delayed.run-now": "delivers {} now",
    "groups.rewind": "delivers again or skips {}",
    "nack": "frees {} to be delivered again",
    "replay": "delivers {} again",
    "restore": "adds {} again",
    "streams.reclaim": "delivers {} again",
    "trim": "deletes {} for good",
}
"""What a plan of medium danger does to what it counts, by operation."""


LOSES_NOTHING: Final = Cell("Low: loses nothing")
STAY: Final = frozenset(row.reason for row in (*NOT_REDELIVERABLE.values(), FOREIGN_LEFT, STRAY))
"""Reasons for which dead letters that a plan counts stay where they are."""


NAMED: Final = 20
"""Skipped and failed entries that people see one by one."""


def plan_facts(plan: Plan) -> tuple[Fact, ...]:
    """A plan as people read it before they agree; what does not apply is left out."""
    more = plan.count - len(plan.sample)
    sample = [Cell(safe(line)) for line in plan.sample]
    if sample and more > 0:
        sample.append(Cell(f"and {more:,} more", Tone.DIM))
    facts = (
        Fact("plan", (Cell(safe(f"{command_words(plan.operation)} {plan.target}"), Tone.STRONG),)),
        Fact("count", (Cell(_count(plan), Tone.STRONG),)),
        Fact("impact", () if plan.idle else (_danger(plan),)),
        Fact("sample", tuple(sample)),
        _sentences("effect", plan.effects),
        _sentences("loses", [plan.loses] if plan.loses else [], Tone.CRITICAL),
        _sentences("held back by", [plan.held_back_by] if plan.held_back_by else [], Tone.WARN),
        _sentences("warning", plan.warnings, Tone.WARN),
        _sentences("undo", [] if plan.idle else [_undo(plan)]),
        _sentences("command", [plan.command] if plan.command else []),
    )
    return tuple(fact for fact in facts if fact.lines)


def outcome_facts(outcome: Outcome, undo: str = "") -> tuple[Fact, ...]:
    """What became of a plan as people read it; ``undo`` is the command line that takes it back."""
    facts = (
        Fact("outcome", (_headline(outcome),)),
        Fact("applied", (Cell(_applied(outcome)),)),
        _named(
            "skipped", [(one.id, one.reason) for one in outcome.skipped], outcome.skipped_count, Tone.WARN
        ),
        _named(
            "failed", [(one.id, one.error) for one in outcome.failed], outcome.failed_count, Tone.CRITICAL
        ),
        _sentences("note", outcome.notes),
        _sentences("stopped", [outcome.stopped] if outcome.stopped else [], Tone.WARN),
        _sentences("job", [outcome.job] if outcome.job else []),
        _sentences("audit", [outcome.audit_id] if outcome.audit_id else []),
        _sentences("undo", [undo] if undo else []),
        Fact("took", (Cell(duration(outcome.elapsed)),) if outcome.requested else ()),
    )
    return tuple(fact for fact in facts if fact.lines)


def undo_command(plan: Plan, outcome: Outcome) -> str:
    """The command line that takes an outcome back, or reverses it; empty if nothing can."""
    if not outcome.applied:
        return ""
    return f"streamops undo {outcome.audit_id}" if plan.undo and outcome.audit_id else plan.opposite


def progress_line(progress: Progress, width: int = 0) -> str:
    """How far it is: a bar of so many cells, done of total, the rate, and the time that is left."""
    share = min(1.0, progress.done / progress.total) if progress.total else 1.0
    full = int(share * width)
    bar = [f"{'█' * full}{'·' * (width - full)}"] if width else []
    rest = progress.remaining
    return "  ".join(
        [
            *bar,
            percent(share),
            f"{progress.done:,} of {progress.total:,}",
            *([rate(progress.rate)] if progress.rate is not None else []),
            *([f"{duration(rest)} left"] if rest else []),
        ]
    )


def plan_document(plan: Plan) -> Json:
    """``streamops.plan/1``."""
    return {
        "schema": "streamops.plan/1",
        "operation": plan.operation,
        "target": text_json(plan.target),
        "tier": int(plan.impact),
        "count": plan.count,
        "unit": plan.unit[0],
        "sample": [safe(line) for line in plan.sample],
        "effects": [safe(effect) for effect in plan.effects],
        "warnings": [safe(warning) for warning in plan.warnings],
        "loses": safe(plan.loses) or None,
        "held_back_by": safe(plan.held_back_by) or None,
        "reversible": plan.reversible,
        "undo": safe(plan.undo or _set_back(plan)) or None,
        "confirm": text_json(plan.confirm) if plan.confirm and plan.impact is Impact.DESTRUCTIVE else None,
        "command": safe(plan.command),
        "facts": [_fact_json(fact) for fact in plan.facts],
        "fingerprint": plan.fingerprint,
        **({"standing": True} if plan.recurring else {}),
    }


def _fact_json(fact: Effect) -> Json:
    """One fact of a plan: what becomes of how many, and whose."""
    count = fact.count
    at_most = None if count is None or fact.open_ended else count.upper
    return {
        "kind": str(fact.kind),
        "reason": fact.reason,
        "group": text_json(fact.group) if fact.group else None,
        "count": at_most if count is not None and count.exact else None,
        "at_least": None if count is None else count.lower,
        "at_most": at_most,
        "names": [_name_json(name) for name in fact.names],
    }


def _name_json(name: str | tuple[str, int]) -> Json:
    one, count = (name, None) if isinstance(name, str) else name
    return {"name": text_json(one), "count": count}


def outcome_document(outcome: Outcome, undo: str = "") -> Json:
    """``streamops.outcome/1``."""
    return {
        "schema": "streamops.outcome/1",
        "operation": outcome.operation,
        "target": text_json(outcome.target),
        "requested": outcome.requested,
        "applied": outcome.applied,
        "skipped": [{"id": text_json(one.id), "reason": safe(one.reason)} for one in outcome.skipped],
        "skipped_count": outcome.skipped_count,
        "failed": [{"id": text_json(one.id), "error": safe(one.error)} for one in outcome.failed],
        "failed_count": outcome.failed_count,
        "notes": [safe(note) for note in outcome.notes],
        "complete": outcome.complete,
        "stopped": safe(outcome.stopped) or None,
        "job": outcome.job or None,
        "audit_id": outcome.audit_id or None,
        "undo": undo or None,
        "elapsed_seconds": seconds(outcome.elapsed),
    }


def _undo(plan: Plan) -> str:
    return plan.undo or _set_back(plan) or "not by `streamops undo`"


def _set_back(plan: Plan) -> str:
    return f"not by `streamops undo`; `{plan.opposite}` reverses it" if plan.opposite else ""


def _count(plan: Plan) -> str:
    """What a plan counts; it is a bound where the server removes whole nodes of a stream only."""
    bound = "at most " if any(fact.reason == NODES_GO.reason for fact in plan.facts) else ""
    return f"{bound}{counted(plan.count, *plan.unit)}"


def _danger(plan: Plan) -> Cell:
    # Taking a claim back, say: it does no harm, and there is nothing to undo in turn.
    if plan.impact is Impact.REVERSIBLE and not plan.undo:
        return LOSES_NOTHING
    if plan.impact is Impact.REDELIVERS and (words := MEDIUM.get(plan.operation)):
        stay = sum(fact.count.upper for fact in plan.facts if fact.reason in STAY and fact.count)
        part = f"at most {plan.count - stay:,} of " if stay else ""
        return Cell(f"Medium: {words.format(part + _count(plan))}", Tone.WARN)
    return DANGER[plan.impact]


def _applied(outcome: Outcome) -> str:
    """How many of those planned, and what became of the others, in numbers that add up."""
    rest = outcome.requested - outcome.applied - outcome.skipped_count - outcome.failed_count
    others = (
        (outcome.skipped_count, "skipped"),
        (outcome.failed_count, "failed"),
        (rest, "not done" if outcome.complete else "not reached"),
    )
    told = ", ".join(f"{number:,} {what}" for number, what in others if number > 0)
    return f"{outcome.applied:,} of {outcome.requested:,}{f' planned: {told}' if told else ''}"


def _headline(outcome: Outcome) -> Cell:
    name = safe(f"{command_words(outcome.operation)} {outcome.target}")
    if not outcome.requested:
        return Cell(f"{name}: nothing selected, nothing done", Tone.DIM)
    if not outcome.complete:
        return Cell(f"{name}: partly done", Tone.WARN)
    if outcome.failed_count:
        return Cell(f"{name}: some failed", Tone.CRITICAL)
    if not outcome.applied:
        return Cell(f"{name}: nothing done", Tone.WARN)
    return Cell(f"{name}: done", Tone.OK)


def _sentences(name: str, sentences: tuple[str, ...] | list[str], tone: Tone = Tone.PLAIN) -> Fact:
    return Fact(name, tuple(Cell(safe(sentence), tone) for sentence in sentences))


def _named(name: str, entries: list[tuple[str, str]], total: int, tone: Tone) -> Fact:
    """How many, and the first of them with their reasons."""
    if not total:
        return Fact(name, ())
    lines = [Cell(safe(f"{entry_id}: {why}")) for entry_id, why in entries[:NAMED]]
    rest = total - len(lines)
    more = [Cell(f"and {rest:,} more", Tone.DIM)] if rest else []
    return Fact(name, (Cell(f"{total:,}", tone), *lines, *more))


PLAN = of_rows(Plan)


OUTCOME = of_rows(Outcome)


PLAN_COLUMNS: Final[tuple[Column[Plan], ...]] = (
    PLAN.text("operation", "OPERATION", 16, lambda plan: plan.operation).means("What is done."),
    PLAN.text("target", "TARGET", NAME_WIDTH, lambda plan: plan.target).means("What it acts on."),
    PLAN.column(
        "tier",
        "IMPACT",
        6,
        lambda plan: int(plan.impact),
        lambda plan: Cell(str(int(plan.impact))),
        align=Align.RIGHT,
    ).means(
        "Impact: 1 low (can be undone), 2 medium (changes what is delivered), 3 high (deletes what undo cannot restore)."
    ),
    PLAN.count("count", "COUNT", 9, lambda plan: plan.count, descending=False).means(
        "How many entries, groups or consumers it acts on."
    ),
    PLAN.text("held_back_by", "HELD BACK BY", NAME_WIDTH, lambda plan: plan.held_back_by or None).means(
        "What it has to keep, and why."
    ),
    PLAN.text("loses", "LOSES", NAME_WIDTH, lambda plan: plan.loses or None).means("What is lost for good."),
    PLAN.flag("reversible", "REVERSIBLE", 10, lambda plan: plan.reversible).means(
        "Whether `streamops undo` can undo it."
    ),
    PLAN.text("command", "COMMAND", 40, lambda plan: plan.command).means("The equivalent command line."),
    PLAN.text("fingerprint", "FINGERPRINT", 12, lambda plan: plan.fingerprint).means(
        "A digest of the server's state: two plans with the same fingerprint do the same."
    ),
)


OUTCOME_COLUMNS: Final[tuple[Column[Outcome], ...]] = (
    OUTCOME.text("operation", "OPERATION", 16, lambda outcome: outcome.operation).means("What was done."),
    OUTCOME.text("target", "TARGET", NAME_WIDTH, lambda outcome: outcome.target).means("Its target."),
    OUTCOME.count("requested", "REQUESTED", 9, lambda outcome: outcome.requested, descending=False).means(
        "How many the plan counted."
    ),
    OUTCOME.count("applied", "APPLIED", 9, lambda outcome: outcome.applied, descending=False).means(
        "How many were changed."
    ),
    OUTCOME.count("skipped", "SKIPPED", 9, lambda outcome: outcome.skipped_count, descending=False).means(
        "Entries skipped because they had changed since the plan."
    ),
    OUTCOME.count("failed", "FAILED", 9, lambda outcome: outcome.failed_count, descending=False).means(
        "How many failed."
    ),
    OUTCOME.flag("complete", "COMPLETE", 8, lambda outcome: outcome.complete).means("Whether it finished."),
    OUTCOME.text("job", "JOB", 12, lambda outcome: outcome.job or None).means(
        "The job's ID, the token to resume it with."
    ),
    OUTCOME.text("audit_id", "AUDIT ID", 18, lambda outcome: outcome.audit_id or None).means(
        "The action's ID in the audit log."
    ),
    OUTCOME.age("elapsed_seconds", "TOOK", 7, lambda outcome: outcome.elapsed, descending=False).means(
        "How long it took."
    ),
)
