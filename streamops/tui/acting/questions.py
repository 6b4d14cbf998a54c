"""The questions of a form: an intent's fields, filled in from where the cursor was. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import StreamopsError
from streamops.model.acting import Limits
from streamops.model.fields import FieldKind, IntentField, intent_fields
from streamops.tui.acting.answers import WrongAnswer, hint_of, options_of, read_answer, written
from streamops.tui.subjects import Sort, Subject

RECEIVER: Final = "to"
"""The consumer that gets something is somebody else than the one under the cursor."""


OF_COMMAND_LINES: Final = re.compile(
    r"[,;] (?:or - to read them|may (?:be )?repeat(?:ed)?(?:, and - reads them line by line)?)"
)
"""What helps say of stdin and of repeated options; a form has neither."""


class Question(Struct, frozen=True):
    """One row of a form.

    Attributes:
        field: What is asked for.
        label: What it is called here.
        help: What it means.
        value: What it is unless it is changed.
        text: That value as it is shown; it stands for the value, to the byte, until it is changed.
        hint: What stands in an empty row.
        options: What there is to choose from; nothing where it is typed.
    """

    field: IntentField
    label: str
    help: str
    value: Any
    text: str
    hint: str
    options: tuple[str, ...] = ()


LIMITS: Final = (
    IntentField(
        name="max_count",
        kind=FieldKind.INTEGER,
        help="Refuse to act on more than so many; 1,000,000 unless given.",
        flag="--max",
        optional=True,
    ),
    IntentField(
        name="rate", kind=FieldKind.NUMBER, help="At most so many a second.", flag="--rate", optional=True
    ),
    IntentField(
        name="reason", kind=FieldKind.TEXT, help="Why, for the audit log.", flag="--reason", default=""
    ),
)


def questions_for(
    intent: type[Struct], subject: Subject | None, given: Mapping[str, Any], *, long: bool
) -> tuple[Question, ...]:
    """The questions that an intent asks, and those that the engine asks besides.

    Args:
        intent: The intent's type.
        subject: What the cursor is on; none for nothing.
        given: Values by the names of their fields, before what the subject would say.
        long: Whether it may be long work, with a bound and a rate.
    """
    fields = intent_fields(intent)
    known = {**_prefilled(fields, subject), **given}
    limits = LIMITS if long else LIMITS[-1:]
    asked = {field.name for field in fields}
    return tuple(
        _question(field, known) for field in (*fields, *(one for one in limits if one.name not in asked))
    )


def read_form(
    intent: type[Struct], questions: Sequence[Question], texts: Sequence[str]
) -> tuple[Struct, Limits]:
    """The intent and the limits that a form's texts stand for.

    Raises:
        WrongAnswer: A text stands for nothing, or two that exclude each other are given.
    """
    values = {
        question.field.name: question.value
        if text == question.text and (question.value is not None or not question.field.required)
        else read_answer(question.field, text)
        for question, text in zip(questions, texts, strict=True)
    }
    _check_exclusive(questions, values)
    of_intent = {field.name for field in intent_fields(intent)}
    limits = {name: value for name, value in values.items() if name not in of_intent}
    try:
        made = intent(**{name: value for name, value in values.items() if name in of_intent})
    except StreamopsError as error:
        raise WrongAnswer("", f"{error.message}. {error.hint}") from None
    except (ValueError, TypeError) as error:
        raise WrongAnswer("", str(error)) from None
    return made, replace(Limits(), **limits)


def _prefilled(fields: Sequence[IntentField], subject: Subject | None) -> dict[str, Any]:
    if subject is None:
        return {}
    known: dict[str, Any] = {}
    for field in fields:
        value = _from_subject(field, subject)
        if value is not None:
            known[field.name] = value
    return known


def _from_subject(field: IntentField, subject: Subject) -> Any:  # noqa: ANN401 - any field's value
    if field.argument:
        return _target(field, subject)
    match field:
        case IntentField(completes="consumers") if field.name != RECEIVER and not field.many:
            return subject.consumer
        case IntentField(name="ids", kind=FieldKind.ENTRY_ID, many=True):
            return subject.ids or None
        case IntentField(name="ids", kind=FieldKind.TEXT, many=True):
            return subject.messages or None
        case IntentField(name="where"):
            return subject.where or None
        case IntentField(name="every") if subject.sort is Sort.QUEUE:
            return True
    return None


def _target(field: IntentField, subject: Subject) -> str | None:
    """What an operation is about, by what a shell would complete it to."""
    known = {
        "streams": subject.stream or None,
        "queues": subject.stream or None,
        "groups": subject.group,
        "consumers": subject.consumer,
        "topics": subject.topic,
        "pools": subject.pool,
    }
    return known.get(field.completes)


def _question(field: IntentField, known: Mapping[str, Any]) -> Question:
    value = known.get(field.name, field.default)
    options = options_of(field)
    text = written(value)
    if options and text not in options:
        text = options[0]
    label = field.name if field.argument else field.flag.lstrip("-")
    words = label.replace("_", " ").replace("-", " ")
    return Question(field, words, OF_COMMAND_LINES.sub("", field.help), value, text, hint_of(field), options)


def _check_exclusive(questions: Sequence[Question], values: Mapping[str, Any]) -> None:
    given: dict[str, str] = {}
    for question in questions:
        field, value = question.field, values[question.field.name]
        if not field.exclusive or value is False or value in (None, "", ()) or value == field.default:
            continue
        if (other := given.get(field.exclusive)) is not None:
            raise WrongAnswer(field.name, f"{other} is given too: only one of them can be")
        given[field.exclusive] = question.label
