"""What benchmarks reckon without a server: percentiles, bodies, events, verdicts."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.model.bench import BenchPlan, DrillPlan, DrillVerdict, Figure
from streamops.runtime.bench.bodies import encoded, event
from streamops.runtime.bench.drill_audit import Staff, judge, numbers_of
from streamops.runtime.bench.drill_events import ALWAYS, draw_events, erring, to_fail
from streamops.runtime.bench.percentiles import percentile
from streamops.wire.consuming.benching import Standing

SECOND = timedelta(seconds=1)
AT_REST = Standing(added=4, delivered="1-4", pending=0, retrying=0, dead_letters=1, handled=3, repeated=0)


@pytest.mark.parametrize(
    ("ordered", "share", "wanted"),
    [
        ([7.0], 0.0, 7),
        ([7.0], 0.99, 7),
        ([1.0, 2.0], 0.5, 1),
        ([1.0, 2.0, 3.0], 0.5, 2),
        ([float(at) for at in range(1, 101)], 0.99, 99),
        ([float(at) for at in range(1, 101)], 1, 100),
    ],
)
def test_a_percentile_is_the_value_at_its_rank(ordered: list[float], share: float, wanted: int) -> None:
    assert percentile(ordered, share) == wanted * SECOND


def test_nothing_has_no_percentile() -> None:
    with pytest.raises(ValueError, match="of nothing"):
        percentile([], 0.5)


@given(st.lists(st.integers(0, 1_000).map(float), min_size=1), st.floats(0, 1))
def test_a_percentile_is_one_of_them_and_enough_are_no_longer(taken: list[float], share: float) -> None:
    found = percentile(sorted(taken), share).total_seconds()
    assert found in taken
    assert sum(one <= found for one in taken) >= share * len(taken)


@pytest.mark.parametrize("size", [30, 64, 1_000])
def test_a_body_is_as_long_as_it_is_to_be(size: int) -> None:
    (body,) = encoded([event(123, size)])
    assert len(body) == size


def test_a_body_holds_its_number_however_short_it_is_to_be() -> None:
    (body,) = encoded([event(123, 1)])
    assert msgspec.json.decode(body)["number"] == 123


def test_the_same_seed_draws_the_same_events() -> None:
    plan = DrillPlan(events=500, errors=3.0, seed=7)
    events = draw_events(plan)
    assert events == draw_events(plan)
    assert events != draw_events(msgspec.structs.replace(plan, seed=8))
    assert [one.number for one in events] == list(range(500))
    assert all(0.05 <= one.work <= 0.1 for one in events)
    assert len(to_fail(events)) == erring(plan) == 15
    assert sum(one.fails == 1 for one in events) == 15


@pytest.mark.parametrize(("errors", "wanted"), [(0, 0), (1, 1), (50, 50)])
def test_as_many_events_fail_as_are_to(errors: float, wanted: int) -> None:
    events = draw_events(DrillPlan(events=100, errors=errors))
    assert [one.fails for one in events].count(ALWAYS) == wanted
    assert [one.fails for one in events].count(1) == wanted


def verdict(
    handled: set[int], letters: list[int], failing: set[int], standing: Standing = AT_REST, lag: int = 0
) -> DrillVerdict:
    staff = Staff(1, 1)
    return judge(handled, letters, failing, standing, events=4, lag=lag, staff=staff, took=SECOND)


def test_a_drill_passes_where_every_event_has_one_end() -> None:
    told = verdict({0, 1, 2}, [3], {3})
    assert told.passed
    assert (told.handled, told.dead_letters, told.lost, told.astray) == (3, 1, 0, 0)


@pytest.mark.parametrize(
    ("handled", "letters", "lost", "astray"),
    [
        ({0, 1}, [3], 1, 0),
        ({0, 1, 2}, [], 1, 0),
        ({0, 1, 2, 3}, [3], 0, 1),
        ({0, 1, 2, 3}, [], 0, 0),
        ({0, 1}, [2, 3], 0, 1),
        ({0, 1, 2}, [3, 3], 0, 1),
        ({0, 1, 2}, [3, -1], 0, 1),
    ],
)
def test_a_drill_fails_where_an_event_has_none_or_two_or_the_wrong_one(
    handled: set[int], letters: list[int], lost: int, astray: int
) -> None:
    told = verdict(handled, letters, {3})
    assert not told.passed
    assert (told.lost, told.astray) == (lost, astray)


@pytest.mark.parametrize(
    ("standing", "lag"),
    [(AT_REST, 1), (AT_REST._replace(pending=1), 0), (AT_REST._replace(retrying=1), 0)],
)
def test_a_drill_fails_where_anything_is_left_over(standing: Standing, lag: int) -> None:
    told = verdict({0, 1, 2}, [3], {3}, standing, lag)
    assert told.accounted
    assert not told.passed


def test_letters_of_others_have_no_number() -> None:
    assert numbers_of([b'{"number":3,"work":0.1}', b"", b"[]", b'{"number":"x"}']) == [3, -1, -1, -1]


def test_figures_are_multiples_of_bare_ones() -> None:
    rate = Figure(measure="a", what="a", entries=1, took=SECOND, per_second=50.0, bare_per_second=100.0)
    median = Figure(measure="a", what="a", entries=1, took=SECOND, p50=3 * SECOND, bare_p50=2 * SECOND)
    assert (rate.of_bare, median.of_bare) == (0.5, 1.5)
    assert Figure(measure="a", what="a", entries=1, took=SECOND, per_second=50.0).of_bare is None


def test_a_plan_of_a_bench_tells_entries_and_memory() -> None:
    plan = BenchPlan(entries=1_000, size=100, rate=50)
    assert (plan.one_by_one, plan.paced, plan.delayed) == (100, 250, 500)
    assert BenchPlan(entries=3).one_by_one == 1
    assert plan.memory > 1_000 * 100
    assert msgspec.structs.replace(plan, keep=True).memory > plan.memory
    assert DrillPlan().ideal == timedelta(seconds=58.59375)
