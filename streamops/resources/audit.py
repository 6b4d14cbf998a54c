"""Actions of the audit log: columns, facts and JSON."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from streamops.model.acting import Action, Actor, AuditRecord, Outcome, Plan
from streamops.model.entries import PendingEntry
from streamops.model.json_text import Json, text_json
from streamops.model.wording import counted, idleness
from streamops.operations.registry import command_words
from streamops.resources.kinds import NAME_WIDTH, of_rows
from streamops.resources.plans import outcome_document, outcome_facts, plan_document, plan_facts
from streamops.resources.table import Cell, Column, Fact, Resource, Tone, values_json
from streamops.resources.text import safe
from streamops.resources.units import timestamp


def ending(action: Action) -> Cell:
    """How an action ended, in a few words."""
    if action.last is None:
        return Cell("not finished", Tone.UNKNOWN)
    outcome = action.last.outcome
    if outcome is None:
        return Cell("not understood", Tone.UNKNOWN)
    if outcome.stopped:
        return Cell(safe(f"stopped: {outcome.stopped}"), Tone.WARN)
    if outcome.failed_count:
        return Cell(f"done, {outcome.failed_count:,} failed", Tone.CRITICAL)
    if outcome.skipped_count:
        return Cell(f"done, {outcome.skipped_count:,} skipped", Tone.OK)
    return Cell("done", Tone.OK)


def applied(action: Action) -> int | None:
    """How many units were done; None if that is not known."""
    last = action.last
    return None if last is None or last.outcome is None else last.outcome.applied


def by_controller(action: Action) -> bool:
    """Whether a controller of pools did it: it says so in what it asked for, as the same user as a person may be."""
    try:
        intent = msgspec.json.decode(action.first.intent, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return action.first.operation == SCALE and bool(intent.get("because"))


def _who(action: Action) -> Cell:
    actor = action.first.actor
    if by_controller(action):
        return Cell(safe(f"controller@{actor.host}"), Tone.DIM)
    return Cell(safe(f"{actor.user}@{actor.host}"))


SCALE: Final = "scale.set"
ACTION = of_rows(Action, "the audit log, the stream streamops:audit")


AUDIT_COLUMNS: Final[tuple[Column[Action], ...]] = (
    ACTION.text("audit_id", "AUDIT ID", 18, lambda row: row.first.id, priority=0).means(
        "The action's ID: `streamops audit show` shows it in full, `streamops undo` undoes it."
    ),
    ACTION.moment("at", "TIME", 20, lambda row: row.first.at, priority=2).means(
        "When it began, by the server's clock."
    ),
    ACTION.column(
        "who",
        "WHO",
        14,
        lambda row: f"{row.first.actor.user}@{row.first.actor.host}",
        _who,
        flexible=True,
        priority=1,
    ).means(
        "The operating system's user and the machine; controller in the user's place where one scaled a pool."
    ),
    ACTION.text(
        "context", "CONTEXT", 12, lambda row: row.first.actor.context or None, flexible=True, priority=4
    ).means("The context in use, or the server's address."),
    ACTION.column(
        "operation",
        "OPERATION",
        16,
        lambda row: row.first.operation or None,
        lambda row: Cell(safe(command_words(row.first.operation)), Tone.STRONG),
        priority=0,
    ).means("What was done, as the command is called."),
    ACTION.text(
        "target", "TARGET", NAME_WIDTH, lambda row: row.first.target or None, flexible=True, priority=0
    ).means("Its target."),
    ACTION.count(
        "planned",
        "PLANNED",
        8,
        lambda row: row.first.plan.count if row.first.plan else None,
        descending=False,
        priority=3,
    ).means("How many entries, groups or consumers the plan counted."),
    ACTION.count("applied", "APPLIED", 8, applied, descending=False, priority=1).means(
        "How many were changed; unknown until it has ended."
    ),
    ACTION.column(
        "outcome", "OUTCOME", 16, lambda row: ending(row).text, ending, flexible=True, priority=1
    ).means("How it ended; unknown while it runs, or if its process died."),
    ACTION.text(
        "reason", "REASON", 16, lambda row: row.first.reason or None, flexible=True, priority=3
    ).means("The note of --reason."),
    ACTION.text("undone_by", "UNDONE BY", 18, lambda row: row.first.undone_by or None, priority=2).means(
        "The action that undid it."
    ),
    ACTION.text("continues", "CONTINUES", 18, lambda row: row.first.continues or None, priority=4).means(
        "The action whose job it resumed."
    ),
)


SHOWN = 20
"""Rows of the state before that people see one by one."""


def action_json(action: Action) -> Json:
    """An action as one row of JSON."""
    return values_json(AUDIT_COLUMNS, action)


def action_document(
    action: Action, before: Sequence[PendingEntry], other: Sequence[Mapping[str, Any]], intent: Json
) -> Json:
    """``streamops.audit.show/1``: an action with its intent, its plan, its outcome and what was before."""
    plan = action.first.plan
    outcome = None if action.last is None else action.last.outcome
    return {
        "schema": "streamops.audit.show/1",
        **action_json(action),
        "actor": _actor_json(action.first.actor),
        "undoes": list(action.first.undoes),
        "intent": {name: _readable(value) for name, value in intent.items()},
        "plan": None if plan is None else plan_document(plan),
        "before": [*map(_row_json, before), *other],
        "after": None if outcome is None else outcome_document(outcome),
    }


def action_facts(action: Action, before: Sequence[PendingEntry], other: Sequence[str]) -> tuple[Fact, ...]:
    """The same in words."""
    first = action.first
    rows = [Cell(safe(_row_text(row))) for row in before[:SHOWN]]
    if len(before) > SHOWN:
        rows.append(Cell(f"and {len(before) - SHOWN:,} more", Tone.DIM))
    facts = (
        Fact("action", (Cell(first.id, Tone.STRONG),)),
        Fact("time", (Cell(timestamp(first.at)),)),
        Fact("who", (Cell(safe(f"{_who(action).text}, process {first.actor.pid}")),)),
        Fact("context", (Cell(safe(f"{first.actor.context}, {first.actor.environment}")),)),
        _said("reason", first.reason),
        _said("continues", first.continues),
        _said("undoes", ", ".join(first.undoes)),
        _said("undone by", first.undone_by),
        *_plan(first),
        Fact("before", (*rows, *(Cell(safe(text)) for text in other))),
        *_outcome(action),
    )
    return tuple(fact for fact in facts if fact.lines)


def _plan(record: AuditRecord) -> tuple[Fact, ...]:
    plan: Plan | None = record.plan
    return _missing("plan") if plan is None else plan_facts(plan)


def _outcome(action: Action) -> tuple[Fact, ...]:
    outcome: Outcome | None = None if action.last is None else action.last.outcome
    return (Fact("outcome", (ending(action),)),) if outcome is None else outcome_facts(outcome)


def _missing(name: str) -> tuple[Fact, ...]:
    return (Fact(name, (Cell("not understood", Tone.UNKNOWN),)),)


def _said(name: str, text: str) -> Fact:
    return Fact(name, (Cell(safe(text)),) if text else ())


def _actor_json(actor: Actor) -> Json:
    return {
        "user": text_json(actor.user),
        "host": text_json(actor.host),
        "pid": actor.pid,
        "context": text_json(actor.context),
        "environment": actor.environment,
    }


def _row_text(row: PendingEntry) -> str:
    often = counted(row.delivery_count, "time", "times")
    return f"{row.id} owned by {row.consumer}, {idleness(row)}, delivered {often}"


def _readable(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """An intent's values with its IDs as people write them."""
    match value:
        case [int(ms), int(seq)]:
            return f"{ms}-{seq}"
        case list():
            return [_readable(part) for part in value]
    return value


def _row_json(row: PendingEntry) -> Json:
    return {
        "id": str(row.id),
        "consumer": text_json(row.consumer),
        "idle_seconds": round(row.idle.total_seconds(), 3),
        "deliveries": row.delivery_count,
    }


def _words(action: Action) -> str:
    first = action.first
    return f"{first.actor.user} {first.actor.host} {first.operation} {first.target} {first.reason}"


def _is_incomplete(action: Action) -> bool:
    outcome = None if action.last is None else action.last.outcome
    return outcome is None or bool(outcome.stopped or outcome.failed_count)


ACTIONS: Final = Resource[Action](
    key=lambda action: action.first.begun_id, columns=AUDIT_COLUMNS, text=_words, fault=_is_incomplete
)
