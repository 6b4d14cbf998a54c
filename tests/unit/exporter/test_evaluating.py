"""What fires and what is resolved: tables of looks, and what must hold of any looks."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.exporter.alerts import (
    REDIS_DOWN,
    AlertEvaluator,
    AlertSource,
    Evaluation,
    Notice,
    evaluate_failing,
)
from streamops.model.observation import Health
from tests.support.exporter.found import condition, look
from tests.support.invented import seconds

ONE, TWO, THREE = (AlertSource("stopped", "orders", name) for name in ("one", "two", "three"))
MINUTE = seconds(60)
BEAT = seconds(15)


class State(Enum):
    """What a look shows of a subject."""

    ABSENT = "."
    WARN = "w"
    CRITICAL = "c"
    UNKNOWN = "?"


LEVELS = {State.WARN: Health.WARN, State.CRITICAL: Health.CRITICAL}


def shown(states: dict[AlertSource, State]) -> Evaluation:
    return look(
        [condition(subject, LEVELS[state]) for subject, state in states.items() if state in LEVELS],
        [subject for subject, state in states.items() if state is State.UNKNOWN],
    )


def fired(looks: Iterable[Evaluation], level: Health = Health.WARN) -> list[tuple[float, Notice]]:
    """The notices of a look every fifteen seconds, each with the seconds since the first."""
    evaluator = AlertEvaluator(level, MINUTE, MINUTE)
    return [
        ((BEAT * number).total_seconds(), notice)
        for number, one in enumerate(looks)
        for notice in evaluator.evaluate(one, BEAT * number)
    ]


def story(letters: str, level: Health = Health.WARN) -> list[tuple[float, str]]:
    """A look every fifteen seconds, a letter each, blanks aside; what fired (F) and was resolved (R) when."""
    looks = (shown({ONE: State(letter)}) for letter in letters.replace(" ", ""))
    return [(at, "R" if notice.resolved else "F") for at, notice in fired(looks, level)]


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        pytest.param("....", [], id="nothing"),
        pytest.param("wwww", [], id="too short"),
        pytest.param("wwwww", [(60, "F")], id="held for a minute"),
        pytest.param("wwwww wwwww wwwww", [(60, "F")], id="once"),
        pytest.param("www.www.www.www.", [], id="flaps before it fires"),
        pytest.param("wwwww ....", [(60, "F")], id="gone too short"),
        pytest.param("wwwww .....", [(60, "F"), (135, "R")], id="resolved"),
        pytest.param("wwwww ...w ...w ...w .....", [(60, "F"), (315, "R")], id="flaps after"),
        pytest.param("wwwww ..... wwwww", [(60, "F"), (135, "R"), (210, "F")], id="comes back"),
        pytest.param("www ??????????", [], id="unknown does not fire"),
        pytest.param("wwwww ??????????????", [(60, "F")], id="unknown does not resolve"),
        pytest.param("wwwww ... ???? .", [(60, "F"), (180, "R")], id="gone, unknown, gone"),
        pytest.param("wwwww ... ???? w ...", [(60, "F")], id="gone, unknown, there"),
        pytest.param("wwwww cwcwcw", [(60, "F"), (75, "F")], id="becomes critical, once"),
        pytest.param("wwwww ..... c cccc", [(60, "F"), (135, "R"), (210, "F")], id="comes back critical"),
    ],
)
def test_looks_fire_and_resolve(letters: str, expected: list[tuple[float, str]]) -> None:
    assert story(letters) == expected


def test_what_still_holds_fires_again_after_each_span() -> None:
    evaluator = AlertEvaluator(Health.WARN, MINUTE, MINUTE, MINUTE * 2)
    warned, critical, gone = (shown({ONE: State(letter)}) for letter in "wc.")
    looks = [warned] * 6 + [critical] * 4 + [warned] * 2 + [gone] * 3
    told = [
        (minute, one.peak, one.resolved)
        for minute, look in enumerate(looks)
        for one in evaluator.evaluate(look, minute * MINUTE)
    ]
    worst = Health.CRITICAL
    assert told == [
        *((minute, Health.WARN, False) for minute in (1, 3, 5)),
        *((minute, worst, False) for minute in (6, 8, 10)),
        (13, worst, True),
    ]


def test_conditions_below_the_level_fire_nothing() -> None:
    assert story("wwwwwwwwww", Health.CRITICAL) == []
    assert story("wwwww ccccc wwwww", Health.CRITICAL) == [(135, "F"), (210, "R")]


def test_many_at_once_come_the_worst_first() -> None:
    crowd = [AlertSource("behind", "orders", f"group-{number:03}") for number in range(500)]
    states = dict.fromkeys(crowd, State.WARN) | {ONE: State.CRITICAL}
    notices = fired([shown(states)] * 20)
    assert {at for at, _ in notices} == {60}
    assert len(notices) == 501
    assert notices[0][1].condition.subject == ONE


def test_while_redis_is_down_only_that_fires() -> None:
    found = shown({ONE: State.WARN})
    looks = [found] * 5 + [evaluate_failing("refused", down=True)] * 400 + [found] * 5
    down = AlertSource(REDIS_DOWN)
    assert [(at, notice.resolved, notice.condition.subject) for at, notice in fired(looks)] == [
        (60, False, ONE),
        (75 + 60, False, down),
        (75 + 400 * 15 + 60, True, down),
    ]


def test_a_notice_says_how_long_and_how_bad_it_was() -> None:
    _, last = fired([shown({ONE: state}) for state in map(State, "cccccwwwww.....")])[-1]
    assert last.resolved
    assert last.peak is Health.CRITICAL
    assert last.condition.level is Health.WARN
    assert last.lasted == BEAT * 14


# Any looks: at three subjects, whatever they do, however far apart.

STATES = st.sampled_from(State)
STEPS = st.lists(
    st.tuples(st.sampled_from([1, 15, 40, 61, 900]), STATES, STATES, STATES), min_size=1, max_size=60
)
Steps = Sequence[tuple[int, State, State, State]]
LEVEL = st.sampled_from([Health.WARN, Health.CRITICAL])
SPAN = st.sampled_from([timedelta(0), seconds(15), MINUTE])


def play(
    steps: Steps, level: Health, after: timedelta
) -> list[tuple[timedelta, dict[AlertSource, State], list[Notice]]]:
    """Each look: when, what it showed, and its notices."""
    evaluator, at, played = AlertEvaluator(level, after, after), timedelta(0), []
    for passed, *found in steps:
        at += seconds(passed)
        states = dict(zip((ONE, TWO, THREE), found, strict=True))
        played.append((at, states, evaluator.evaluate(shown(states), at)))
    return played


@given(STEPS, LEVEL, SPAN)
def test_what_fires_is_resolved_before_it_fires_anew(steps: Steps, level: Health, after: timedelta) -> None:
    words: dict[AlertSource, str] = defaultdict(str)
    for _, _, notices in play(steps, level, after):
        for notice in notices:
            words[notice.condition.subject] += "R" if notice.resolved else "F"
    # Twice where it becomes critical.
    assert all(re.fullmatch("(FF?R)*(FF?)?", word) for word in words.values())


@given(STEPS, LEVEL, SPAN)
def test_nothing_is_said_of_what_is_unknown(steps: Steps, level: Health, after: timedelta) -> None:
    for _, states, notices in play(steps, level, after):
        assert all(states[notice.condition.subject] is not State.UNKNOWN for notice in notices)


@given(STEPS, LEVEL, SPAN)
def test_what_holds_long_enough_fires_and_what_is_gone_is_resolved(
    steps: Steps, level: Health, after: timedelta
) -> None:
    """What held, known at every look, for long enough has fired; what was gone likewise has been resolved."""
    firing: set[AlertSource] = set()
    runs: dict[AlertSource, tuple[bool, timedelta]] = {}
    for at, states, notices in play(steps, level, after):
        for notice in notices:
            (firing.discard if notice.resolved else firing.add)(notice.condition.subject)
        for subject, state in states.items():
            if state is State.UNKNOWN:
                runs.pop(subject, None)
                continue
            there = LEVELS.get(state, Health.OK) >= level
            if subject not in runs or runs[subject][0] is not there:
                runs[subject] = (there, at)
            if at - runs[subject][1] >= after:
                assert (subject in firing) is there
