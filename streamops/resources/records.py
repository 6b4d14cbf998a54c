"""Jobs and actions of the audit log as documents and in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from streamops.model.acting import Action, Actor, AuditRecord, Job, Outcome, Plan
from streamops.model.entries import PendingEntry
from streamops.model.json_text import Json, text_json
from streamops.model.wording import counted, idleness
from streamops.resources.columns.audit import AUDIT_COLUMNS, ending
from streamops.resources.columns.jobs import JOB_COLUMNS, JOB_DETAIL_COLUMNS
from streamops.resources.plans import Fact, outcome_document, outcome_facts, plan_document, plan_facts
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import timestamp

SHOWN = 20
"""Rows of the state before that people see one by one."""


def job_json(row: Job) -> Json:
    """A job as JSON."""
    values = {column.key: column.value(row) for column in (*JOB_COLUMNS, *JOB_DETAIL_COLUMNS)}
    return {key: text_json(value) if isinstance(value, str) else value for key, value in values.items()}


def action_json(action: Action) -> Json:
    """An action as one row of JSON."""
    values = {column.key: column.value(action) for column in AUDIT_COLUMNS}
    return {key: text_json(value) if isinstance(value, str) else value for key, value in values.items()}


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
        Fact("who", (Cell(safe(f"{first.actor} in {first.actor.context}, {first.actor.environment}")),)),
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
