"""The names that a form's rows complete to and are filled in with, from what was observed. Pure."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from streamops.model.fields import IntentField, intent_fields, is_readable
from streamops.model.observation import GroupView, Observation
from streamops.tui.acting.questions import RECEIVER
from streamops.tui.subjects import Subject


def names_for(field: IntentField, observation: Observation | None, subject: Subject | None) -> Sequence[str]:
    """Names to complete to: the streams there are, the subject's groups, the consumers of its group.

    Only names that a person can type: an escaped one would name something else.
    """
    views = () if observation is None else observation.streams
    names: Sequence[str] = ()
    if field.completes in {"streams", "queues"}:
        names = [view.stream.name for view in views]
    elif field.completes == "groups":
        names = [group.group.name for group in _groups(observation, subject)]
    elif field.completes == "consumers" and subject and (view := _group(observation, subject)):
        names = [consumer.name for consumer in view.group.members or ()]
        if field.name == RECEIVER:
            names = [name for name in names if is_readable(name) and name != subject.consumer]
    return [name for name in names if name.isprintable()]


def receiver_for(
    intent: type[Struct], observation: Observation | None, subject: Subject | None
) -> dict[str, Any]:
    """The consumer that a finding about the group hands entries over to, as the form's value; nothing without one."""
    view = _group(observation, subject)
    # A replay has a receiver too, which is a stream.
    receives = any(one.name == RECEIVER and one.completes == "consumers" for one in intent_fields(intent))
    if view is None or subject is None or not receives:
        return {}
    named = (finding.receiver for finding in view.findings)
    found = next((name for name in named if name not in (None, subject.consumer)), None)
    return {} if found is None else {RECEIVER: found}


def _group(observation: Observation | None, subject: Subject | None) -> GroupView | None:
    if subject is None or subject.group is None:
        return None
    return next((one for one in _groups(observation, subject) if one.group.name == subject.group), None)


def _groups(observation: Observation | None, subject: Subject | None) -> Sequence[GroupView]:
    views = () if observation is None or subject is None else observation.streams
    return next((view.groups for view in views if subject and view.stream.name == subject.stream), ())
