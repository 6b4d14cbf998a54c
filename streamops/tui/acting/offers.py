"""Which registered operations fit what the cursor is on."""

from typing import Any, Final

from msgspec import Struct

from streamops.model.fields import IntentField, intent_fields
from streamops.operations.operation import Operation
from streamops.operations.registry import OPERATIONS
from streamops.tui.acting.answers import read_answer
from streamops.tui.subjects import Subject

UNDO: Final = "undo"
OFFERED_ELSEWHERE: Final = frozenset({UNDO, "jobs.cancel", "streams.reclaim"})
"""Offered where there is something to undo, in the audit log and after an outcome; and in the list of jobs. Tending
goes on for as long as its process, and is a command alone."""
OF_DEAD_LETTERS: Final = frozenset({"replay", "dlq.purge"})


def operation_named(name: str) -> Operation[Any, Any] | None:
    """An operation by its name; none where there is none."""
    return OPERATIONS.get(name)


def offers(subject: Subject | None) -> tuple[Operation[Any, Any], ...]:
    """The operations whose forms can be filled in from a subject, or which need nothing known before."""
    return tuple(operation for operation in OPERATIONS.values() if _fits(operation, subject))


def _fits(operation: Operation[Any, Any], subject: Subject | None) -> bool:
    if operation.name in OFFERED_ELSEWHERE:
        return False
    if operation.name in OF_DEAD_LETTERS and (subject is None or not subject.dead_letters):
        return False
    intent: type[Struct] = operation.intent
    fields = intent_fields(intent)
    return all(_known(field, subject) for field in fields if field.argument and field.required)


def _known(field: IntentField, subject: Subject | None) -> bool:
    match field.completes:
        case "streams" | "queues":
            return subject is not None and bool(subject.stream)
        case "groups":
            return subject is not None and subject.group is not None
        case "consumers":
            return subject is not None and subject.consumer is not None
    return True


def undoing(audit_id: str) -> Struct | None:
    """The intent that takes an action back; none where no operation does."""
    operation = OPERATIONS.get(UNDO)
    if operation is None:
        return None
    intent: type[Struct] = operation.intent
    first = next(field for field in intent_fields(intent) if field.required)
    return intent(**{first.name: read_answer(first, audit_id)})
