"""Lag and time lag from one reading, as tables; and that bounds always hold the truth."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.model.entries import LAST_ID, ZERO_ID, EntryId, id_age
from streamops.model.lag import Lag, LagBasis, TimeLag
from streamops.model.streams import Flavour, GroupReading, ServerNode, StreamReading
from streamops.monitor.lag import (
    CachedCount,
    LagEstimate,
    LagReliability,
    RangeCount,
    entries_added,
    is_intact,
    lag_of_reading,
    lag_without_counting,
    needing_next_entry,
    reliability_of,
    time_lag,
)
from tests.support.tables import table

RELIABLE = LagReliability.RELIABLE
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
    ("flavour", "version", "reliable"),
    [
        (Flavour.REDIS, (6, 2, 22), False),
        (Flavour.REDIS, (7, 0, 15), False),
        (Flavour.REDIS, (7, 2, 11), False),
        (Flavour.REDIS, (7, 4, 3), False),
        (Flavour.REDIS, (7, 4, 4), True),
        (Flavour.REDIS, (7, 9, 0), False),
        (Flavour.REDIS, (8, 0, 0), True),
        (Flavour.VALKEY, (8, 0, 9), False),
        (Flavour.VALKEY, (9, 1, 0), True),
    ],
)
def test_reported_lag_is_believed_by_the_versions_that_count_right(
    flavour: Flavour, version: tuple[int, int, int], *, reliable: bool
) -> None:
    node = ServerNode("here", flavour, version, "master", (), None, None, "", None)
    old = replace(node, flavour=Flavour.REDIS, version=(7, 0, 0))
    assert (reliability_of([node]) is RELIABLE) == reliable
    assert reliability_of([node, old]) is not RELIABLE
    assert reliability_of([]) is not RELIABLE


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
    for reliability in LagReliability:
        for reported in (None, -3, 0, 7, 100, 10_000):
            lag = lag_of_reading(reading, group(position, reported), reliability)
            assert (lag.entries, lag.lower, lag.upper, lag.basis) == (
                entries,
                entries,
                entries,
                LagBasis.EXACT,
            )
            assert lag.known
            assert lag.reason


@table(
    ("reading", "reported", "reliability", "expected"),
    [
        (stream(), 40, RELIABLE, (40, 40, 40, LagBasis.REPORTED)),
        (stream(), 1, RELIABLE, (1, 1, 1, LagBasis.REPORTED)),
        (stream(), 99, RELIABLE, (99, 99, 99, LagBasis.REPORTED)),
        (stream(), 0, RELIABLE, (None, 1, 99, LagBasis.UNKNOWN)),
        (stream(), 100, RELIABLE, (None, 1, 99, LagBasis.UNKNOWN)),
        (stream(), -1, RELIABLE, (None, 1, 99, LagBasis.UNKNOWN)),
        (stream(), None, RELIABLE, (None, 1, 99, LagBasis.UNKNOWN)),
        (stream(), 40, LagReliability.UPPER_BOUND, (None, 1, 40, LagBasis.UPPER)),
        (stream(), 100, LagReliability.UPPER_BOUND, (None, 1, 99, LagBasis.UNKNOWN)),
        (stream(), None, LagReliability.UPPER_BOUND, (None, 1, 99, LagBasis.UNKNOWN)),
        (stream(), 40, LagReliability.WRONG, (None, 1, 99, LagBasis.UNKNOWN)),
        # Read in full, whether any of the entries up to the last ID is left was not read.
        (FULL, 40, RELIABLE, (40, 40, 40, LagBasis.REPORTED)),
        (FULL, 0, RELIABLE, (0, 0, 0, LagBasis.REPORTED)),
        (FULL, None, RELIABLE, (None, 0, 99, LagBasis.UNKNOWN)),
        (BARE, 0, RELIABLE, (0, 0, 0, LagBasis.REPORTED)),
        (BARE, 100, RELIABLE, (100, 100, 100, LagBasis.REPORTED)),
        (BARE, 101, RELIABLE, (None, 0, 100, LagBasis.UNKNOWN)),
        (BARE, 40, LagReliability.UPPER_BOUND, (None, 0, 40, LagBasis.UPPER)),
        (BARE, None, RELIABLE, (None, 0, 100, LagBasis.UNKNOWN)),
    ],
)
def test_what_the_server_says_is_worth_as_much_as_its_version(
    reading: StreamReading,
    reported: int | None,
    reliability: LagReliability,
    expected: tuple[int | None, int, int, LagBasis],
) -> None:
    lag = lag_of_reading(reading, group(MIDDLE, reported), reliability)
    assert (lag.entries, lag.lower, lag.upper, lag.basis) == expected
    assert lag.reason


@table(
    ("next_id", "reported", "expected"),
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
    next_id: EntryId | None, reported: int | None, expected: tuple[int | None, int, int, LagBasis]
) -> None:
    lag = lag_of_reading(FULL, replace(group(MIDDLE, reported), next_id=next_id, next_read=True), RELIABLE)
    assert (lag.entries, lag.lower, lag.upper, lag.basis) == expected


def test_none_left_of_those_that_waited_is_no_proof_that_none_waits() -> None:
    newer = replace(group(MIDDLE), next_id=LAST.next(), next_read=True)
    settled = counted(FULL, newer, NONE_MAY_WAIT, count(0, complete=True))
    assert (settled.entries, settled.basis) == (None, LagBasis.UNKNOWN)


def count(
    entries: int, *, complete: bool = False, gone: int | None = 0, now: int | None = None
) -> RangeCount:
    return RangeCount("orders", ZERO_ID, LAST, 10, counted=entries, complete=complete, gone=gone, now=now)


def counted(
    reading: StreamReading,
    of_group: GroupReading,
    lag: Lag,
    ahead: RangeCount,
    behind: RangeCount | None = None,
) -> Lag:
    return LagEstimate(reading, of_group, lag, ahead=ahead, behind=behind).result()


OPEN = Lag(None, 1, 99, LagBasis.UNKNOWN, "the server reports no lag")
NONE_MAY_WAIT = Lag(None, 0, 99, LagBasis.UNKNOWN, "the server reports no lag")
UPPER = Lag(None, 1, 40, LagBasis.UPPER, "too high")
FROM_2026 = stream(first_id=EntryId(1_770_000_000_000, 0), last_id=EntryId(1_770_000_100_000, 0))
HALFWAY = EntryId(1_770_000_050_000, 0)


@table(
    ("lag", "ahead", "behind", "expected"),
    [
        (OPEN, count(30, complete=True), None, (30, 30, 30, LagBasis.EXACT)),
        (NONE_MAY_WAIT, count(0, complete=True), None, (0, 0, 0, LagBasis.EXACT)),
        # One waited when the stream was read: whatever did is gone, and not known to have been replaced.
        (OPEN, count(0, complete=True), None, (None, 1, 99, LagBasis.UNKNOWN)),
        (UPPER, count(30, complete=True), None, (30, 30, 30, LagBasis.EXACT)),
        (
            OPEN,
            count(30),
            count(20, complete=True),
            (80, 80, 80, LagBasis.EXACT),
        ),
        (OPEN, count(30), count(20), (None, 30, 80, LagBasis.LOWER)),
        (OPEN, count(0), None, (None, 1, 99, LagBasis.LOWER)),
        (OPEN, count(50), count(50), (50, 50, 50, LagBasis.EXACT)),
        (UPPER, count(30), count(20), (None, 30, 40, LagBasis.UPPER)),
        (UPPER, count(40), count(20), (40, 40, 40, LagBasis.EXACT)),
        # Some were removed between reading and counting.
        (OPEN, count(30, complete=True, gone=2), None, (None, 30, 32, LagBasis.LOWER)),
        (OPEN, count(30, complete=True, gone=2, now=17), None, (17, 17, 17, LagBasis.EXACT)),
        (OPEN, count(30, complete=True, gone=None), None, (None, 30, 99, LagBasis.LOWER)),
        (OPEN, count(0, complete=True, gone=2), None, (None, 1, 2, LagBasis.UNKNOWN)),
        # The server said at most 40, and more were counted: somebody set its counters.
        (UPPER, count(50), count(20), (None, 50, 80, LagBasis.LOWER)),
    ],
)
def test_counts_settle_what_they_can(
    lag: Lag, ahead: RangeCount, behind: RangeCount | None, expected: tuple[int | None, int, int, LagBasis]
) -> None:
    settled = counted(stream(), group(), lag, ahead, behind)
    assert (settled.entries, settled.lower, settled.upper, settled.basis) == expected
    assert settled.reason
    assert settled.later is (ahead.now is not None)


@pytest.mark.parametrize(
    ("ahead", "behind", "expected"),
    [
        (count(10), count(10), (50, 10, 90)),
        (count(60), count(10), (60, 60, 90)),
        (count(10), count(60), (40, 10, 40)),
    ],
)
def test_estimate_keeps_to_the_bounds(
    ahead: RangeCount, behind: RangeCount, expected: tuple[int, int, int]
) -> None:
    settled = counted(FROM_2026, group(HALFWAY), OPEN, ahead, behind)
    assert (settled.entries, settled.lower, settled.upper) == expected
    assert settled.basis is LagBasis.ESTIMATED


@given(
    st.integers(2, 200).flatmap(lambda length: st.tuples(st.just(length), st.integers(1, length - 1))),
    st.one_of(st.none(), st.integers(-5, 300)),
    st.sampled_from(LagReliability),
    st.integers(0, 60),
    st.integers(0, 60),
)
def test_bounds_hold_the_truth(
    sizes: tuple[int, int],
    excess: int | None,
    reliability: LagReliability,
    budget_ahead: int,
    budget_behind: int,
) -> None:
    """Whatever a server says too much, and however far counting gets."""
    length, truth = sizes
    reported = None if excess is None else truth + max(0, excess)
    if reliability is RELIABLE and reported is not None and reported < length:
        reported = truth
    reading = stream(length)
    lag = lag_of_reading(reading, group(reported=reported), reliability)
    ahead = count(min(truth, budget_ahead), complete=truth < budget_ahead)
    behind = count(min(length - truth, budget_behind), complete=length - truth < budget_behind)
    for said in (lag, counted(reading, group(), lag, ahead, behind)):
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
        (stream(), group(next_id=WAITING, next_read=True), TimeLag(timedelta(seconds=90))),
        # All that followed was deleted, although the stream's bounds say that something is left.
        (stream(), group(next_read=True), TimeLag(timedelta(0))),
        (stream(), group(), TimeLag(None, "the next entry's ID could not be read")),
        (stream(first_id=WAITING, last_id=LAST_ID), group(ZERO_ID), TimeLag(timedelta(seconds=90))),
        (stream(), group(ZERO_ID), TimeLag(None, "unavailable: the ID 100-1 is not a timestamp")),
        (BARE, group(), TimeLag(None, "the next entry's ID could not be read")),
    ],
)
def test_a_time_lag_is_the_age_of_the_first_unread_entry(
    reading: StreamReading, of_group: GroupReading, expected: TimeLag
) -> None:
    assert time_lag(reading, of_group, NOW) == expected


def test_time_lag_without_a_clock() -> None:
    waiting = group(next_id=WAITING, next_read=True)
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
    assert list(needing_next_entry(replace(reading, groups=(asked,)))) == ([asked] if needed else [])


COUNTED_STREAM = stream(
    10,
    first_id=EntryId(1, 0),
    last_id=EntryId(10, 0),
    last_generated_id=EntryId(10, 0),
    entries_added=10,
)
ADDED_THREE = {
    "length": 13,
    "entries_added": 13,
    "last_generated_id": EntryId(13, 0),
    "last_id": EntryId(13, 0),
}


@table(
    ("changes", "expected"),
    [
        ({}, 0),
        (ADDED_THREE, 3),
        ({"length": 9}, None),
        (ADDED_THREE | {"length": 12}, None),
        (ADDED_THREE | {"first_id": EntryId(2, 0)}, None),
        (ADDED_THREE | {"last_generated_id": EntryId(10, 0)}, None),
        ({"last_generated_id": EntryId(11, 0)}, None),
        ({"entries_added": 9, "length": 9}, None),
        ({"entries_added": None, "length": 11}, None),
    ],
)
def test_additions_are_told_only_where_they_are_certain(
    changes: dict[str, Any], expected: int | None
) -> None:
    assert entries_added(COUNTED_STREAM, replace(COUNTED_STREAM, **changes)) == expected


def test_additions_before_redis_7_are_told_only_where_nothing_changed() -> None:
    before = replace(COUNTED_STREAM, entries_added=None)
    assert entries_added(before, before) == 0
    assert entries_added(before, replace(before, **(ADDED_THREE | {"entries_added": None}))) is None


CACHED = CachedCount(Lag(5, 5, 5, LagBasis.EXACT, "counted"), COUNTED_STREAM, EntryId(5, 0))


@table(
    ("changes", "position", "entries"),
    [
        ({}, EntryId(5, 0), 5),
        (ADDED_THREE, EntryId(5, 0), 8),
        # Delivered, moved back, removed: it has to be counted again.
        ({}, EntryId(6, 0), None),
        ({}, EntryId(3, 0), None),
        ({"length": 9}, EntryId(5, 0), None),
    ],
)
def test_a_cached_count_holds_while_only_additions_come(
    changes: dict[str, Any], position: EntryId, entries: int | None
) -> None:
    reading = replace(COUNTED_STREAM, **changes)
    found = lag_without_counting(reading, group(position), RELIABLE, CACHED)
    assert (found.entries if isinstance(found, Lag) else None) == entries


@table(
    ("position", "cheap", "is_carried"),
    [
        (EntryId(7, 0), 1, True),
        # Ahead of the group, it says nothing of it; and a small one is counted anew.
        (EntryId(3, 0), 1, False),
        (EntryId(7, 0), 5, False),
    ],
)
def test_a_cached_count_is_carried_on_from_before_the_position(
    position: EntryId, cheap: int, *, is_carried: bool
) -> None:
    estimate = LagEstimate(COUNTED_STREAM, group(position), OPEN)
    assert (estimate.count_delivered(CACHED, cheap) is not None) is is_carried


def bare(*groups: GroupReading, length: int = 9) -> StreamReading:
    return StreamReading("orders", length, groups)


def stalled(entries_read: int | None, reported_lag: int | None) -> GroupReading:
    return GroupReading("billing", 0, 0, EntryId(5, 0), entries_read, reported_lag)


@table(
    ("before", "after", "intact"),
    [
        (bare(stalled(5, 4)), bare(stalled(5, 4)), True),
        (bare(stalled(None, None), stalled(5, 4)), bare(stalled(None, None), stalled(5, 4)), True),
        (bare(stalled(5, 4)), bare(stalled(5, 5)), False),
        (bare(stalled(5, 4)), bare(stalled(5, 4), length=8), False),
        (bare(), bare(), False),
        (bare(stalled(None, None)), bare(stalled(None, None)), False),
        # A group before the first entry has the length for its lag, whatever came and went.
        (bare(stalled(5, 9)), bare(stalled(5, 9)), False),
        (bare(stalled(None, 4)), bare(stalled(None, 4)), False),
    ],
)
def test_without_bounds_only_a_reported_lag_tells_that_nothing_came_and_went(
    before: StreamReading, after: StreamReading, *, intact: bool
) -> None:
    assert is_intact(before, after) is intact
