"""A plan's command line asks for what the plan's intent asks for, whatever that is."""

from datetime import UTC, timedelta
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from streamops.model.fields import FieldKind, IntentField, intent_fields, is_readable
from streamops.model.measures import LONGEST, parse_duration, typed_duration
from streamops.operations.commands import equivalent_command
from streamops.operations.registry import OPERATIONS
from tests.support.strategies import entry_ids, names
from tests.support.tables import table
from tests.unit.cli.typed import intent_of

SPANS = st.one_of(
    st.timedeltas(timedelta(0), LONGEST), st.integers(0, 3650).map(lambda days: timedelta(days=days))
)
TEXTS = names().filter(lambda name: "\0" not in name)
READABLE = TEXTS.filter(is_readable)
VALUES: dict[FieldKind, st.SearchStrategy[Any]] = {
    FieldKind.TEXT: TEXTS,
    FieldKind.INTEGER: st.integers(0, 10**9),
    FieldKind.NUMBER: st.floats(0, 1e9),
    FieldKind.SWITCH: st.booleans(),
    FieldKind.SPAN: SPANS,
    FieldKind.ENTRY_ID: entry_ids(),
    FieldKind.INSTANT: st.one_of(SPANS, st.datetimes(timezones=st.just(UTC))),
    # What stands before the first '=' is the name.
    FieldKind.PAIR: st.tuples(
        TEXTS.filter(lambda name: "=" not in name and not name.startswith("_so_")), TEXTS
    ).map(
        lambda pair: (pair[0].encode("utf-8", "surrogateescape"), pair[1].encode("utf-8", "surrogateescape"))
    ),
}
OWN: dict[tuple[str, str], st.SearchStrategy[Any]] = {
    ("claim", "to"): READABLE,
    ("consumers.rm", "to"): READABLE,
    ("groups.create", "group"): READABLE,
    ("publish", "id"): entry_ids().map(str),
    ("streams.reclaim", "to"): READABLE,
    ("topics.add", "priority"): st.sampled_from(["high", "low", "7"]),
    ("topics.add", "retry"): st.sampled_from(["10s", "10s,1m,1h", "exponential(5s, max=1h)"]),
}


@st.composite
def intents(draw: st.DrawFn, operation: str) -> Struct:
    """Anything that an operation may be asked for; with a backup, which a command line always writes."""
    kind: type[Struct] = OPERATIONS[operation].intent
    fields = intent_fields(kind)
    sets = {field.exclusive for field in fields if field.exclusive}
    chosen = {
        name: draw(st.sampled_from([one.name for one in fields if one.exclusive == name])) for name in sets
    }
    values = {
        field.name: draw(_value(operation, field))
        for field in fields
        if field.required
        or field.backup
        or (field.name == chosen[field.exclusive] if field.exclusive else draw(st.booleans()))
    }
    try:
        return kind(**values)
    except ValueError:
        assume(condition=False)
        raise


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
@given(data=st.data())
def test_command_parsed_again_gives_the_same_intent(operation: str, data: st.DataObject) -> None:
    intent = data.draw(intents(operation))
    assert intent_of(equivalent_command(operation, intent)) == intent


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
@given(data=st.data())
def test_command_says_spans_that_are_the_default_too(operation: str, data: st.DataObject) -> None:
    intent = data.draw(intents(operation))
    spans = [one for one in intent_fields(type(intent)) if one.kind is FieldKind.SPAN and one.default]
    line = equivalent_command(operation, replace(intent, **{one.name: one.default for one in spans}))
    assert all(f"{one.flag} {typed_duration(one.default)}" in line for one in spans)


@example(timedelta(days=14))
@example(timedelta(microseconds=1))
@given(SPANS)
def test_typed_span_is_read_back_to_the_microsecond(span: timedelta) -> None:
    assert parse_duration(typed_duration(span)) == span


@table(
    ("span", "typed"),
    [
        (timedelta(days=14), "14d"),
        (timedelta(hours=1, minutes=30), "1h30m"),
        (timedelta(seconds=2, milliseconds=500), "2s500ms"),
        (timedelta(0), "0s"),
    ],
)
def test_typed_span_names_its_units(span: timedelta, typed: str) -> None:
    assert typed_duration(span) == typed


def _value(operation: str, field: IntentField) -> st.SearchStrategy[Any]:
    if (operation, field.name) in OWN:
        return OWN[operation, field.name]
    if field.choice is not None:
        return st.sampled_from(field.choice)
    one = VALUES[field.kind]
    if not field.many:
        return one
    if field.kind is FieldKind.TEXT:
        # A lone hyphen stands for stdin.
        one = one.filter(lambda name: name != "-")
    key = (lambda pair: pair[0]) if field.kind is FieldKind.PAIR else None
    return st.lists(one, min_size=1, max_size=5, unique_by=key or (lambda value: value)).map(tuple)
