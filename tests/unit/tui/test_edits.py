"""Fields of dead letters as lines to edit: what can be edited, what cannot, and what an edit comes to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.model.dead_letters import DeadLetter, edited, read_dead_letter
from streamops.model.entries import EntryId, StreamEntry
from streamops.tui.screens.edit_form import LONGEST, Editable, editables


def letter(*fields: tuple[bytes, bytes], at: int = 5) -> DeadLetter:
    return read_dead_letter(StreamEntry(EntryId(at, 0), fields), "orders:dlq", "orders")


def one(value: bytes, name: bytes = b"f") -> Editable:
    (found,) = editables([letter((name, value))])
    return found


def test_plain_text_stands_as_it_is_and_unchanged_is_no_edit() -> None:
    field = one(b"caf\xc3\xa9 C:\\new")
    assert (field.text, field.kept) == ("café C:\\new", "")
    assert field.edit(field.text) is None
    assert field.edit("C:\\other") == (b"f", b"C:\\other")
    assert field.edit("") == (b"f", b"")


def test_line_ends_and_tabs_are_escaped_and_come_back() -> None:
    field = one(b"a\n\tb\\c")
    assert field.text == "a\\n\\tb\\\\c"
    assert "line end" in field.hint
    assert field.edit("x\\ny\\\\n") == (b"f", b"x\ny\\n")
    with pytest.raises(ValueError, match="backslash"):
        field.edit("x\\q")
    with pytest.raises(ValueError, match="backslash"):
        field.edit("x\\")


def test_value_that_a_line_cannot_hold_is_kept_and_says_so() -> None:
    for value, why in [
        (b"\xff\xfe", "not text"),
        (b"\x1b]52;c;eA==\x07", "not text"),
        ("\u202egnp.exe".encode(), "not text"),
        (b"x" * (LONGEST + 1), "too long"),
    ]:
        field = one(value)
        assert why in field.kept
        assert field.text == ""
        assert field.edit("something else") is None


def test_names_that_cannot_be_typed_and_our_own_are_kept() -> None:
    assert "a field of streamops" in one(b"x", b"_so_payload").kept
    assert "name is not text" in one(b"x", b"\xff").kept
    assert "name is not text" in one(b"x", b"a\nb").kept


def test_a_name_that_stands_twice_is_kept() -> None:
    (field,) = editables([letter((b"f", b"1"), (b"f", b"2"))])
    assert "more than once" in field.kept


def test_of_several_letters_what_is_alike_is_shown_and_what_differs_is_not() -> None:
    alike, differing, rare = editables(
        [
            letter((b"currency", b"EUR"), (b"amount", b"1")),
            letter((b"currency", b"EUR"), (b"amount", b"2"), (b"rare", b"x"), at=6),
        ]
    )
    assert (alike.text, alike.hint) == ("EUR", "")
    assert (differing.text, differing.kept) == ("", "")
    assert "differ" in differing.hint
    assert differing.edit("") is None
    assert differing.edit("3") == (b"amount", b"3")
    assert "1 of 2 dead letters lack it" in rare.hint


@given(st.lists(st.tuples(st.binary(max_size=6), st.binary(max_size=12)), max_size=5), st.text(max_size=8))
def test_only_what_was_changed_is_changed_to_the_byte(fields: list[tuple[bytes, bytes]], text: str) -> None:
    died = letter(*fields)
    for field in editables([died]):
        assert field.label.isprintable()
        assert field.text.isprintable()
        assert field.edit(field.text) is None
        try:
            edit = field.edit(text)
        except ValueError:
            assert field.escaped
            continue
        if edit is not None:
            after = edited(died.fields, [edit])
            assert [pair for pair in after if pair[0] != field.name] == [
                pair for pair in died.fields if pair[0] != field.name
            ]
