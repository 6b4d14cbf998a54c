import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.errors import SettingsError
from streamops.model.entries import EntryId, StreamEntry
from streamops.monitor.search import EntryWords, split_quoted, split_words
from tests.support.tables import table

ENTRY = StreamEntry(
    EntryId(1795, 3),
    (
        (b"type", b"order.PLACED"),
        (b"body", '{"city": "Zürich", "note": "two words"}'.encode()),
        (b"raw", b"\xff\xfeMagic"),
    ),
)


@table(
    ("text", "found"),
    [
        ("placed", True),
        ("PLACED type", True),
        ("1795-3", True),
        ("zürich", True),
        ("ZÜRICH", True),
        ("magic", True),
        ("zürich magic", True),
        ('"two words"', True),
        ('"words two"', False),
        ("placed !raw", False),
        ("!absent", True),
        ("placed absent", False),
        ('"city\\": \\"z"', True),
        ('!"two words"', False),
    ],
)
def test_words_are_found_wherever_they_stand(text: str, found: bool) -> None:  # noqa: FBT001 - a table
    assert EntryWords.parse(text).matches(ENTRY) is found


@table("text", ["", "  ", "!", '""', '!""'])
def test_no_word_is_a_problem(text: str) -> None:
    with pytest.raises(SettingsError, match="no word to look for"):
        EntryWords.parse(text)


def test_words_are_split_by_what_is_wanted() -> None:
    assert split_words('a !b "c d" !"e f"') == (["a", "c d"], ["b", "e f"])


@given(st.text())
def test_any_line_is_some_tokens(text: str) -> None:
    for token in split_quoted(text):
        assert token


@given(st.binary(max_size=40), st.binary(max_size=5))
def test_bytes_that_are_no_text_are_searched_all_the_same(value: bytes, part: bytes) -> None:
    entry = StreamEntry(EntryId(1, 0), ((b"raw", part + value),))
    word = part.decode("utf-8", "surrogateescape")
    if word.strip() and part.isascii() and part.isalnum():
        assert EntryWords([word]).matches(entry)
