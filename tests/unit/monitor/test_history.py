"""History against a world that keeps its own true account."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.model.entries import ZERO_ID
from streamops.model.observation import Rates
from streamops.model.streams import ReadError, Snapshot, StreamRole, StreamState
from streamops.monitor.history import GroupHistory, History, advance
from streamops.monitor.rates import rates_over
from streamops.monitor.thresholds import Thresholds
from tests.support.invented import NOW, POLL, bounded, entry_id, group, minutes, seconds, snapshot, stream
from tests.support.monitor.world import Counter, World
from tests.support.strategies import FEWER_EXAMPLES, polls

THRESHOLDS = Thresholds()

Act = Callable[[World], None]


def acts() -> st.SearchStrategy[list[Act]]:
    """Things that happen between two polls."""

    def act(name: str) -> st.SearchStrategy[Act]:
        return st.integers(0, 6).map(lambda count: lambda world: getattr(world, name)(count))

    return st.lists(st.sampled_from(["add", "add", "read", "acknowledge", "trim"]).flatmap(act), max_size=4)


def of_group(history: History) -> GroupHistory:
    return history.streams["orders"].groups["billing"]


def rates_of(history: History) -> Rates:
    past = of_group(history)
    return rates_over(past.recent, past.rewound_from)


def watch(*snapshots: Snapshot, since: History | None = None, partial: bool = False) -> History:
    history = since
    for reading in snapshots:
        history = advance(history, reading, THRESHOLDS, partial=partial)
    assert history is not None
    return history


@given(st.lists(acts(), min_size=1, max_size=12), st.sampled_from(Counter))
def test_rates_equal_the_truth(steps: list[list[Act]], counter: Counter) -> None:
    world = World(counter)
    history = watch(world.poll(POLL))
    truth = {world.now: (world.added, world.delivered, world.acked, world.lost)}
    for step in steps:
        for act in step:
            act(world)
        history = watch(world.poll(POLL), since=history)
        truth[world.now] = (world.added, world.delivered, world.acked, world.lost)
        rates, began = rates_of(history), of_group(history).recent.times[0]
        added, delivered, acked, lost = (
            (now - then) / rates.window.total_seconds()
            for now, then in zip(truth[world.now], truth[began], strict=True)
        )
        assert rates.window == world.now - began
        assert rates.added_per_second == pytest.approx(added)
        assert rates.delivered_per_second is not None
        assert rates.acked_per_second is not None
        # Without a count of deliveries alone, what was trimmed away unread may pass for delivered.
        extra = 0.0 if counter is Counter.DELIVERED else lost
        assert delivered - 1e-9 <= rates.delivered_per_second <= delivered + extra + 1e-9
        assert acked - 1e-9 <= rates.acked_per_second <= acked + extra + 1e-9


@given(st.lists(acts(), min_size=1, max_size=12), st.sampled_from(Counter))
def test_losses_equal_the_truth(steps: list[list[Act]], counter: Counter) -> None:
    world = World(counter)
    history = watch(world.poll(POLL))
    assert of_group(history).lost_at_most == 0
    for step in steps:
        for act in step:
            act(world)
        history = watch(world.poll(POLL), since=history)
        counted = of_group(history).lost_at_most
        assert of_group(history).lost <= world.lost
        if counter is Counter.DELIVERED:
            assert counted == world.lost


def test_losses_as_measured_on_redis_7_0() -> None:
    """Ten entries, three read, trimmed to two; drained; ten more, trimmed to one: five, then nine more."""
    world = World(Counter.DELIVERED)
    world.add(10)
    world.read(3)
    history = watch(world.poll(POLL))
    world.trim(2)
    history = watch(world.poll(POLL), since=history)
    assert of_group(history).lost_at_most == 5
    world.read(2)
    history = watch(world.poll(POLL), since=history)
    assert of_group(history).lost_at_most == 5
    world.add(10)
    world.trim(1)
    history = watch(world.poll(POLL), since=history)
    assert of_group(history).lost_at_most == 14
    assert of_group(history).lost_at == world.now


def test_losses_that_cannot_be_counted_leave_the_sum_unknown_for_good() -> None:
    world = World(Counter.NIL)
    world.add(10)
    history = watch(world.poll(POLL))
    world.read(3)
    history = watch(world.poll(POLL), since=history)
    assert of_group(history).lost_at_most == 0
    world.trim(5)
    world.read(2)
    history = watch(world.poll(POLL), since=history)
    assert of_group(history).lost_at_most is None
    history = watch(world.poll(POLL), since=history)
    assert of_group(history).lost_at_most is None


def test_without_a_count_of_additions_only_what_is_provable_is_told() -> None:
    """As on Redis 6.2."""
    world = World(Counter.NIL, counts_added=False)
    world.add(5)
    history = watch(world.poll(POLL))
    world.add(6)
    world.read(4)
    history = watch(world.poll(POLL), since=history)
    rates = rates_of(history)
    assert (rates.added_per_second, rates.delivered_per_second) == (3.0, 2.0)
    assert (of_group(history).lost, of_group(history).lost_known) == (0, True)
    world.add(6)
    world.trim(5)
    world.read(1)
    history = watch(world.poll(POLL), since=history)
    rates = rates_of(history)
    assert (rates.added_per_second, rates.delivered_per_second) == (None, None)
    assert of_group(history).lost_at_most is None


@given(polls(most=2))
@FEWER_EXAMPLES
def test_rates_are_never_negative_and_never_of_one_reading(snapshots: list[Snapshot]) -> None:
    history: History | None = None
    for reading in snapshots:
        history = advance(history, reading, THRESHOLDS)
        for past in (past for of in history.streams.values() for past in of.groups.values()):
            rates = rates_over(past.recent, past.rewound_from)
            movements = (rates.added_per_second, rates.delivered_per_second, rates.acked_per_second)
            assert all(rate is None or rate >= 0 for rate in movements)
            if len(past.recent.values) == 1:
                assert rates == Rates()
            assert past.lost >= 0


@given(st.lists(acts(), min_size=1, max_size=3), st.lists(acts(), max_size=3), st.integers(1, 5))
def test_a_rewound_group_begins_anew(before: list[list[Act]], after: list[list[Act]], back: int) -> None:
    world = World()
    world.add(5)
    world.read(5)
    history = watch(world.poll(POLL))
    for step in before:
        for act in step:
            act(world)
        history = watch(world.poll(POLL), since=history)
    losses, left = of_group(history).lost, world.position
    world.rewind(back)
    history = watch(world.poll(POLL), since=history)
    past = of_group(history)
    assert (past.rewound_at, past.rewound_from) == (world.now, left)
    assert past.clear_at == world.now
    assert rates_of(history) == Rates()
    assert past.trend.times == (world.now,)
    assert past.lost == losses
    for step in after:
        delivered = world.delivered
        for act in step:
            act(world)
        history = watch(world.poll(POLL), since=history)
        if world.delivered > delivered and past.recent.values[-1].last_delivered_id < left:
            assert rates_of(history).acked_per_second is None


def test_a_group_rewound_twice_has_caught_up_only_at_the_furthest_position() -> None:
    world = World()
    world.add(9)
    world.read(9)
    history, furthest = watch(world.poll(POLL)), world.position
    world.rewind(5)
    history = watch(world.poll(POLL), since=history)
    world.read(3)
    history = watch(world.poll(POLL), since=history)
    world.rewind(2)
    history = watch(world.poll(POLL), since=history)
    assert (of_group(history).rewound_at, of_group(history).rewound_from) == (world.now, furthest)


def orders(**changes: Any) -> StreamState:
    """The stream with its one group, at the position that is the oldest of all."""
    return stream(groups=[group(position=ZERO_ID, lag=5)], **changes)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        pytest.param(orders(entries_added=9), orders(entries_added=8), id="fewer were ever added"),
        pytest.param(
            orders(last_generated_id=entry_id(seconds(1))),
            orders(last_generated_id=entry_id(seconds(2))),
            id="the highest ID fell",
        ),
        pytest.param(
            orders(entries_added=None, first_id=entry_id(seconds(7))),
            orders(entries_added=None, first_id=entry_id(seconds(8))),
            id="entries came before the first",
        ),
    ],
)
def test_a_stream_created_anew_begins_anew(earlier: StreamState, later: StreamState) -> None:
    history = watch(snapshot(earlier), snapshot(earlier, at=POLL), snapshot(later, at=2 * POLL))
    assert history.streams["orders"].recent.times == (NOW + 2 * POLL,)
    past = of_group(history)
    assert past.began == NOW + 2 * POLL
    assert (past.recent.times, past.trend.times) == ((past.began,), (past.began,))
    assert past.rewound_at is None
    assert (past.lost, past.lost_known) == (0, True)


MARKS = ("position_since", "waiting_since", "clear_at", "unacked_since")


@pytest.mark.parametrize(
    ("then", "now", "changed"),
    [
        pytest.param({}, {}, {"clear_at", "unacked_since"}, id="quiet"),
        pytest.param({"lag": 5}, {"lag": 5}, {"unacked_since"}, id="entries wait"),
        pytest.param(
            {"lag": 5, "pending": 3},
            {"lag": 5, "pending": 3},
            set(),
            id="entries wait and others are pending",
        ),
        pytest.param(
            {"lag": 5, "pending": 3}, {"lag": 5, "pending": 2}, {"unacked_since"}, id="one is acknowledged"
        ),
        pytest.param(
            {"lag": 5, "pending": 3, "entries_read": 95},
            {"lag": 4, "pending": 4, "entries_read": 96, "position": entry_id(-POLL)},
            {"position_since"},
            id="one is delivered",
        ),
        pytest.param(
            {"lag": bounded(1, 9), "pending": 3},
            {"lag": bounded(1, 9), "pending": 3, "position": entry_id(-POLL)},
            {"position_since", "unacked_since"},
            id="some are delivered, perhaps some acknowledged",
        ),
    ],
)
def test_a_second_reading_moves_the_marks_of_what_changed(
    then: dict[str, Any], now: dict[str, Any], changed: set[str]
) -> None:
    """Which marks a second reading moves to its own time."""
    history = watch(
        snapshot(stream(groups=[group(**then)])), snapshot(stream(groups=[group(**now)]), at=POLL)
    )
    past = of_group(history)
    assert {mark for mark in MARKS if getattr(past, mark) == history.at} == changed


@pytest.mark.parametrize(
    ("earlier", "later", "trimmed_at"),
    [
        pytest.param({}, {"first_id": entry_id(minutes(30))}, NOW + POLL, id="the first entry went"),
        pytest.param({}, {"length": 0}, NOW + POLL, id="all entries went"),
        pytest.param({}, {}, None, id="nothing went"),
        pytest.param(
            {},
            {"first_id": entry_id(minutes(30)), "max_deleted_id": entry_id(minutes(60))},
            None,
            id="the first entry was deleted",
        ),
        pytest.param(
            {"max_deleted_id": None},
            {"max_deleted_id": None, "first_id": entry_id(minutes(30))},
            None,
            id="deleting cannot be ruled out",
        ),
        pytest.param({"length": 0}, {}, None, id="the stream was empty"),
    ],
)
def test_trimming_is_told_from_deleting(
    earlier: dict[str, Any], later: dict[str, Any], trimmed_at: datetime | None
) -> None:
    history = watch(snapshot(orders(**earlier)), snapshot(orders(**later), at=POLL))
    assert history.streams["orders"].trimmed_at == trimmed_at


def test_growth_is_kept_for_dead_letters_alone() -> None:
    letters = stream("orders:dlq", role=StreamRole.DEAD_LETTERS)
    history = watch(*(snapshot(letters, orders(), at=POLL * n) for n in range(600)))
    growth = history.streams["orders:dlq"].growth
    assert growth is not None
    assert minutes(15) <= growth.span <= minutes(17)
    assert history.streams["orders"].growth is None


def test_what_vanished_is_forgotten() -> None:
    other = stream("payments", [group()])
    history = watch(snapshot(orders(), other), snapshot(stream(), at=POLL))
    assert set(history.streams) == {"orders"}
    assert history.streams["orders"].groups == {}


@pytest.mark.parametrize(
    ("gap", "streams", "groups"),
    [
        pytest.param(ReadError("timed out", "payments"), {"orders", "payments"}, set(), id="a stream"),
        pytest.param(ReadError("timed out", "orders", "billing"), {"orders"}, {"billing"}, id="a group"),
        pytest.param(
            ReadError("timed out", "orders", None, "groups"), {"orders"}, {"billing"}, id="all groups"
        ),
        pytest.param(ReadError("unreachable"), {"orders", "payments"}, {"billing"}, id="a whole node"),
        pytest.param(ReadError("timed out", "others"), {"orders"}, set(), id="something else"),
    ],
)
def test_what_a_gap_hides_is_remembered(gap: ReadError, streams: set[str], groups: set[str]) -> None:
    history = watch(snapshot(orders(), stream("payments")))
    hidden = watch(snapshot(stream(), at=POLL, gaps=[gap]), since=history)
    assert set(hidden.streams) == streams
    assert set(hidden.streams["orders"].groups) == groups


def test_what_a_gap_hides_too_long_is_forgotten() -> None:
    gap = ReadError("NOPERM", part="server information")
    history = watch(snapshot(orders(), stream("payments")))
    history = watch(snapshot(stream(), at=minutes(14.9), gaps=[gap]), since=history)
    assert set(history.streams) == {"orders", "payments"}
    assert set(history.streams["orders"].groups) == {"billing"}
    history = watch(snapshot(stream(), at=minutes(15), gaps=[gap]), since=history)
    assert set(history.streams) == {"orders"}
    assert history.streams["orders"].groups == {}


def test_movement_is_told_across_a_gap() -> None:
    world = World()
    history = watch(world.poll(POLL))
    world.add(6)
    world.read(4)
    hidden = snapshot(at=world.now + POLL - NOW, gaps=[ReadError("timed out", "orders")])
    history = watch(hidden, world.poll(2 * POLL), since=history)
    rates = rates_of(history)
    assert (rates.added_per_second, rates.delivered_per_second) == (1.5, 1.0)


def test_a_clock_far_behind_begins_all_anew() -> None:
    history = watch(snapshot(orders(), at=minutes(1)), snapshot(orders()))
    assert history.since == history.at == NOW
    assert of_group(history).recent.times == (NOW,)


@pytest.mark.parametrize(
    "later", [POLL, POLL / 2, POLL - minutes(0.99)], ids=["again", "late", "clock behind"]
)
def test_a_late_snapshot_changes_nothing_but_begins_what_is_new(later: timedelta) -> None:
    history = watch(snapshot(orders()), snapshot(orders(), at=POLL))
    late = snapshot(stream(groups=[group(), group("audit")]), stream("payments", [group()]), at=later)
    after = watch(late, since=history)
    assert (after.since, after.at) == (history.since, history.at)
    assert of_group(after) is of_group(history)
    begun = (after.streams["orders"].groups["audit"], after.streams["payments"].groups["billing"])
    assert [past.recent.times for past in begun] == [(NOW + later,)] * 2
    on_time = watch(snapshot(orders(), at=2 * POLL), since=after)
    assert of_group(on_time).recent.times == (NOW, NOW + 2 * POLL)


def test_a_late_snapshot_of_what_is_known_keeps_its_history_as_it_is() -> None:
    history = watch(snapshot(orders()), snapshot(orders(), at=POLL))
    late = watch(snapshot(orders()), since=history)
    assert late.streams["orders"] is history.streams["orders"]
