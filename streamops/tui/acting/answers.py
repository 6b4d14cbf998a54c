"""What a person types into a form, as values, and back. Pure."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from shlex import quote, split
from typing import Any, Final

from streamops.errors import SettingsError
from streamops.model.fields import FieldKind, IntentField
from streamops.model.ids import EntryId
from streamops.model.wording import typed_span
from streamops.present.text import safe
from streamops.present.units import ABSENT
from streamops.settings.durations import parse_duration

NO: Final = "no"
YES: Final = "yes"
NONE: Final = ABSENT
SHOWN_IDS: Final = 20
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
    FieldKind.SPAN: "30s, 5m, 1h30m",
    FieldKind.ENTRY_ID: "1526919030474-0",
    FieldKind.MOMENT: "2026-03-01T14:00:00Z, or 15m for 15 minutes ago",
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
    """What there is to choose from; nothing where it is typed."""
    if field.kind is FieldKind.SWITCH:
        return (NO, YES)
    if field.kind is FieldKind.CHOICE:
        return (*((NONE,) if field.optional else ()), *field.choices)
    return ()


def hint_of(field: IntentField) -> str:
    """What stands in an empty field: an example, and whether it may stay empty."""
    example = field.example or NAMES.get(field.completes) or HINTS.get(field.kind) or field.metavar.lower()
    several = f"{example}, several with spaces between" if field.many else example
    empty = not field.required and field.default in {None, (), ""}
    return ": ".join(filter(None, ["optional" if empty else "", several]))


def written(value: Any) -> str:  # noqa: ANN401 - any field's value
    """A value as it would be typed, safe to show; nothing for none."""
    match value:
        case None:
            return ""
        case bool():
            return YES if value else NO
        case timedelta():
            return typed_span(value)
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
        raise WrongAnswer(field.name, "this has to be given")
    if field.optional:
        return None
    return () if field.many else field.default


def _words(field: IntentField, text: str) -> list[str]:
    """Values with spaces between; names and pairs that hold spaces stand in quotes."""
    if field.kind in {FieldKind.TEXT, FieldKind.PAIR}:
        return split(text)
    return text.replace(",", " ").split()


def _several(values: Sequence[Any]) -> str:
    if len(values) > SHOWN_IDS:
        return f"{len(values):,} of them, {written(values[0])} to {written(values[-1])}"
    return " ".join(map(written, values))


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


def _moment(_: IntentField, text: str) -> datetime | timedelta:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return parse_duration(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


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
    FieldKind.MOMENT: _moment,
    FieldKind.CHOICE: _choice,
    FieldKind.PAIR: _pair,
}
