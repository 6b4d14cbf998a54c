"""What the form of an operation asks, and what an answer means."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from shlex import quote, split
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import SettingsError, StreamopsError
from streamops.model.acting import Limits
from streamops.model.entries import EntryId
from streamops.model.fields import FieldKind, IntentField, intent_fields
from streamops.model.measures import parse_duration, typed_duration
from streamops.resources.text import safe
from streamops.tui.rows.selection import Selection, SelectionKind

GIVER: Final = "source"
RECEIVER: Final = "to"
"""The consumer that gets something is somebody else than the one under the cursor."""


OF_COMMAND_LINES: Final = re.compile(
    r"[,;] (?:or - to read them from stdin|repeatable(?:; - reads them from stdin, one a line)?)"
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
        options: What there is to choose from; nothing if it is typed.
        instead: Whether it may be given in place of the question before it.
    """

    field: IntentField
    label: str
    help: str
    value: Any
    text: str
    hint: str
    options: tuple[str, ...] = ()
    instead: bool = False

    @property
    def title(self) -> str:
        """The label as it stands in the form: ``count *`` has to be given; ``maxlen *`` or what follows it as ``or minid``."""
        one_of = bool(self.field.exclusive)
        if self.instead:
            return f"or {self.label}"
        return f"{self.label} *" if self.field.required or one_of else self.label


LABELS: Final = {"--reason": "audit note", "--because": "reason"}
"""What is called otherwise than its option is: REASON of a list is that of a dead letter."""

LIMITS: Final = (
    IntentField(
        name="max_count",
        kind=FieldKind.INTEGER,
        help="Refuse a plan that counts more than this (default 1,000,000).",
        flag="--max",
        optional=True,
    ),
    IntentField(
        name="rate", kind=FieldKind.NUMBER, help="Rate limit, per second.", flag="--rate", optional=True
    ),
    IntentField(
        name="reason", kind=FieldKind.TEXT, help="Note for the audit log.", flag="--reason", default=""
    ),
)


def questions_for(
    intent: type[Struct], selection: Selection | None, given: Mapping[str, Any], *, long: bool
) -> tuple[Question, ...]:
    """The questions that an intent asks, and those that the engine asks besides.

    Args:
        intent: The intent's type.
        selection: What the cursor is on; none for nothing.
        given: Values by the names of their fields, before what the subject would say.
        long: Whether it may be long work, with a bound and a rate.
    """
    fields = sorted(intent_fields(intent), key=_place)
    known = {**_prefilled(fields, selection), **given}
    limits = LIMITS if long else LIMITS[-1:]
    asked = {field.name for field in fields}
    every = (*fields, *(one for one in limits if one.name not in asked))
    return tuple(
        _question(field, known, every, instead=bool(field.exclusive) and before.exclusive == field.exclusive)
        for before, field in pairwise((LIMITS[0], *every))
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
        else _read_named(question, text)
        for question, text in zip(questions, texts, strict=True)
    }
    _check_exclusive(questions, values)
    fields = [question.field for question in questions]
    of_intent = {field.name for field in intent_fields(intent)}
    limits = {name: value for name, value in values.items() if name not in of_intent}
    try:
        made = intent(**{name: value for name, value in values.items() if name in of_intent})
    except StreamopsError as error:
        raise WrongAnswer("", _in_words_of(fields, f"{error.message}. {error.hint}")) from None
    except (ValueError, TypeError) as error:
        one_of = [field for field in fields if field.exclusive]
        missing = one_of and all(values[field.name] == field.default for field in one_of)
        raise WrongAnswer(one_of[0].name if missing else "", _in_words_of(fields, str(error))) from None
    return made, replace(Limits(), **limits)


def _read_named(question: Question, text: str) -> Any:  # noqa: ANN401 - any field's value
    """The value that a text stands for; what is wrong with it names the row."""
    try:
        return read_answer(question.field, text)
    except WrongAnswer as wrong:
        raise WrongAnswer(wrong.field, f"{question.label}: {wrong.why}") from None


def _place(field: IntentField) -> int:
    """What it is about comes first, then what is chosen with Space, then what is typed."""
    chosen = field.kind is FieldKind.CHOICE or field.completes in {"consumers", "reasons"}
    return 0 if field.argument else 1 if chosen else 2


def _in_words_of(fields: Sequence[IntentField], text: str) -> str:
    """What is said of options, said of the rows of a form."""
    names = {field.flag: label_of(field) for field in fields if field.flag}
    names |= {field.off: f"{label_of(field)}: {NO}" for field in fields if field.off}
    for flag in sorted(names, key=len, reverse=True):
        text = text.replace(flag, names[flag])
    return text


def label_of(field: IntentField) -> str:
    """What a field is called in a form."""
    label = LABELS.get(field.flag) or (field.name if field.argument else field.flag.lstrip("-"))
    return label.replace("_", " ").replace("-", " ")


def _prefilled(fields: Sequence[IntentField], selection: Selection | None) -> dict[str, Any]:
    if selection is None:
        return {}
    known: dict[str, Any] = {}
    for field in fields:
        value = _from_selection(field, selection)
        if value is not None:
            known[field.name] = value
    return known


def _from_selection(field: IntentField, selection: Selection) -> Any:  # noqa: ANN401 - any field's value
    if field.argument:
        return _target(field, selection)
    match field:
        case IntentField(completes="consumers") if field.name != RECEIVER and not field.many:
            return selection.consumer
        case IntentField(name="ids", kind=FieldKind.ENTRY_ID, many=True):
            return selection.ids or None
        case IntentField(name="ids", kind=FieldKind.TEXT, many=True):
            return selection.messages or None
        case IntentField(name="where"):
            return selection.where or None
        case IntentField(name="every") if selection.sort is SelectionKind.QUEUE and selection.chosen:
            return True
        case IntentField(name="before") if selection.sort is SelectionKind.QUEUE and not selection.chosen:
            return timedelta()
    return None


def _target(field: IntentField, selection: Selection) -> str | None:
    """What an operation is about, by what a shell would complete it to."""
    known = {
        "streams": selection.stream or None,
        "queues": selection.stream or None,
        "groups": selection.group,
        "consumers": selection.consumer,
        "topics": selection.topic,
        "pools": selection.pool,
    }
    return known.get(field.completes)


def _question(
    field: IntentField, known: Mapping[str, Any], every: Sequence[IntentField], *, instead: bool
) -> Question:
    value = known.get(field.name, field.default)
    options = options_of(field)
    text = written(value)
    if options and text not in options:
        text = options[0]
    told = _in_words_of(every, OF_COMMAND_LINES.sub("", field.help))
    if NONE in options:
        told = told.replace("Not given:", f"{NONE}:")
    return Question(field, label_of(field), told, value, text, hint_of(field), options, instead)


def _check_exclusive(questions: Sequence[Question], values: Mapping[str, Any]) -> None:
    given: dict[str, str] = {}
    for question in questions:
        field, value = question.field, values[question.field.name]
        if not field.exclusive or value is False or value in (None, "", ()) or value == field.default:
            continue
        if (other := given.get(field.exclusive)) is not None:
            raise WrongAnswer(field.name, f"{other} is given too; give only one of them: ^u empties a row")
        given[field.exclusive] = question.label


NO: Final = "no"
YES: Final = "yes"
NONE: Final = "automatic"
"""What stands for no choice of an optional one."""
SHOWN_IDS: Final = 20
QUOTED: Final = frozenset({FieldKind.TEXT, FieldKind.PAIR})
"""Kinds whose values may hold commas."""
SURROGATES: Final = "surrogateescape"
NAMES: Final = {
    "streams": "a stream",
    "groups": "a group",
    "consumers": "a consumer",
    "queues": "a dead-letter queue",
}
HINTS: Final = {
    FieldKind.INTEGER: "a whole number",
    FieldKind.NUMBER: "a number",
    FieldKind.SPAN: "e.g. 30s, 5m, 1h30m",
    FieldKind.ENTRY_ID: "e.g. 1526919030474-0",
    FieldKind.INSTANT: "e.g. 2026-03-01T14:00:00Z, or 15m for 15 minutes ago",
    FieldKind.PAIR: "FIELD=VALUE",
}


class WrongAnswer(Exception):
    """What was typed is none of what was asked for.

    Attributes:
        field: Which field's name.
        why: Why, and what to write, on one line.
    """

    def __init__(self, field: str, why: str) -> None:
        super().__init__(why)
        self.field = field
        self.why = why


def options_of(field: IntentField) -> tuple[str, ...]:
    """What there is to choose from; nothing if it is typed."""
    if field.kind is FieldKind.SWITCH:
        return (NO, YES)
    if field.kind is FieldKind.CHOICE:
        return (*((NONE,) if field.optional else ()), *field.choices)
    return ()


def hint_of(field: IntentField) -> str:
    """What stands in an empty field: an example, and whether it may stay empty."""
    example = field.example or NAMES.get(field.completes) or HINTS.get(field.kind) or field.metavar.lower()
    between = "spaces" if field.kind in QUOTED else "commas"
    several = f"{example}, several with {between} between" if field.many else example
    empty = not field.required and not field.exclusive and field.default in {None, (), ""}
    prefix = "optional" if empty else ""
    # A bare value in an empty field would look as if it were the present one.
    return ", ".join(filter(None, [prefix, f"e.g. {several}" if field.example else several]))


def written(value: Any) -> str:  # noqa: ANN401 - any field's value
    """A value as it would be typed, safe to show; nothing for none."""
    match value:
        case None:
            return ""
        case bool():
            return YES if value else NO
        case timedelta():
            return typed_duration(value)
        case datetime():
            return value.isoformat()
        case EntryId():
            return str(value)
        case (bytes() as name, bytes() as content):
            return safe(quote(f"{name.decode('utf-8', SURROGATES)}={content.decode('utf-8', SURROGATES)}"))
        case tuple():
            return _several(value)
    return safe(str(value))


def read_answer(field: IntentField, text: str) -> Any:  # noqa: ANN401 - any field's value
    """The value that a text stands for.

    Raises:
        WrongAnswer: It stands for none.
    """
    if field.kind is not FieldKind.TEXT or field.many:
        text = text.strip()
    if not text or (field.kind is FieldKind.CHOICE and text == NONE):
        return _nothing(field)
    try:
        if field.many:
            return tuple(_READ[field.kind](field, word) for word in _words(field, text))
        return _READ[field.kind](field, text)
    except SettingsError as error:
        raise WrongAnswer(field.name, f"{error.message}. {error.hint}") from None
    except ValueError as error:
        raise WrongAnswer(field.name, str(error)) from None


def _nothing(field: IntentField) -> Any:  # noqa: ANN401 - any field's value
    if field.required:
        raise WrongAnswer(field.name, "required")
    if field.optional:
        return None
    return () if field.many else field.default


def _words(field: IntentField, text: str) -> list[str]:
    """Values with commas or spaces between; names and pairs, with spaces alone, and in quotes if they hold any."""
    if field.kind in QUOTED:
        return split(text)
    return text.replace(",", " ").split()


def _several(values: Sequence[Any]) -> str:
    if len(values) > SHOWN_IDS:
        return f"{len(values):,} of them, {written(values[0])} to {written(values[-1])}"
    return (", " if isinstance(values[0], EntryId) else " ").join(map(written, values)) if values else ""


def _integer(_: IntentField, text: str) -> int:
    plain = text.replace(",", "").replace("_", "")
    if not (plain.isascii() and plain.isdigit()):
        raise ValueError("not a whole number; write 1000")
    return int(plain)


def _number(_: IntentField, text: str) -> float:
    try:
        number = float(text.removesuffix("/s"))
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise ValueError("not a number; write 2.5")
    return number


def _entry_id(_: IntentField, text: str) -> EntryId:
    try:
        return EntryId.parse(text)
    except ValueError:
        raise ValueError("not an entry ID; write 1526919030474-0, or its first part alone") from None


def _parse_instant(_: IntentField, text: str) -> datetime | timedelta:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return parse_duration(text)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _pair(_: IntentField, text: str) -> tuple[bytes, bytes]:
    name, equals, content = text.partition("=")
    if not equals:
        raise ValueError("no '=' in it; write FIELD=VALUE")
    return name.encode("utf-8", SURROGATES), content.encode("utf-8", SURROGATES)


def _choice(field: IntentField, text: str) -> Any:  # noqa: ANN401 - a member of the field's own enumeration
    if field.choice is None or text not in field.choices:
        raise ValueError(f"one of {', '.join(field.choices)}")
    return field.choice(text)


_READ: Final[dict[FieldKind, Callable[[IntentField, str], Any]]] = {
    FieldKind.TEXT: lambda _, text: text,
    FieldKind.INTEGER: _integer,
    FieldKind.NUMBER: _number,
    FieldKind.SWITCH: lambda _, text: text == YES,
    FieldKind.SPAN: lambda _, text: parse_duration(text),
    FieldKind.ENTRY_ID: _entry_id,
    FieldKind.INSTANT: _parse_instant,
    FieldKind.CHOICE: _choice,
    FieldKind.PAIR: _pair,
}
