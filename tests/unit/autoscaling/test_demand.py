"""Counters of a group's work that only rise, made of readings that do not."""

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.autoscaling.demand import (
    SOME,
    Tallied,
    busy_share,
    count_reading,
    demand_of,
    rejoin,
    uncounted,
)
from streamops.model.entries import EntryId
from streamops.model.lag import Lag, LagBasis, TimeLag
from streamops.model.pools import PoolSize, RegisteredWorker, WorkerState
from streamops.model.streams import ConsumerGroup, StreamRole, StreamState
from streamops.monitor.samples import sample_group, sample_stream
from tests.support.invented import NOW, bounded, exact

NIL = bounded(None, None)


def at(number: int) -> EntryId:
    """The ID of the stream's entry of that number."""
    return EntryId(1_700_000_000_000 + number, 0)


def stream_of(added: int, *, first: int = 1, counts: bool = True, length: int | None = None) -> StreamState:
    """A stream that was given so many entries, those before ``first`` trimmed away."""
    length = added - first + 1 if length is None else length
    return StreamState(
        name="orders",
        length=length,
        first_id=at(first) if length else None,
        last_id=at(added) if length else None,
        last_generated_id=at(added),
        entries_added=added if counts else None,
        max_deleted_id=EntryId(0, 0) if counts else None,
        entry_bytes=100,
        role=StreamRole.EVENTS,
        source=None,
        groups=(),
    )


def group_of(read: int, pending: int, *, lag: Lag | None = None, counts: bool = True) -> ConsumerGroup:
    """A group that was given all entries up to one."""
    return ConsumerGroup(
        "billing",
        1,
        pending,
        at(read),
        read if counts else None,
        None,
        exact(0) if lag is None else lag,
        TimeLag(timedelta(0)),
        None,
        None,
        None,
        None,
    )


def begin_tally(stream: StreamState, group: ConsumerGroup) -> Tallied:
    return Tallied(sample=sample_group(group, sample_stream(stream)))


def begun(added: int, read: int, pending: int, **more: bool) -> Tallied:
    return begin_tally(stream_of(added, **more), group_of(read, pending, lag=exact(added - read), **more))


def after(past: Tallied, added: int, read: int, pending: int) -> Tallied:
    return count_reading(past, stream_of(added), group_of(read, pending, lag=exact(added - read)))


def test_what_came_and_what_was_done_with_are_counted() -> None:
    told = after(begun(100, 90, 5), added=150, read=130, pending=7)
    assert (told.added, told.acked) == (50, 38)


def test_a_pool_that_stands_still_has_acknowledged_nothing() -> None:
    told = after(begun(100, 90, 5), added=180, read=90, pending=5)
    assert (told.added, told.acked) == (80, 0)


def test_a_stream_made_anew_begins_below_where_it_was_each_time() -> None:
    seen = [begun(100, 90, 5)]
    for _ in range(3):
        seen.append(after(seen[-1], added=1, read=1, pending=0))
        seen.append(after(seen[-1], added=200, read=200, pending=0))
        assert seen[-2].added < seen[-3].added
    again = [begun(100, 90, 5)]
    for added in (50, 20, 3):
        again.append(after(again[-1], added=added, read=added, pending=0))
    assert all(later.added < earlier.added for earlier, later in pairwise(again))


def test_going_back_is_no_progress_and_what_is_read_again_is_none_to_count() -> None:
    back = after(begun(100, 90, 5), added=100, read=20, pending=5)
    assert (back.added, back.acked, back.rewound_from) == (0, 0, at(90))
    again = after(back, added=100, read=60, pending=45)
    # Of 40 entries that were given again nobody can tell how many were pending before.
    assert again.acked == SOME
    beyond = after(after(again, added=120, read=95, pending=5), added=120, read=110, pending=5)
    assert beyond.acked == 2 * SOME + 15


def test_without_counters_growth_tells_what_came_while_nothing_is_trimmed() -> None:
    past = begun(100, 90, 5, counts=False)
    stream, group = stream_of(140, counts=False), group_of(120, 6, lag=exact(20), counts=False)
    assert uncounted(past, stream, group) == (None, None)
    told = count_reading(past, stream, group)
    assert (told.added, told.acked) == (40, 29)


def test_without_counters_a_trimmed_stream_is_counted_by_hand() -> None:
    past = begun(100, 90, 5, counts=False)
    stream, group = stream_of(160, first=50, counts=False), group_of(150, 5, lag=exact(10), counts=False)
    assert uncounted(past, stream, group) == ((at(100), at(160)), None)
    told = count_reading(past, stream, group, added=60)
    assert (told.added, told.acked) == (60, 60)
    # Where it may not be counted: as much as it grew, at least.
    assert count_reading(past, stream, group).added == 11


def test_without_a_lag_what_was_given_is_counted_by_hand() -> None:
    past = begin_tally(stream_of(100), group_of(90, 5, lag=NIL, counts=False))
    stream, group = stream_of(150), group_of(130, 7, lag=NIL, counts=False)
    assert uncounted(past, stream, group) == (None, (at(90), at(130)))
    assert count_reading(past, stream, group, delivered=40).acked == 38
    assert count_reading(past, stream, group).acked == SOME


def test_a_group_that_was_gone_goes_on_without_having_done_anything() -> None:
    past = replace(begun(30_000, 10, 50), added=7, acked=5)
    told = rejoin(past, stream_of(30_000), group_of(30_000, 0))
    assert (told.added, told.acked) == (7, 5)
    assert rejoin(past, stream_of(3), group_of(0, 0)).added < past.added


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[StreamState, ConsumerGroup, int | None, int | None]]:
    """Readings of one stream as its entries come, are read and acknowledged; what is known of each differs."""
    added = read = pending = 0
    first, told = 1, []
    for _ in range(draw(st.integers(1, 12))):
        added += draw(st.integers(0, 50))
        first = draw(st.integers(first, max(first, added)))
        given = draw(st.integers(0, max(0, added - read)))
        pending += given
        read = draw(st.integers(0, read)) if draw(st.integers(0, 5)) == 0 else read + given
        pending -= draw(st.integers(0, pending))
        counts = draw(st.booleans())
        lag = draw(st.sampled_from([NIL, exact(max(0, added - read))]))
        known = draw(st.booleans())
        told.append(
            (
                stream_of(added, first=first, counts=counts, length=max(0, added - first + 1)),
                group_of(read, pending, lag=lag, counts=counts),
                draw(st.integers(0, 50)) if known else None,
                draw(st.integers(0, 50)) if known else None,
            )
        )
    return told


@given(steps())
def test_the_counters_never_fall(
    told: list[tuple[StreamState, ConsumerGroup, int | None, int | None]],
) -> None:
    past = begin_tally(*told[0][:2])
    for stream, group, added, delivered in told[1:]:
        now = count_reading(past, stream, group, added=added, delivered=delivered)
        assert now.added >= past.added
        assert now.acked >= past.acked
        moved = (stream.last_generated_id, group.last_delivered_id, group.pending) != (
            past.sample.stream.last_generated_id,
            past.sample.last_delivered_id,
            past.sample.pending,
        )
        if not moved:
            assert now.acked == past.acked, "nothing moved, and progress was made"
        past = now


@given(st.integers(1, 500), st.integers(0, 500))
def test_a_step_that_cannot_be_told_is_no_rate_and_no_standstill(given_more: int, pending: int) -> None:
    past = begin_tally(stream_of(1_000), group_of(10, 5, lag=NIL, counts=False))
    told = count_reading(past, stream_of(1_000), group_of(10 + given_more, pending, lag=NIL, counts=False))
    assert told.acked == SOME


def worker(name: str = "w", *, beat: float = 0.0, busy: int = 0, worked: float = 0.0) -> RegisteredWorker:
    return RegisteredWorker(
        id=name,
        at=NOW + timedelta(seconds=beat),
        slots=16,
        busy=busy,
        worked=worked,
        state=WorkerState.RUNNING,
    )


@pytest.mark.parametrize(
    ("before", "now", "share"),
    [
        pytest.param((), (), None, id="nobody tells"),
        pytest.param((), (worker(busy=4),), 0.25, id="a new one, by what it does now"),
        pytest.param((worker(),), (worker(beat=5, worked=40),), 0.5, id="calls that ended"),
        pytest.param((worker(busy=8),), (worker(beat=5, busy=8),), 0.5, id="calls that went on"),
        pytest.param(
            (worker(busy=10),),
            (worker(beat=5, busy=10, worked=2),),
            0.625,
            id="many long ones beside a few short ones",
        ),
        pytest.param((worker(busy=16),), (worker(beat=5, busy=0, worked=9),), 9 / 80, id="all ended"),
        pytest.param((worker(worked=900),), (worker(beat=5, busy=4, worked=1),), 0.25, id="begun anew"),
        pytest.param((worker(),), (worker(beat=5, worked=4_000),), 1.0, id="never more than all"),
        pytest.param((worker(busy=4),), (worker(busy=12),), 0.75, id="not heard of since"),
        pytest.param(
            (worker("a"), worker("gone")),
            (worker("a", beat=5, worked=80), worker("b", busy=0)),
            0.5,
            id="one left and one came",
        ),
    ],
)
def test_a_busy_share_is_work_since_the_last_beat_by_slots(
    before: tuple[RegisteredWorker, ...], now: tuple[RegisteredWorker, ...], share: float | None
) -> None:
    assert busy_share(before, now) == share


def test_a_phantom_lag_is_told_as_one() -> None:
    tallied = begun(10, 10, 0)
    size = PoolSize(ordered=2)
    phantom = Lag(None, 0, 5, LagBasis.UPPER, "too high")
    told = demand_of(
        tallied,
        replace(group_of(10, 0), lag=replace(phantom, entries=5)),
        size,
        at=NOW,
        busy=None,
    )
    assert told.probed_empty
    assert (told.ordered, told.ready) == (2, 2)
    honest = demand_of(tallied, group_of(10, 3), size, at=NOW, busy=0.5)
    assert not honest.probed_empty
    assert (honest.pending, honest.busy) == (3, 0.5)
