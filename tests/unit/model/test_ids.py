"""Entry IDs are read, written and ordered as the server does."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.model.entries import LAST_ID, MAX_PART, ZERO_ID, EntryId
from tests.support.tables import table

parts = st.one_of(st.integers(0, MAX_PART), st.sampled_from([0, 1, MAX_PART - 1, MAX_PART]))
ids = st.builds(EntryId, parts, parts)


@given(ids)
def test_what_is_written_can_be_read(entry_id: EntryId) -> None:
    assert EntryId.parse(str(entry_id)) == entry_id
    assert EntryId.parse(str(entry_id).encode()) == entry_id


@given(ids, ids)
def test_order_is_by_number(one: EntryId, other: EntryId) -> None:
    assert (one < other) == ((one.ms, one.seq) < (other.ms, other.seq))
    assert ZERO_ID <= one <= LAST_ID


@given(ids)
def test_next_and_previous_leave_no_gap(entry_id: EntryId) -> None:
    if entry_id != LAST_ID:
        assert entry_id.next().previous() == entry_id
        assert entry_id.next() > entry_id
    if entry_id != ZERO_ID:
        assert entry_id.previous().next() == entry_id
        assert entry_id.previous() < entry_id


def test_next_and_previous_carry_between_parts_and_overflow_at_the_ends() -> None:
    with pytest.raises(OverflowError):
        LAST_ID.next()
    with pytest.raises(OverflowError):
        ZERO_ID.previous()
    assert EntryId(5, MAX_PART).next() == EntryId(6, 0)
    assert EntryId(5, 0).previous() == EntryId(4, MAX_PART)


def test_an_id_without_a_sequence_is_its_first() -> None:
    assert EntryId.parse("1526919030474") == EntryId(1526919030474, 0)


@table(
    "text",
    [
        "",
        "-",
        "+",
        "$",
        ">",
        "1-",
        "-1",
        "1-2-3",
        "a-1",
        "1-b",
        "1.5",
        " 1",
        "1 ",
        "\u0661",
        "1_0",
        f"{MAX_PART + 1}",
        f"1-{MAX_PART + 1}",
    ],
)
def test_text_that_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="entry ID"):
        EntryId.parse(text)


def test_the_time_of_an_id_is_its_milliseconds_or_none_beyond_the_calendar() -> None:
    assert EntryId(1_526_919_030_474, 55).time == datetime(2018, 5, 21, 16, 10, 30, 474_000, tzinfo=UTC)
    assert ZERO_ID.time == datetime(1970, 1, 1, tzinfo=UTC)
    assert LAST_ID.time is None
    assert EntryId(300_000_000_000_000, 0).time is None
