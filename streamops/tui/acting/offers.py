"""Which operations fit what the cursor is on, and what their forms are filled in with."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.dead_letters import QueueSummary
from streamops.model.fields import IntentField, intent_fields, is_readable
from streamops.model.observation import GroupView, StreamView
from streamops.model.wording import counted, first_few
from streamops.monitor.details import has_workers
from streamops.operations.losses import TrimEvidence
from streamops.operations.operation import Operation, Prepared
from streamops.operations.registry import OPERATIONS
from streamops.operations.replay.intent import ReplayMode
from streamops.operations.trim.intent import TrimIntent
from streamops.resources.text import safe
from streamops.settings.state import new_backup
from streamops.tui.acting.questions import GIVER, RECEIVER, read_answer
from streamops.tui.rows.selection import Selection, SelectionKind

UNDO: Final = "undo"
OFFERED_ELSEWHERE: Final = frozenset({UNDO, "jobs.cancel", "streams.reclaim"})
"""Offered where there is something to undo, in the audit log and after an outcome; and in the list of jobs. Tending
goes on for as long as its process, and is a command alone."""
MARKED: Final = frozenset({SelectionKind.PENDING, SelectionKind.ENTRY, SelectionKind.DEAD_LETTER})
"""Rows of lists in which several can be marked."""
OF_DEAD_LETTERS: Final = frozenset({"replay", "dlq.purge"})


def operation_named(name: str) -> Operation[Any, Any] | None:
    """An operation by its name; None if there is none."""
    return OPERATIONS.get(name)


def offers(selection: Selection | None) -> tuple[Operation[Any, Any], ...]:
    """The operations whose forms can be filled in from a subject, or which need nothing known before."""
    return tuple(operation for operation in OPERATIONS.values() if _fits(operation, selection))


def _fits(operation: Operation[Any, Any], selection: Selection | None) -> bool:
    if operation.name in OFFERED_ELSEWHERE:
        return False
    if operation.name in OF_DEAD_LETTERS and (selection is None or not selection.dead_letters):
        return False
    intent: type[Struct] = operation.intent
    fields = intent_fields(intent)
    return all(_known(field, selection) for field in fields if field.argument and field.required)


def _known(field: IntentField, selection: Selection | None) -> bool:
    match field.completes:
        case "streams" | "queues":
            return selection is not None and bool(selection.stream)
        case "groups":
            return selection is not None and selection.group is not None
        case "consumers":
            return selection is not None and selection.consumer is not None
    return True


def undoing(audit_id: str) -> Struct | None:
    """The intent that takes an action back; None if no operation does."""
    operation = OPERATIONS.get(UNDO)
    if operation is None:
        return None
    intent: type[Struct] = operation.intent
    first = next(field for field in intent_fields(intent) if field.required)
    return intent(**{first.name: read_answer(first, audit_id)})


def names_for(
    field: IntentField, streams: Sequence[StreamView], selection: Selection | None, given: Mapping[str, Any]
) -> Sequence[str]:
    """Names to complete to: the streams there are, the subject's groups, the consumers of its group.

    Only names that a person can type: an escaped one would name something else. What one row of the form is given to
    begin with is not offered for the other.
    """
    names: Sequence[str] = ()
    if field.completes in {"streams", "queues"}:
        names = [view.stream.name for view in streams]
    elif field.completes == "groups":
        names = [group.group.name for group in _groups(streams, selection)]
    elif field.completes == "consumers" and selection and (view := _group(streams, selection)):
        names = [consumer.name for consumer in view.group.members or ()]
        if field.name == RECEIVER:
            giver = given.get(GIVER, selection.consumer)
            names = [name for name in names if is_readable(name) and name != giver]
        else:
            names = [name for name in names if name != given.get(RECEIVER)]
    return [name for name in names if name.isprintable()]


def consumers_for(
    intent: type[Struct], streams: Sequence[StreamView], selection: Selection | None
) -> dict[str, str]:
    """The consumers that a finding about the group hands entries over from and to, as the form's values."""
    view = _group(streams, selection)
    # A replay has a receiver too, which is a stream.
    asked = {one.name for one in intent_fields(intent) if one.completes == "consumers"}
    if view is None or selection is None or RECEIVER not in asked:
        return {}
    receivers = (finding.receiver for finding in view.findings)
    found = {RECEIVER: next((name for name in receivers if name not in (None, selection.consumer)), None)}
    if selection.consumer is None:
        found[GIVER] = next((finding.consumer for finding in view.findings if finding.consumer), None)
    return {name: consumer for name, consumer in found.items() if consumer is not None and name in asked}


def form_note(operation: str, selection: Selection) -> str:
    """What to know of a form before it is filled in; empty for nothing."""
    if operation == "scale.set":
        return "the count stays until it is changed; O (override) sets one for a time"
    if len(selection.ids) == 1 and not selection.chosen and selection.sort in MARKED:
        return "for the entry under the cursor only; Esc, then Space or * marks others"
    return ""


def mode_for(queue: QueueSummary, streams: Sequence[StreamView]) -> ReplayMode | None:
    """How dead letters go back unless the operator says so; None if that is the operator's to say.

    To the group that gave them up alone, where the stream has others and streamops workers consume for it: nobody else
    reads a retry stream.
    """
    groups = _groups_of_source(queue, streams)
    served = {
        view.group.name
        for view in groups
        if has_workers([member.name for member in view.group.members or ()])
    }
    gave_up = {kind.group for kind, _ in queue.tally.kinds}
    return ReplayMode.RETRY if len(groups) > 1 and gave_up and gave_up <= served else None


def why_mode_is_needed(queue: QueueSummary, streams: Sequence[StreamView]) -> str:
    """Why a replay to where dead letters came from takes a mode; empty if it does not, or that is not known."""
    groups = _groups_of_source(queue, streams)
    names = first_few([safe(view.group.name) for view in groups])
    return f"{safe(queue.source or '')} has {len(groups)} groups: {names}" if len(groups) > 1 else ""


def most_of(intent: type[Struct], stream: str) -> TrimIntent | None:
    """The trim that drops all that is safe to drop, to be counted; None if another operation is asked for."""
    return TrimIntent(stream=stream, maxlen=0, exact=True) if issubclass(intent, TrimIntent) else None


def safe_to_trim(prepared: Prepared[TrimIntent, TrimEvidence]) -> str:
    """How many entries there are, and how many of them can be dropped safely."""
    length, removable = prepared.evidence.length, prepared.evidence.removable
    number = f"{removable.lower:,}" if removable.exact else f"{removable.lower:,} to {removable.upper:,}"
    words = f"{number} of {counted(length, 'entry', 'entries')} were safe to drop"
    return f"{words}: maxlen 0 drops all that are" if removable.lower else words


def _groups_of_source(queue: QueueSummary, streams: Sequence[StreamView]) -> Sequence[GroupView]:
    return next((view.groups for view in streams if view.stream.name == queue.source), ())


def _group(streams: Sequence[StreamView], selection: Selection | None) -> GroupView | None:
    if selection is None or selection.group is None:
        return None
    return next((one for one in _groups(streams, selection) if one.group.name == selection.group), None)


def _groups(streams: Sequence[StreamView], selection: Selection | None) -> Sequence[GroupView]:
    return next((view.groups for view in streams if selection and view.stream.name == selection.stream), ())


def backup_for(operation: str, intent: type[Struct], selection: Selection | None) -> dict[str, str]:
    """A new file in the state directory as the form's value; nothing if none is written, or there is no such place."""
    if selection is None:
        return {}
    target = list(filter(None, [selection.pool or selection.stream, selection.group]))
    with suppress(SettingsError):
        return {
            field.name: new_backup(operation, target, os.environ)
            for field in intent_fields(intent)
            if field.backup
        }
    return {}
