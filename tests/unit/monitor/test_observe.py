"""The observer over whole stories, polled as the console polls."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from streamops.model.observation import GroupView, Health, Observation
from streamops.model.streams import ReadError
from streamops.monitor.observe import Observer
from streamops.monitor.thresholds import Thresholds
from tests.support.invented import NOW, POLL, group, minutes, seconds, snapshot, stream
from tests.support.monitor.world import World

Step = Callable[[World, int], None]


def the_group(observation: Observation) -> GroupView:
    return observation.streams[0].groups[0]


def story(step: Step, *, lasting: timedelta, world: World | None = None) -> list[tuple[timedelta, set[str]]]:
    """What is found, whenever that changes: poll every two seconds and take a step before each poll."""
    world = world or World()
    observer, chapters = Observer(Thresholds()), list[tuple[timedelta, set[str]]]()
    for number in range(lasting // POLL + 1):
        step(world, number)
        view = the_group(observer.observe(world.poll(POLL)))
        found = {finding.code.value for finding in view.findings}
        if not chapters or chapters[-1][1] != found:
            chapters.append((POLL * number, found))
    return chapters


def test_a_group_at_work_is_never_found_fault_with() -> None:
    def step(world: World, number: int) -> None:
        world.add(20 + number % 7)
        world.read(18 + number % 11)
        world.acknowledge(17 + number % 13)

    assert story(step, lasting=minutes(12)) == [(seconds(0), set())]


def test_a_group_that_is_idle_is_never_found_fault_with() -> None:
    def step(world: World, number: int) -> None:
        if number == 0:
            world.add(100)
            world.read(100)
            world.acknowledge(100)

    assert story(step, lasting=minutes(12)) == [(seconds(0), set())]


def test_a_group_that_stops_is_found_after_two_minutes_and_until_it_goes_on() -> None:
    def step(world: World, number: int) -> None:
        world.add(2)
        if number < 30 or number >= 150:
            world.read(100)
        world.acknowledge(100)

    # The last entry was delivered at 58 s, and the first that was not came at 60 s.
    assert story(step, lasting=minutes(8)) == [
        (seconds(0), set()),
        (seconds(180), {"stopped"}),
        (seconds(300), set()),
    ]


def test_a_group_that_stalls_is_found_after_five_minutes_and_until_it_goes_on() -> None:
    def step(world: World, number: int) -> None:
        if number < 250:
            world.add(1)
        world.read(1)
        if number < 30 or number >= 250:
            world.acknowledge(1)

    # The last acknowledgement was at 58 s.
    assert story(step, lasting=minutes(10)) == [
        (seconds(0), set()),
        (seconds(358), {"stalled"}),
        (seconds(500), set()),
    ]


def test_a_lag_that_grows_is_found_once_it_has_grown_for_five_minutes() -> None:
    def step(world: World, number: int) -> None:
        world.add(40 + number % 5)
        world.read(20 + number % 3 if number < 300 else 100)
        world.acknowledge(100)

    begun, growing, ended = story(step, lasting=minutes(15))
    assert begun == (seconds(0), set())
    assert growing[1] == {"lag_growing"}
    assert minutes(5) <= growing[0] <= minutes(6)
    assert ended[1] == set()
    assert minutes(10) <= ended[0] <= minutes(10.5)


def test_a_burst_that_is_worked_off_is_no_growth() -> None:
    def step(world: World, number: int) -> None:
        world.add(50_000 if number == 100 else 10)
        world.read(60)
        world.acknowledge(60)

    assert story(step, lasting=minutes(12)) == [(seconds(0), set())]


def test_a_rewind_is_found_at_once_and_until_it_has_caught_up() -> None:
    def step(world: World, number: int) -> None:
        if number == 0:
            world.add(100)
            world.read(100)
        if number == 10:
            world.rewind(50)
        if number > 15:
            world.read(10)
        world.acknowledge(100)

    assert story(step, lasting=minutes(2)) == [
        (seconds(0), set()),
        (seconds(20), {"rewound"}),
        (seconds(40), set()),
    ]


def test_a_loss_is_found_at_once_and_for_ten_minutes() -> None:
    def step(world: World, number: int) -> None:
        world.add(10)
        if number == 10:
            world.trim(3)
        world.read(10)
        world.acknowledge(10)

    assert story(step, lasting=minutes(12)) == [
        (seconds(0), set()),
        (seconds(20), {"lost"}),
        (seconds(620), set()),
    ]


def test_observed_since_is_the_first_snapshot() -> None:
    observer, world = Observer(Thresholds()), World()
    first, second = (observer.observe(world.poll(POLL)) for _ in range(2))
    assert first.observed_since == second.observed_since == first.snapshot.collected_at
    assert the_group(first).rates.window == timedelta(0)
    assert the_group(second).rates.window == POLL


def test_what_vanished_and_came_back_has_no_past() -> None:
    observer, world = Observer(Thresholds()), World()
    observer.observe(world.poll(POLL))
    observer.observe(snapshot(at=world.now + seconds(1) - NOW))
    assert the_group(observer.observe(world.poll(POLL))).rates.window == timedelta(0)


@pytest.mark.parametrize(
    ("gaps", "partial"),
    [([ReadError("timed out", "orders")], False), ([], True)],
    ids=["behind a gap", "left out on purpose"],
)
def test_what_was_only_out_of_sight_keeps_its_past(gaps: list[ReadError], *, partial: bool) -> None:
    observer, world = Observer(Thresholds()), World()
    observer.observe(world.poll(POLL))
    hidden = observer.observe(snapshot(at=world.now + seconds(1) - NOW, gaps=gaps), partial=partial)
    assert hidden.streams == ()
    assert hidden.health is (Health.UNKNOWN if gaps else Health.OK)
    assert the_group(observer.observe(world.poll(POLL))).rates.window == POLL


def test_thresholds_may_be_exchanged_while_watching() -> None:
    observer = Observer(Thresholds())
    reading = [stream(groups=[group(lag=5, waiting=seconds(30), members=())])]
    assert observer.observe(snapshot(*reading)).health is Health.OK
    observer.thresholds = Thresholds(no_consumers_after=seconds(10))
    assert observer.observe(snapshot(*reading, at=POLL)).health is Health.WARN
