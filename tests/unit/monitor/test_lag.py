"""Lag and time lag from one reading, as tables; and that bounds always hold the truth."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.model.ids import LAST_ID, ZERO_ID, EntryId
from streamops.model.lag import Lag, LagBasis, TimeLag
from streamops.model.readings import GroupReading, StreamReading
from streamops.monitor.lag import Faith, Tally, id_age, needing_heads, settle_lag, settle_tally, time_lag
from tests.support.tables import table

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
FIRST, MIDDLE, LAST = EntryId(100, 1), EntryId(150, 1), EntryId(200, 1)


def stream(length: int = 100, **changes: EntryId | int | bool | None) -> StreamReading:
    reading = StreamReading(
        "orders", length, (), bounds_read=True, first_id=FIRST, last_id=LAST, last_generated_id=LAST
    )
    return replace(reading, **changes)


def group(position: EntryId = MIDDLE, reported: int | None = None, **changes: object) -> GroupReading:
    return replace(GroupReading("billing", 1, 0, position, None, reported), **changes)


EMPTY = stream(0, first_id=None, last_id=None)
FULL = stream(last_id=None)
"""Read by XINFO STREAM FULL, which does not tell the last entry."""
BARE = stream(bounds_read=False, first_id=None, last_id=None, last_generated_id=None)


@table(
    ("reading", "position", "entries"),
    [
        (EMPTY, ZERO_ID, 0),
        (EMPTY, LAST, 0),
        (stream(), LAST, 0),
        (stream(), LAST_ID, 0),
        (stream(), ZERO_ID, 100),
        (stream(), FIRST.previous(), 100),
        (stream(1, last_id=FIRST), FIRST, 0),
        (replace(BARE, length=0), MIDDLE, 0),
    ],
)
def test_bounds_decide_whatever_the_server_says(
    reading: StreamReading, position: EntryId, entries: int
) -> None:
    for faith in Faith:
        for reported in (None, -3, 0, 7, 100, 10_000):
            lag = settle_lag(reading, group(position, reported), faith)
            assert (lag.entries, lag.lower, lag.upper, lag.basis) == (
                entries,
                entries,
                entries,
                LagBasis.EXACT,
            )
            assert lag.known
            assert lag.reason


@table(
    ("reading", "reported", "faith", "expected"),
    [
        (stream(), 40, Faith.SOUND, (40, 40, 40, LagBasis.REPORTED)),
        (stream(), 1, Faith.SOUND, (1, 1, 1, LagBasis.REPORTED)),
        (stream(), 99, Faith.SOUND, (99, 99, 99, LagBasis.REPORTED)),
        (stream(), 0, Faith.SOUND, (None, 1, 99, LagBasis.UNKNOWN)),
        (stream(), 100, Faith.SOUND, (None, 1, 99, LagBasis.UNKNOWN)),
        (stream(), -1, Faith.SOUND, (None, 1, 99, LagBasis.UNKNOWN)),
        (stream(), None, Faith.SOUND, (None, 1, 99, LagBasis.UNKNOWN)),
        (stream(), 40, Faith.UPPER_BOUND, (None, 1, 40, LagBasis.UPPER)),
        (stream(), 100, Faith.UPPER_BOUND, (None, 1, 99, LagBasis.UNKNOWN)),
        (stream(), None, Faith.UPPER_BOUND, (None, 1, 99, LagBasis.UNKNOWN)),
        (stream(), 40, Faith.NONE, (None, 1, 99, LagBasis.UNKNOWN)),
        # Read in full, whether any of the entries up to the last ID is left was not read.
        (FULL, 40, Faith.SOUND, (40, 40, 40, LagBasis.REPORTED)),
        (FULL, 0, Faith.SOUND, (0, 0, 0, LagBasis.REPORTED)),
        (FULL, None, Faith.SOUND, (None, 0, 99, LagBasis.UNKNOWN)),
        (BARE, 0, Faith.SOUND, (0, 0, 0, LagBasis.REPORTED)),
        (BARE, 100, Faith.SOUND, (100, 100, 100, LagBasis.REPORTED)),
        (BARE, 101, Faith.SOUND, (None, 0, 100, LagBasis.UNKNOWN)),
        (BARE, 40, Faith.UPPER_BOUND, (None, 0, 40, LagBasis.UPPER)),
        (BARE, None, Faith.SOUND, (None, 0, 100, LagBasis.UNKNOWN)),
    ],
)
def test_what_the_server_says_is_worth_as_much_as_its_version(
    reading: StreamReading,
    reported: int | None,
    faith: Faith,
    expected: tuple[int | None, int, int, LagBasis],
) -> None:
    lag = settle_lag(reading, group(MIDDLE, reported), faith)
    assert (lag.entries, lag.lower, lag.upper, lag.basis) == expected
    assert lag.reason


@table(
    ("head", "reported", "expected"),
    [
        (MIDDLE.next(), None, (None, 1, 99, LagBasis.UNKNOWN)),
        # One that came after the reading.
        (LAST.next(), None, (None, 0, 99, LagBasis.UNKNOWN)),
        (LAST.next(), 40, (40, 40, 40, LagBasis.REPORTED)),
        # What waited at the reading has gone since, or somebody set the server's counters: it takes a count to tell.
        (None, None, (None, 0, 99, LagBasis.UNKNOWN)),
        (None, 40, (None, 0, 99, LagBasis.UNKNOWN)),
        (None, 0, (0, 0, 0, LagBasis.REPORTED)),
    ],
)
def test_the_next_entry_is_read_later(
    head: EntryId | None, reported: int | None, expected: tuple[int | None, int, int, LagBasis]
) -> None:
    lag = settle_lag(FULL, replace(group(MIDDLE, reported), head_id=head, head_read=True), Faith.SOUND)
    assert (lag.entries, lag.lower, lag.upper, lag.basis) == expected


def test_none_left_of_those_that_waited_is_no_proof_that_none_waits() -> None:
    newer = replace(group(MIDDLE), head_id=LAST.next(), head_read=True)
    settled = settle_tally(FULL, newer, NONE_MAY_WAIT, Tally(0, ahead_complete=True))
    assert (settled.entries, settled.basis) == (None, LagBasis.UNKNOWN)


OPEN = Lag(None, 1, 99, LagBasis.UNKNOWN, "the server gives no lag")
NONE_MAY_WAIT = Lag(None, 0, 99, LagBasis.UNKNOWN, "the server gives no lag")
UPPER = Lag(None, 1, 40, LagBasis.UPPER, "too high")
FROM_2026 = stream(first_id=EntryId(1_770_000_000_000, 0), last_id=EntryId(1_770_000_100_000, 0))
HALFWAY = EntryId(1_770_000_050_000, 0)


@table(
    ("lag", "tally", "expected"),
    [
        (OPEN, Tally(30, ahead_complete=True), (30, 30, 30, LagBasis.EXACT)),
        (NONE_MAY_WAIT, Tally(0, ahead_complete=True), (0, 0, 0, LagBasis.EXACT)),
        # One waited when the stream was read: whatever did is gone, and not known to have been replaced.
        (OPEN, Tally(0, ahead_complete=True), (None, 1, 99, LagBasis.UNKNOWN)),
        (UPPER, Tally(30, ahead_complete=True), (30, 30, 30, LagBasis.EXACT)),
        (
            OPEN,
            Tally(30, ahead_complete=False, behind=20, behind_complete=True),
            (80, 80, 80, LagBasis.EXACT),
        ),
        (OPEN, Tally(30, ahead_complete=False, behind=20), (None, 30, 80, LagBasis.LOWER)),
        (OPEN, Tally(0, ahead_complete=False), (None, 1, 99, LagBasis.LOWER)),
        (OPEN, Tally(50, ahead_complete=False, behind=50), (50, 50, 50, LagBasis.EXACT)),
        (UPPER, Tally(30, ahead_complete=False, behind=20), (None, 30, 40, LagBasis.UPPER)),
        (UPPER, Tally(40, ahead_complete=False, behind=20), (40, 40, 40, LagBasis.EXACT)),
        # Some were removed between reading and counting.
        (OPEN, Tally(30, ahead_complete=True, gone=2), (None, 30, 32, LagBasis.LOWER)),
        (OPEN, Tally(30, ahead_complete=True, gone=2, now=17), (17, 17, 17, LagBasis.EXACT)),
        (OPEN, Tally(30, ahead_complete=True, gone=None), (None, 30, 99, LagBasis.LOWER)),
        (OPEN, Tally(0, ahead_complete=True, gone=2), (None, 1, 2, LagBasis.UNKNOWN)),
        # The server said at most 40, and more were counted: somebody set its counters.
        (UPPER, Tally(50, ahead_complete=False, behind=20), (None, 50, 80, LagBasis.LOWER)),
    ],
)
def test_counts_settle_what_they_can(
    lag: Lag, tally: Tally, expected: tuple[int | None, int, int, LagBasis]
) -> None:
    settled = settle_tally(stream(), group(), lag, tally)
    assert (settled.entries, settled.lower, settled.upper, settled.basis) == expected
    assert settled.reason
    assert settled.later is (tally.now is not None)


@pytest.mark.parametrize(
    ("tally", "expected"),
    [
        (Tally(10, ahead_complete=False, behind=10), (50, 10, 90)),
        (Tally(60, ahead_complete=False, behind=10), (60, 60, 90)),
        (Tally(10, ahead_complete=False, behind=60), (40, 10, 40)),
    ],
)
def test_estimate_keeps_to_the_bounds(tally: Tally, expected: tuple[int, int, int]) -> None:
    settled = settle_tally(FROM_2026, group(HALFWAY), OPEN, tally)
    assert (settled.entries, settled.lower, settled.upper) == expected
    assert settled.basis is LagBasis.ESTIMATED


@given(
    st.integers(2, 200).flatmap(lambda length: st.tuples(st.just(length), st.integers(1, length - 1))),
    st.one_of(st.none(), st.integers(-5, 300)),
    st.sampled_from(Faith),
    st.integers(0, 60),
    st.integers(0, 60),
)
def test_bounds_hold_the_truth(
    sizes: tuple[int, int], excess: int | None, faith: Faith, budget_ahead: int, budget_behind: int
) -> None:
    """Whatever a server says too much, and however far counting gets."""
    length, truth = sizes
    reported = None if excess is None else truth + max(0, excess)
    if faith is Faith.SOUND and reported is not None and reported < length:
        reported = truth
    reading = stream(length)
    lag = settle_lag(reading, group(reported=reported), faith)
    tally = Tally(
        min(truth, budget_ahead),
        ahead_complete=truth < budget_ahead,
        behind=min(length - truth, budget_behind),
        behind_complete=length - truth < budget_behind,
    )
    for said in (lag, settle_tally(reading, group(), lag, tally)):
        assert said.lower is not None
        assert said.upper is not None
        assert said.lower <= truth <= said.upper
        if said.known:
            assert said.entries == truth


WAITING = EntryId(round((NOW - timedelta(seconds=90)).timestamp() * 1000), 0)


@table(
    ("reading", "of_group", "expected"),
    [
        (EMPTY, group(ZERO_ID), TimeLag(timedelta(0))),
        (stream(), group(LAST), TimeLag(timedelta(0))),
        (stream(), group(LAST_ID), TimeLag(timedelta(0))),
        (stream(), group(head_id=WAITING, head_read=True), TimeLag(timedelta(seconds=90))),
        # All that followed was deleted, although the stream's bounds say that something is left.
        (stream(), group(head_read=True), TimeLag(timedelta(0))),
        (stream(), group(), TimeLag(None, "the next entry's ID could not be read")),
        (stream(first_id=WAITING, last_id=LAST_ID), group(ZERO_ID), TimeLag(timedelta(seconds=90))),
        (stream(), group(ZERO_ID), TimeLag(None, "unavailable: the ID 100-1 does not tell a time")),
        (BARE, group(), TimeLag(None, "the next entry's ID could not be read")),
    ],
)
def test_a_time_lag_is_the_age_of_the_first_unread_entry(
    reading: StreamReading, of_group: GroupReading, expected: TimeLag
) -> None:
    assert time_lag(reading, of_group, NOW) == expected


def test_time_lag_without_a_clock() -> None:
    waiting = group(head_id=WAITING, head_read=True)
    assert time_lag(stream(), waiting, None) == TimeLag(None, "the server's clock could not be read")
    assert time_lag(stream(), group(LAST), None) == TimeLag(timedelta(0))


def made(age: timedelta) -> EntryId:
    return EntryId(round((NOW - age).timestamp() * 1000), 0)


@table(
    ("entry_id", "age"),
    [
        (made(timedelta(0)), timedelta(0)),
        (made(timedelta(seconds=1.5)), timedelta(seconds=1.5)),
        (made(timedelta(days=3650)), timedelta(days=3650)),
        # A clock ahead of the server's by less than a minute is a clock; further ahead it is none.
        (made(timedelta(seconds=-59)), timedelta(0)),
        (made(timedelta(seconds=-60)), timedelta(0)),
        (made(timedelta(seconds=-61)), None),
        (EntryId(1, 0), None),
        (ZERO_ID, None),
        (EntryId(9_999_999_999_999, 0), None),
        (EntryId(1_420_070_399_999, 0), None),
        (EntryId(1_420_070_400_000, 0), NOW - datetime(2015, 1, 1, tzinfo=UTC)),
        (LAST_ID, None),
        (EntryId(253_402_300_800_000, 0), None),
    ],
)
def test_the_age_of_an_id_is_since_its_milliseconds(entry_id: EntryId, age: timedelta | None) -> None:
    assert id_age(entry_id, NOW) == age
    assert id_age(entry_id, None) is None


@table(
    ("reading", "position", "needed"),
    [
        (stream(), MIDDLE, True),
        (stream(), FIRST, True),
        (stream(), FIRST.previous(), False),
        (stream(), LAST, False),
        (EMPTY, MIDDLE, False),
        (BARE, MIDDLE, False),
    ],
)
def test_next_entry_is_looked_for_only_where_no_bound_tells_it(
    reading: StreamReading, position: EntryId, *, needed: bool
) -> None:
    asked = group(position)
    assert list(needing_heads(replace(reading, groups=(asked,)))) == ([asked] if needed else [])
