"""When somebody is told: tables of stories, and what must hold of any story."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from enum import Enum
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.exporter.notices.notifying import EARLY, Batch, Notice, NoticeKind, Policy, Watching, advance
from streamops.exporter.notices.sighting import REDIS_DOWN, Sight, Subject, see_down
from streamops.model.observation import Health
from tests.support.exporter.found import condition, sight
from tests.support.invented import minutes, seconds

ONE, TWO, THREE = (Subject("stopped", "orders", name) for name in ("one", "two", "three"))
POLICY = Policy(
    fire_after=seconds(60), resolve_after=seconds(60), repeat_after=minutes(60), pause=timedelta(0)
)
BEAT = seconds(15)


class State(Enum):
    """What a look shows of a subject."""

    ABSENT = "."
    WARN = "w"
    CRITICAL = "c"
    UNKNOWN = "?"


LETTERS = {
    NoticeKind.FIRING: "F",
    NoticeKind.WORSE: "W",
    NoticeKind.REPEATED: "A",
    NoticeKind.RESOLVED: "R",
}
LEVELS = {State.WARN: Health.WARN, State.CRITICAL: Health.CRITICAL}


def look(states: dict[Subject, State]) -> Sight:
    return sight(
        [condition(subject, LEVELS[state]) for subject, state in states.items() if state in LEVELS],
        [subject for subject, state in states.items() if state is State.UNKNOWN],
    )


def told(
    sights: Iterable[Sight], policy: Policy = POLICY, beat: timedelta = BEAT
) -> list[tuple[float, Batch]]:
    """What is told, and how many seconds after the first look."""
    watching, batches = Watching(), []
    for number, one in enumerate(sights):
        at = beat * number
        watching, batch = advance(watching, one, at, policy)
        if batch is not None:
            batches.append((at.total_seconds(), batch))
    return batches


def story(letters: str, policy: Policy = POLICY) -> list[tuple[float, str]]:
    """A look every fifteen seconds, a letter each, blanks aside; when what was told."""
    states = [State(letter) for letter in letters.replace(" ", "")]
    batches = told((look({ONE: state}) for state in states), policy)
    return [(at, notice.kind.value) for at, batch in batches for notice in batch.notices]


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        pytest.param("....", [], id="nothing"),
        pytest.param("wwww", [], id="too short"),
        pytest.param("wwwww", [(60, "firing")], id="held for a minute"),
        pytest.param("wwwww wwwww wwwww", [(60, "firing")], id="once"),
        pytest.param("www.www.www.www.", [], id="flaps before it fires"),
        pytest.param("wwwww ....", [(60, "firing")], id="gone too short"),
        pytest.param("wwwww .....", [(60, "firing"), (135, "resolved")], id="resolved"),
        pytest.param("wwwww ...w ...w ...w .....", [(60, "firing"), (315, "resolved")], id="flaps after"),
        pytest.param(
            "wwwww ..... wwwww", [(60, "firing"), (135, "resolved"), (210, "firing")], id="comes back"
        ),
        pytest.param("wwww ? w", [], id="unknown time does not count to fire"),
        pytest.param("www ?????????? www", [(225, "firing")], id="it goes on where it was"),
        pytest.param("wwwww ??????????????", [(60, "firing")], id="unknown does not resolve"),
        pytest.param("wwwww ... ???? ...", [(60, "firing"), (210, "resolved")], id="gone, unknown, gone"),
        pytest.param("wwwww ... ???? w ...", [(60, "firing")], id="gone, unknown, there"),
        pytest.param("wwwww ccccc", [(60, "firing"), (135, "worse")], id="worse"),
        pytest.param("wwwww cc w cc w cc", [(60, "firing")], id="worse for moments"),
        pytest.param("wwwww ccccc wwwww ccccc", [(60, "firing"), (135, "worse")], id="worse once"),
        pytest.param("ccccc wwwww ccccc", [(60, "firing")], id="better and back"),
        pytest.param("wwwww cc ??? cccc", [(60, "firing"), (195, "worse")], id="worse, unknown, worse"),
    ],
)
def test_story_of_findings_gives_its_notices(letters: str, expected: list[tuple[float, str]]) -> None:
    assert story(letters) == expected


def test_it_is_told_again_at_its_interval_while_it_lasts() -> None:
    assert story("w" * 4 * 60 * 3) == [(60, "firing"), (3660, "repeated"), (7260, "repeated")]


def test_it_is_not_told_again_while_nobody_knows_but_as_soon_as_it_is_known() -> None:
    hour = 4 * 60
    assert story("wwwww" + "?" * hour * 2 + "ww") == [(60, "firing"), (60 + 7200 + 15, "repeated")]


def test_being_worse_starts_the_interval_anew() -> None:
    half = "w" * 2 * 60
    assert story("wwwww" + half + "c" * 4 * 60) == [(60, "firing"), (1935, "worse")]


def test_what_was_told_shortly_before_is_told_again_with_the_rest() -> None:
    steps = 4 * 70
    sights = [
        look({ONE: State.WARN, TWO: State.WARN if number > 20 else State.ABSENT}) for number in range(steps)
    ]
    batches = [[notice.kind for notice in batch.notices] for _, batch in told(sights)]
    assert batches == [[NoticeKind.FIRING], [NoticeKind.FIRING], [NoticeKind.REPEATED] * 2]


def test_conditions_below_the_level_are_not_notified() -> None:
    policy = Policy(level=Health.CRITICAL, fire_after=seconds(60), resolve_after=seconds(60))
    assert story("wwwwwwwwww", policy) == []
    assert story("wwwww ccccc wwwww", policy) == [(135, "firing"), (210, "resolved")]


def test_many_at_once_are_one_batch_the_worst_first() -> None:
    crowd = [Subject("behind", "orders", f"group-{number:03}") for number in range(500)]
    states = dict.fromkeys(crowd, State.WARN) | {ONE: State.CRITICAL}
    ((at, batch),) = told([look(states)] * 20)
    assert at == 60
    assert len(batch.notices) == batch.holding == 501
    assert batch.notices[0].condition.subject == ONE


def test_between_two_batches_lies_a_pause_and_what_comes_meanwhile_goes_out_together() -> None:
    policy = Policy(fire_after=seconds(60), pause=seconds(120))
    sights = [
        look(
            {
                ONE: State.WARN,
                TWO: State.WARN if number >= 1 else State.ABSENT,
                THREE: State.WARN if number >= 3 else State.ABSENT,
            }
        )
        for number in range(30)
    ]
    batches = [(at, [one.condition.subject for one in batch.notices]) for at, batch in told(sights, policy)]
    assert batches == [(60, [ONE]), (180, [THREE, TWO])]


def test_while_redis_is_down_only_that_is_told() -> None:
    found = look({ONE: State.WARN})
    sights = [found] * 5 + [see_down("refused")] * 400 + [found] * 5
    kinds = [
        (at, notice.kind, notice.condition.subject) for at, batch in told(sights) for notice in batch.notices
    ]
    down = Subject(REDIS_DOWN)
    assert kinds == [
        (60, NoticeKind.FIRING, ONE),
        (75 + 60, NoticeKind.FIRING, down),
        (60 + 3600 + 60 + 15, NoticeKind.REPEATED, down),
        (75 + 400 * 15, NoticeKind.REPEATED, ONE),
        (75 + 400 * 15 + 60, NoticeKind.RESOLVED, down),
    ]


def test_a_notice_says_how_long_and_how_bad_it_was() -> None:
    batches = told([look({ONE: state}) for state in map(State, "cccccwwwww.....")])
    last = batches[-1][1].notices[0]
    assert last.kind is NoticeKind.RESOLVED
    assert last.peak is Health.CRITICAL
    assert last.condition.level is Health.WARN
    assert last.lasted == BEAT * 14


# Any story: of three subjects, whatever they do, however far apart the looks are.

STATES = st.sampled_from(State)
STEPS = st.lists(
    st.tuples(st.sampled_from([1, 15, 40, 61, 900]), STATES, STATES, STATES), min_size=1, max_size=60
)
Steps = Sequence[tuple[int, State, State, State]]
ANY_POLICY = st.builds(
    Policy,
    level=st.sampled_from([Health.WARN, Health.CRITICAL]),
    fire_after=st.sampled_from([timedelta(0), seconds(15), seconds(60)]),
    resolve_after=st.sampled_from([timedelta(0), seconds(15), seconds(60)]),
    repeat_after=st.sampled_from([minutes(2), minutes(30)]),
    pause=st.just(timedelta(0)),
)


def play(
    steps: Steps, policy: Policy
) -> tuple[list[tuple[timedelta, dict[Subject, State], list[Notice]]], Watching]:
    """Each look: when, what it showed, and what was told."""
    watching, at, played = Watching(), timedelta(0), []
    for passed, *shown in steps:
        at += seconds(passed)
        states = dict(zip((ONE, TWO, THREE), shown, strict=True))
        watching, batch = advance(watching, look(states), at, policy)
        played.append((at, states, list(batch.notices) if batch else []))
    return played, watching


def holds(state: State, policy: Policy) -> bool:
    return LEVELS.get(state, Health.OK) >= policy.level


@given(STEPS, ANY_POLICY)
def test_never_two_firing_notices_without_a_resolve_between(steps: Steps, policy: Policy) -> None:
    played, _ = play(steps, policy)
    words: dict[Subject, str] = defaultdict(str)
    for _, _, notices in played:
        for notice in notices:
            words[notice.condition.subject] += LETTERS[notice.kind]
    # It fires, becomes worse at most once among repetitions, and is resolved; and so on.
    assert all(re.fullmatch("(FA*W?A*R)*(FA*W?A*)?", word) for word in words.values())


@given(STEPS, ANY_POLICY)
def test_it_is_told_again_at_its_interval_and_never_before(steps: Steps, policy: Policy) -> None:
    told_at: dict[Subject, timedelta] = {}
    soon = policy.repeat_after * (EARLY - 1) / EARLY
    for at, _, notices in play(steps, policy)[0]:
        repeated = [n.condition.subject for n in notices if n.kind is NoticeKind.REPEATED]
        assert all(at - told_at[subject] >= soon for subject in repeated)
        assert not repeated or any(at - told_at[subject] >= policy.repeat_after for subject in repeated)
        told_at |= dict.fromkeys((n.condition.subject for n in notices), at)


@given(STEPS, ANY_POLICY)
def test_nothing_is_told_of_what_is_not_known(steps: Steps, policy: Policy) -> None:
    for _, states, notices in play(steps, policy)[0]:
        assert all(states[notice.condition.subject] is not State.UNKNOWN for notice in notices)


@given(STEPS, ANY_POLICY)
def test_a_condition_that_holds_long_enough_fires_and_resolves(steps: Steps, policy: Policy) -> None:
    """What held, known at every look, for long enough has fired; what was gone likewise has been resolved."""
    firing: set[Subject] = set()
    runs: dict[Subject, tuple[bool, timedelta]] = {}
    for at, states, notices in play(steps, policy)[0]:
        for notice in notices:
            subject = notice.condition.subject
            (firing.discard if notice.kind is NoticeKind.RESOLVED else firing.add)(subject)
        for subject, state in states.items():
            if state is State.UNKNOWN:
                runs.pop(subject, None)
                continue
            there = holds(state, policy)
            if subject not in runs or runs[subject][0] is not there:
                runs[subject] = (there, at)
            lasted = at - runs[subject][1]
            if there and lasted >= policy.fire_after:
                assert subject in firing
            if not there and lasted >= policy.resolve_after:
                assert subject not in firing


@given(STEPS, ANY_POLICY, st.sampled_from([seconds(30), minutes(5)]))
def test_a_pause_delays_and_loses_nothing(steps: Steps, policy: Policy, pause: timedelta) -> None:
    slow = Policy(
        level=policy.level,
        fire_after=policy.fire_after,
        resolve_after=policy.resolve_after,
        repeat_after=policy.repeat_after,
        pause=pause,
    )
    at_once = [notice for _, _, notices in play(steps, policy)[0] for notice in notices]
    played, watching = play(steps, slow)
    batches = [(at, notices) for at, _, notices in played if notices]
    delayed = [notice for _, notices in batches for notice in notices] + list(watching.waiting)
    assert sorted(map(repr, delayed)) == sorted(map(repr, at_once))
    assert all(later[0] - earlier[0] >= pause for earlier, later in pairwise(batches))


@given(STEPS, ANY_POLICY)
def test_what_is_over_is_forgotten(steps: Steps, policy: Policy) -> None:
    absent = (1000, State.ABSENT, State.ABSENT, State.ABSENT)
    _, watching = play([*steps, absent, absent, absent], policy)
    assert watching.tracked == {}
