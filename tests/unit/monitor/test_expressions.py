"""Expressions: JMESPath's answers where it has some, a clear error where it would quietly have none."""

import json
from contextlib import suppress

import jmespath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamops.errors import ExitCode, SettingsError
from streamops.model.entries import EntryId, StreamEntry
from streamops.model.expressions import DEAD_LETTER_ROOTS, Expression, entry_document
from tests.support.tables import table

BODY = json.dumps(
    {"amount": 120, "items": [{"sku": "a", "price": 5}, {"sku": "b", "price": 7}], "paid": True}
)
ENTRY = StreamEntry(
    EntryId(1_700_000_000_000, 3),
    (
        (b"status", b"failed"),
        (b"amount", b"120"),
        (b"body", BODY.encode()),
        (b"note", "größe".encode()),
        (b"raw", b"\xff\x00"),
        (b"tag", b"first"),
        (b"tag", b"last"),
    ),
)
ODD = StreamEntry(EntryId(5, 0), ())


@table(
    ("text", "true"),
    [
        ("fields.status == 'failed'", True),
        ("fields.status != 'failed'", False),
        ("fields.status == 'failed' && json.body.amount > `100`", True),
        ("json.amount >= `120`", True),
        ("json.amount < `120`", False),
        ("to_number(fields.amount) > `100`", True),
        ("fields.amount > '11'", True),
        ("json.body.items[?price > `6`].sku | [0] == 'b'", True),
        ("length(json.body.items) > `1`", True),
        ("contains(fields.note, 'ö')", True),
        ("fields.tag == 'last'", True),
        ("id == '1700000000000-3'", True),
        ("time >= '2023-11-14T22:00:00Z'", True),
        ("time >= '2023-11-15'", False),
        ("json.body.paid", True),
        ("json.body.items[5]", False),
        ("fields.missing", False),
        ("fields.missing > `100`", False),
        ("contains(fields.missing, 'x')", False),
        ("!contains(fields.note, 'x')", True),
        ("json.status", False),
        ("`0`", True),
        ("`[]`", False),
        ("''", False),
        ("@.fields.status == 'failed'", True),
        ("[fields.status, id] | [0] == 'failed'", True),
        ("{a: fields.status}.a == 'failed'", True),
        ("sort_by(json.body.items, &price)[0].sku == 'a'", True),
        ("max_by(json.body.items, &price).price == `7`", True),
    ],
)
def test_expression_matches_an_entry_or_does_not(text: str, true: bool) -> None:  # noqa: FBT001 - an expected value
    assert Expression(text).matches(ENTRY) is true


@table(
    ("text", "fault"),
    [
        ("", "cannot be empty"),
        ("fields.a ==", "it ends too early, at position 12"),
        ("fields.a[", "it ends too early, at position 10"),
        ("fields.%", "Unknown token % at position 8"),
        ("fields.a == 'x", "Unclosed ' delimiter at position 13"),
        ("fields.a == 'x' )", "unexpected ')' at position 17"),
        ("status == 'x'", "an entry has no 'status' at its root"),
        ("fields.a && (other || id)", "an entry has no 'other' at its root"),
        ("contains(status, 'x')", "an entry has no 'status' at its root"),
        ("nofn(fields)", "there is no function nofn()"),
        ("(" * 5_000, "nested too deeply"),
    ],
)
def test_what_is_no_expression_fails_before_anything_is_read(text: str, fault: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Expression(text)
    assert fault in caught.value.message
    assert caught.value.hint
    assert caught.value.exit_code is ExitCode.USAGE
    assert len(caught.value.message) < 200


@table(
    ("text", "fault"),
    [
        ("fields.amount > `100`", "'120' > 100 compares string with number"),
        ("`100` <= fields.amount", "100 <= '120' compares number with string"),
        ("json.body.items > `1`", "compares array with number"),
        ("json.body.paid > `1`", "True > 1 compares boolean with number"),
        ("json.body > json.body", "compares object with object"),
        ("json.body.paid >= json.body.paid", "compares boolean with boolean"),
        ("abs(fields.amount) > `1`", "abs()"),
    ],
)
def test_values_without_an_order_are_an_error_that_names_both(text: str, fault: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Expression(text).matches(ENTRY)
    assert fault in caught.value.message
    assert "1700000000000-3" in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.hint


def test_an_entry_as_expressions_see_it() -> None:
    document = entry_document(ENTRY)
    assert document["id"] == "1700000000000-3"
    assert document["time"] == "2023-11-14T22:13:20.000Z"
    assert document["fields"]["tag"] == "last"
    assert document["fields"]["raw"] == "\udcff\x00"
    assert document["json"] == {"amount": 120, "body": json.loads(BODY)}
    assert entry_document(ODD) == {"id": "5-0", "time": "1970-01-01T00:00:00.005Z", "fields": {}, "json": {}}


def test_json_is_decoded_only_for_expressions_that_ask() -> None:
    assert "json" not in entry_document(ENTRY, with_json=False)
    assert Expression("fields.status == 'failed'").matches(ENTRY)
    assert Expression("*.amount | [0]").matches(ENTRY)


COMPARABLE = st.integers(-5, 5) | st.text(max_size=2)


@given(COMPARABLE, COMPARABLE, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
@example(1, "1", "<")
def test_orderings_agree_with_jmespath_where_both_sides_have_one(
    left: object, right: object, sign: str
) -> None:
    text = f"json.left {sign} json.right"
    entry = StreamEntry(
        EntryId(1, 0), ((b"left", json.dumps(left).encode()), (b"right", json.dumps(right).encode()))
    )
    if type(left) is type(right) or sign in ("==", "!="):
        assert Expression(text).matches(entry) is jmespath.search(text, entry_document(entry))
    else:
        with pytest.raises(SettingsError):
            Expression(text).matches(entry)


@given(st.text(max_size=30))
@example("fields.a\x00")
@example("\udcff")
def test_any_text_compiles_or_fails_clearly(text: str) -> None:
    """No other exception than ours comes out, whatever goes in."""
    with suppress(SettingsError):
        Expression(text).matches(ENTRY)


def test_letters_have_more_names() -> None:
    document = {"id": "1-1", "reason": "rejected", "deliveries": 5, "fields": {"n": "1"}, "json": {"n": 1}}
    assert Expression("reason == 'rejected' && deliveries > `4`", DEAD_LETTER_ROOTS).holds(document)
    assert not Expression("group == 'billing'", DEAD_LETTER_ROOTS).holds(document)
    with pytest.raises(SettingsError, match="no 'deliverys' at its root"):
        Expression("deliverys > `4`", DEAD_LETTER_ROOTS)
    with pytest.raises(SettingsError, match="no 'reason' at its root"):
        Expression("reason == 'rejected'")


def test_the_old_spelling_of_literals_is_read_in_silence() -> None:
    assert Expression("reason == `rejected`", DEAD_LETTER_ROOTS).holds({"id": "1-1", "reason": "rejected"})
    with pytest.raises(SettingsError, match="ends too early"):
        Expression("``.a.b.c ==")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("deliveries > 5", "> `5`"),
        ("deliveries>=-2.5", ">= `-2.5`"),
        ("reason == 'a' && deliveries != 3", "!= `3`"),
    ],
)
def test_a_bare_number_is_shown_as_it_is_written(text: str, written: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Expression(text, DEAD_LETTER_ROOTS)
    assert caught.value.hint == f"Numbers are written between backticks: {written}."
