"""An intent's fields as every face reads them."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated

import pytest
from msgspec import Struct

from streamops.model.entries import EntryId
from streamops.model.fields import FieldKind, Instant, argument, inner, intent_fields, option
from streamops.operations.registry import OPERATIONS
from tests.support.tables import table


class Way(StrEnum):
    ONE = "one"
    OTHER = "other"


class Everything(Struct, frozen=True, kw_only=True):
    stream: Annotated[str, argument("The stream.", completes="streams")]
    names: Annotated[tuple[str, ...], argument("Names.")] = ()
    at: Annotated[Instant | None, option("When.", "since", exclusive="when")] = None
    ago: Annotated[Instant, option("Ago.", "--ago")] = timedelta(1)
    ids: Annotated[tuple[EntryId, ...], option("Which.")] = ()
    last: Annotated[EntryId | None, option("The last.")] = None
    edit: Annotated[tuple[tuple[bytes, bytes], ...], option("Edits.", metavar="FIELD=VALUE")] = ()
    way: Annotated[Way | None, option("How.")] = None
    safe: Annotated[bool, option("Safely.", off="unsafe")] = True
    idle: Annotated[timedelta, option("Idle.")] = timedelta(seconds=60)
    count: Annotated[int | None, option("At most.")] = None
    rate: Annotated[float, option("Rate.")] = 1.5
    hidden: Annotated[int, inner("Where it goes on.")] = 0
    bare: int = 0


def test_every_field_tells_what_a_face_has_to_know() -> None:
    fields = {field.name: field for field in intent_fields(Everything)}
    assert {name: field.kind for name, field in fields.items()} == {
        "stream": FieldKind.TEXT,
        "names": FieldKind.TEXT,
        "at": FieldKind.INSTANT,
        "ago": FieldKind.INSTANT,
        "ids": FieldKind.ENTRY_ID,
        "last": FieldKind.ENTRY_ID,
        "edit": FieldKind.PAIR,
        "way": FieldKind.CHOICE,
        "safe": FieldKind.SWITCH,
        "idle": FieldKind.SPAN,
        "count": FieldKind.INTEGER,
        "rate": FieldKind.NUMBER,
    }
    assert [name for name, field in fields.items() if field.required] == ["stream"]
    assert [name for name, field in fields.items() if field.optional] == ["at", "last", "way", "count"]
    assert [name for name, field in fields.items() if field.many] == ["names", "ids", "edit"]
    assert [field.flag for field in fields.values()][:4] == ["", "", "--since", "--ago"]
    assert fields["stream"].completes == "streams"
    assert fields["stream"].argument
    assert fields["at"].exclusive == "when"
    assert fields["edit"].metavar == "FIELD=VALUE"
    assert fields["safe"].off == "--unsafe"
    assert fields["idle"].default == timedelta(seconds=60)
    assert fields["way"].choices == ("one", "other")
    assert fields["way"].choice is Way


def test_a_type_that_no_face_knows_is_refused() -> None:
    class Odd(Struct, frozen=True):
        what: Annotated[complex, option("What?")]

    with pytest.raises(TypeError, match="no face knows how to ask for what"):
        intent_fields(Odd)


@table("name", list(OPERATIONS))
def test_every_operation_can_be_asked_for_by_every_face(name: str) -> None:
    intent: type[Struct] = OPERATIONS[name].intent
    fields = intent_fields(intent)
    assert fields
    assert all(field.help.endswith((".", "?")) for field in fields)
