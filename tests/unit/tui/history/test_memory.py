import sys
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.model.lag import Lag, LagBasis
from streamops.model.observation import GroupView, Observation, Rates
from streamops.model.streams import StreamRole
from streamops.resources.charts.scale import Mark
from streamops.tui.history.memory import (
    ABSENT,
    ACKED,
    ADDED,
    ALL_ACKED,
    ALL_ADDED,
    ALL_DEAD_LETTERS,
    ALL_WAITING,
    DELIVERED,
    LAG,
    PENDING_AGE,
    TIERS,
    TIME_LAG,
    MetricsHistory,
)
from streamops.tui.history.rows import RunningTotals, Totals, stream_totals, together
from tests.support import invented
from tests.support.invented import NOW, exact, pending_entry, seconds
from tests.support.tui import sample

FINE, *_, COARSE = TIERS
EVERY = seconds(2)
END = NOW.timestamp()
UNKNOWN = Lag(None, None, None, LagBasis.UNKNOWN, "")


def at(observation: Observation, second: float) -> Observation:
    """The same, observed so many seconds after ``NOW``."""
    snapshot = replace(observation.snapshot, collected_at=NOW + seconds(second))
    return replace(observation, snapshot=snapshot)


def one(
    lag: Lag | int = 0, rates: Rates | None = None, name: str = "billing", **group: object
) -> Observation:
    """One stream with one group."""
    made = invented.group(name, lag=exact(lag) if isinstance(lag, int) else lag, **group)  # type: ignore[arg-type]
    return sample.observation(
        sample.stream_view("orders", sample.group_view("orders", made, rates=rates), added=1.0)
    )


def remembered(*observations: Observation, every: timedelta | None = EVERY) -> MetricsHistory:
    past = MetricsHistory()
    for observation in observations:
        past.take(observation, every)
    return past


def sums(observation: Observation) -> Totals:
    return together([stream_totals(stream) for stream in observation.streams])


def values(
    past: MetricsHistory, track: object = LAG, tier: object = FINE, until: float = END + 10**6
) -> list[object]:
    points = past.points("orders", "billing", track, tier, until)  # type: ignore[arg-type]
    return [point.value for point in points]


def test_a_lag_is_remembered_with_what_it_rests_on() -> None:
    for lag, value, mark in [
        (exact(7), 7, Mark.KNOWN),
        (exact(0), 0, Mark.KNOWN),
        (Lag(7, 7, 7, LagBasis.REPORTED, ""), 7, Mark.KNOWN),
        (Lag(None, 0, 900, LagBasis.UPPER, ""), 900, Mark.AT_MOST),
        (Lag(None, 5, None, LagBasis.LOWER, ""), 5, Mark.AT_LEAST),
        (Lag(80, 10, 90, LagBasis.ESTIMATED, ""), 80, Mark.ABOUT),
        (UNKNOWN, None, Mark.KNOWN),
        (Lag(None, 3, 9, LagBasis.UNKNOWN, ""), None, Mark.KNOWN),
    ]:
        points = remembered(at(one(lag), 0)).points("orders", "billing", LAG, FINE, END)
        assert [(point.value, point.mark) for point in points] == [(value, mark)]


def test_all_measures_are_remembered() -> None:
    oldest = pending_entry(seconds(90))
    observation = one(
        3, Rates(5.0, 4.0, 2.5, 0.0), pending=2, oldest=oldest, oldest_age=seconds(90), waiting=seconds(8)
    )
    past = remembered(at(observation, 0))
    found = [values(past, track) for track in (LAG, TIME_LAG, PENDING_AGE, ADDED, ACKED, DELIVERED)]
    assert found == [[3], [8], [90], [5], [2.5], [4]]


def test_measure_that_is_not_known_is_not_nought() -> None:
    observation = one(UNKNOWN, Rates(), pending=2, waiting=None)
    past = remembered(at(observation, 0))
    assert [values(past, track) for track in (LAG, TIME_LAG, PENDING_AGE, ADDED, ACKED, DELIVERED)] == [
        [None]
    ] * 6


def test_nothing_pending_is_nought() -> None:
    assert values(remembered(at(one(), 0)), PENDING_AGE) == [0]


def test_every_tier_reaches_as_far_back_as_it_says() -> None:
    past = MetricsHistory()
    for number in range(4000):
        past.take(at(one(number), number * 2), EVERY)
    until = END + 8000
    for tier in TIERS:
        points = past.points("orders", "billing", LAG, tier, until)
        assert len(points) == min(tier.length, 8000 // tier.spacing + (8000 % tier.spacing > 0))
        assert points[-1].value == 3999
        assert [point.at for point in points] == sorted({point.at for point in points})
    assert values(past, LAG, FINE)[0] == 4000 - FINE.length


def test_memory_stays_the_same_however_long_it_goes_on() -> None:
    past = MetricsHistory()

    def room() -> int:
        return sum(sys.getsizeof(ring._cells) for kept in past._groups.values() for ring in kept.rings)

    past.take(at(one(1), 0), EVERY)
    before = room()
    for number in range(1, 2000):
        past.take(at(one(number), number * 20), EVERY)
    assert room() == before < 33_000


def test_a_pause_is_not_drawn_over() -> None:
    past = remembered(*(at(one(1), second) for second in (0, 2, 4, 60, 62)))
    assert [point.joined for point in past.points("orders", "billing", LAG, FINE, END + 99)] == [
        False, True, True, False, True,
    ]  # fmt: skip


def test_slow_polls_are_joined_once_they_are_the_rule() -> None:
    for every in [seconds(30), None, EVERY]:
        past = remembered(*(at(one(1), second) for second in (0, 30, 60, 90)), every=every)
        joined = [point.joined for point in past.points("orders", "billing", LAG, FINE, END + 99)]
        assert joined[2:] == [True, True]
        assert joined[1] is (every == seconds(30))


def test_an_observation_that_comes_late_changes_nothing() -> None:
    past = remembered(at(one(1), 0), at(one(2), 2), at(one(9), 1))
    assert values(past) == [1, 2]


def test_a_clock_that_was_set_back_begins_all_anew() -> None:
    past = remembered(at(one(1), 0), at(one(2), 2), at(one(3), -3600))
    assert values(past) == [3]
    assert past.since == END - 3600


def test_only_what_was_known_then_is_shown_of_a_frozen_moment() -> None:
    past = remembered(*(at(one(number), number * 2) for number in range(5)))
    assert values(past, until=END + 4) == [0, 1, 2]


def test_a_group_out_of_sight_is_unknown_and_in_the_end_forgotten() -> None:
    past = remembered(at(one(1), 0), at(sample.observation(), 2), at(one(3), 4))
    assert values(past) == [1, None, 3]
    past.take(at(sample.observation(), 4 + ABSENT + 1), EVERY)
    assert not past.remembers("orders", "billing")


def several(count: int, *, faulty: tuple[int, ...] = ()) -> Observation:
    """Streams of one group each, some with a finding."""
    views: list[GroupView] = []
    for number in range(count):
        found = (sample.STALLED,) if number in faulty else ()
        views.append(sample.group_view(f"s{number:03}", invented.group("g", lag=number), *found))
    return sample.observation(*(sample.stream_view(view.stream, view) for view in views))


def test_there_are_never_more_groups_than_there_is_room_for() -> None:
    past = MetricsHistory(most=5)
    past.take(at(several(50), 0), EVERY)
    past.take(at(several(50, faulty=tuple(range(20, 50))), 2), EVERY)
    assert len(past) == 5


def test_a_group_with_a_finding_takes_the_place_of_a_quiet_one() -> None:
    past = MetricsHistory(most=3)
    past.take(at(several(9), 0), EVERY)
    assert not past.remembers("s007", "g")
    past.take(at(several(9, faulty=(7,)), 2), EVERY)
    assert past.remembers("s007", "g")
    assert len(past) == 3


def test_a_group_that_somebody_looks_at_is_remembered_whoever_has_to_give_way() -> None:
    past = MetricsHistory(most=2)
    past.take(at(several(9, faulty=(0, 1)), 0), EVERY)
    past.want("s008", "g")
    past.take(at(several(9, faulty=(0, 1)), 2), EVERY)
    assert past.remembers("s008", "g")
    past.take(at(several(9, faulty=(0, 1, 2, 3)), 4), EVERY)
    assert past.remembers("s008", "g")


def test_the_whole_is_summed_up_and_says_what_is_not_known() -> None:
    observation = sample.shop()
    past = MetricsHistory()
    past.take(observation, EVERY)
    totals = sums(observation)
    rates = (totals.added, totals.arrived, totals.delivered, totals.acked)
    assert rates == pytest.approx((2553.6, 2790.0, 2754.0, 2744.2))
    assert totals._replace(added=0, arrived=0, delivered=0, acked=0) == Totals(
        streams=6, groups=8, waiting=1248, pending=94, untold_added=1, untold_rates=1, untold_lags=2, queues=1,
        letters=18,
    )  # fmt: skip
    waiting, letters, added = (
        past.whole(track, FINE, END)[-1] for track in (ALL_WAITING, ALL_DEAD_LETTERS, ALL_ADDED)
    )
    assert (waiting.value, waiting.mark) == (1248, Mark.AT_LEAST)
    assert letters.value == 18
    assert added.value == pytest.approx(2553.6, rel=1e-6)


def test_a_whole_of_which_no_part_is_known_is_not_known() -> None:
    past = remembered(at(one(1, Rates()), 0))
    assert past.whole(ALL_ACKED, FINE, END)[-1].value is None


def test_retries_and_dead_letters_are_no_arrivals() -> None:
    group = sample.group_view("r", invented.group("g", lag=5), rates=sample.moving(9, 9, 9))
    observation = sample.observation(
        sample.stream_view("orders:dlq", length=4, added=3.0, role=StreamRole.DEAD_LETTERS),
        sample.stream_view("orders:retry:g", group, added=3.0, role=StreamRole.RETRY),
    )
    assert sums(observation) == Totals(queues=1, letters=4)


lags = st.one_of(st.integers(0, 10**6).map(exact), st.just(UNKNOWN))


@given(st.lists(st.tuples(st.floats(0.1, 100), lags), min_size=1, max_size=60))
def test_no_tier_ever_tells_more_than_was_known(steps: list[tuple[float, Lag]]) -> None:
    past, second, known = MetricsHistory(), 0.0, []
    for step, lag in steps:
        second += step
        past.take(at(one(lag), second), EVERY)
        if lag.known:
            known.append(lag.entries)
    for tier in TIERS:
        shown = [value for value in values(past, LAG, tier) if value is not None]
        assert set(shown) <= set(known)
        if known:
            assert max(shown) == max(known) or tier is not COARSE  # type: ignore[type-var]


def test_totals_that_follow_changes_are_the_sums_of_the_last_observation() -> None:
    rates = [0.1, None, 12_345.678, 0.2, 1e-9]
    running, streams = RunningTotals(), list(sample.shop().streams)
    for number in range(200):
        place = number % len(streams)
        streams[place] = replace(streams[place], added_per_second=rates[number % len(rates)])
        assert running.take(tuple(streams)) == together([stream_totals(view) for view in streams])
