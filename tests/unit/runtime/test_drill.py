"""What a drill reckons without a server: events and verdicts."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.model.drill import DrillPlan, DrillVerdict
from streamops.runtime.drill import (
    ALWAYS,
    WorkerCounts,
    draw_events,
    erring,
    judge,
    number_of,
    to_fail,
)
from streamops.wire.consuming.drilling import DrillCounts
from tests.support.tables import table

SECOND = timedelta(seconds=1)
AT_REST = DrillCounts(added=4, delivered="1-4", pending=0, retrying=0, dead_letters=1, handled=3, repeated=0)
FOUR = DrillPlan(events=4, errors=25.0)
EVENTS = [replace(event, fails=ALWAYS if event.number == 3 else 0) for event in draw_events(FOUR)]


def test_same_plan_draws_the_same_events() -> None:
    plan = DrillPlan(events=500, errors=3.0)
    events = draw_events(plan)
    assert events == draw_events(plan)
    assert [one.number for one in events] == list(range(500))
    assert all(0.05 <= one.work <= 0.1 for one in events)
    assert len(to_fail(events)) == erring(plan) == 15
    assert sum(one.fails == 1 for one in events) == 15


@pytest.mark.parametrize(("errors", "wanted"), [(0, 0), (1, 1), (50, 50)])
def test_as_many_events_fail_as_are_to(errors: float, wanted: int) -> None:
    events = draw_events(DrillPlan(events=100, errors=errors))
    assert [one.fails for one in events].count(ALWAYS) == wanted
    assert [one.fails for one in events].count(1) == wanted


def verdict(handled: set[int], dead: list[int], standing: DrillCounts = AT_REST) -> DrillVerdict:
    workers = WorkerCounts(killed=1, most=2, last=2)
    return judge(handled, dead, EVENTS, standing, workers=workers, took=SECOND)


def test_drill_passes_if_every_event_has_one_end() -> None:
    found = verdict({0, 1, 2}, [3])
    assert found.passes(FOUR)
    assert (found.handled, found.dead_letters, found.lost, found.astray) == (3, 1, 0, 0)


@table(
    ("handled", "dead", "lost", "astray"),
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
def test_drill_fails_if_an_event_has_no_end_or_two_or_the_wrong_one(
    handled: set[int], dead: list[int], lost: int, astray: int
) -> None:
    found = verdict(handled, dead)
    assert not found.passes(FOUR)
    assert (found.lost, found.astray) == (lost, astray)


@pytest.mark.parametrize(
    "standing",
    [AT_REST._replace(delivered="1-3"), AT_REST._replace(pending=1), AT_REST._replace(retrying=1)],
)
def test_drill_fails_if_anything_is_left_over(standing: DrillCounts) -> None:
    found = verdict({0, 1, 2}, [3], standing)
    assert found.accounted
    assert not found.passes(FOUR)


def test_drill_fails_if_more_workers_stay_than_are_needed() -> None:
    assert not verdict({0, 1, 2}, [3]).passes(replace(FOUR, minimum=1))


@table(("body", "number"), [(b'{"number":3,"work":0.1}', 3), (b"", -1), (b"[]", -1), (b'{"number":"x"}', -1)])
def test_dead_letters_of_others_have_no_number(body: bytes, number: int) -> None:
    assert number_of(body) == number


def test_plan_gives_the_ideal_duration() -> None:
    assert DrillPlan().ideal == timedelta(seconds=58.59375)
