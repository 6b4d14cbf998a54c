"""What would change a decision: every sentence is held to what ``decide`` then decides."""

from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.autoscaling.policy.config import ScalingConfig
from streamops.autoscaling.policy.outlook import least_backlog, outlook, signals
from streamops.autoscaling.policy.rules import backlog, decide
from streamops.autoscaling.policy.state import Cap, Peak, ScalingState
from streamops.autoscaling.policy.view import look
from streamops.model.lag import Lag
from streamops.model.pools import Demand, ScaleCode, ScaleDecision
from tests.support.autoscaling.policy.pools import CONFIG, RATE, STEP, UNKNOWN, Pool, demand, span
from tests.support.invented import exact
from tests.support.tables import table

CONFIGS = st.builds(
    lambda objective, start_up, prefetch: ScalingConfig(
        minimum=1, maximum=100, objective=span(objective), start_up=span(start_up), prefetch=prefetch
    ),
    st.integers(10, 120),
    st.integers(0, 90),
    st.integers(1, 500),
)
PEAKS = st.lists(st.integers(1, 60_000), max_size=5).map(
    lambda heights: tuple(Peak(0.0, height) for height in heights)
)


def settled(config: ScalingConfig, workers: int, rate: int) -> Pool:
    """A pool of these workers in which so many entries a second come and are handled."""
    return Pool(config, workers).settle(rate, times=8)


def told(pool: Pool) -> tuple[str, ...]:
    return outlook(look(pool.config, pool.state, pool.reading), pool.decisions[-1])


def asks_for_more(config: ScalingConfig, state: ScalingState, reading: Demand, lag: Lag) -> bool:
    """Whether so long a lag, everything else being the same, is a backlog that more workers are ordered for."""
    verdict = backlog(look(config, state, replace(reading, lag=lag)))
    return verdict is not None and verdict.target > reading.ordered


@given(
    config=CONFIGS,
    workers=st.integers(1, 8),
    use=st.floats(0, 0.9),
    peaks=PEAKS,
    head_age=st.none() | st.floats(0, 100),
    pending=st.integers(0, 2_000),
)
def test_more_are_ordered_from_as_many_waiting_on_as_is_said(
    *,
    config: ScalingConfig,
    workers: int,
    use: float,
    peaks: tuple[Peak, ...],
    head_age: float | None,
    pending: int,
) -> None:
    pool = settled(config, workers, round(use * workers * RATE))
    state = replace(pool.state, peaks=peaks)
    reading = replace(pool.reading, head_age=head_age, pending=pending)
    assume(state.rate is not None)
    least = least_backlog(look(config, state, reading), workers)
    # Sums of decimals may come out on either side of a whole number.
    slack = 2 + least // 10**6
    # Useful workers are the limit's affair, which knows whole portions.
    useful = workers * config.prefetch - pending
    if least > useful + slack:
        assert not asks_for_more(config, state, reading, exact(max(0, least - slack)))
    for many in (least, 2 * least, 40 * least):
        assert asks_for_more(config, state, reading, exact(many + slack))


@given(st.floats(0.2, 0.8))
def test_more_are_ordered_when_as_much_is_expected_as_is_said(use: float) -> None:
    pool = settled(CONFIG, 2, round(use * 2 * RATE))
    (sentence,) = [one for one in told(pool) if "added for" in one]
    most = float(sentence.split("more than ")[1].split("/s")[0].replace(",", ""))
    assert most == pytest.approx(0.95 * 2 * (pool.state.rate or 0), rel=0.01)
    for factor, more in ((0.9, False), (1.1, True)):
        again = settled(CONFIG, 2, round(use * 2 * RATE))
        count = int(most * factor * STEP)
        for _ in range(24):
            # All of it is handled, so that no backlog speaks.
            again.after(count, count, busy=min(1.0, count / STEP / (2 * (again.state.rate or 1))))
        ordered = [one for one in again.decisions if one.target > 2]
        assert bool(ordered) is more
        assert {one.code for one in ordered} <= {ScaleCode.ARRIVALS}


def decided(code: ScaleCode, target: int = 2) -> ScaleDecision:
    return ScaleDecision(target, code, "")


def sentences(pool: Pool, decision: ScaleDecision | None = None, **changes: object) -> str:
    config = replace(pool.config, **{key: changes.pop(key) for key in list(changes) if hasattr(CONFIG, key)})
    reading = replace(pool.reading, **changes)
    return " ".join(outlook(look(config, pool.state, reading), decision or pool.decisions[-1]))


@table("code", list(ScaleCode))
def test_every_rule_has_something_that_would_change_it(code: ScaleCode) -> None:
    pool = settled(CONFIG, 2, 200)
    told = outlook(look(CONFIG, pool.state, pool.reading), decided(code))
    assert told
    assert all(one.endswith(".") and "inf" not in one and "nan" not in one for one in told)


def test_limits_are_named() -> None:
    pool = settled(CONFIG, 2, 200)
    assert "More than 2 workers only with a higher maximum." in sentences(pool, maximum=2)
    assert "Fewer than 2 workers only with a lower minimum." in sentences(pool, minimum=2)
    assert "Scale up from" not in sentences(pool, maximum=2)
    single = sentences(settled(replace(CONFIG, minimum=0), 1, 100))
    assert "Scale to 0 once nothing was unread, pending or added for 300 s." in single


def test_an_unknown_lag_keeps_what_there_is() -> None:
    pool = settled(CONFIG, 2, 200)
    said = sentences(pool, lag=UNKNOWN)
    assert "Scale down only once the lag is known." in said
    assert "Scale up at more" in said
    blind = sentences(pool, lag=UNKNOWN, by_arrivals=False)
    assert "Scale up only once the lag is known." in blind
    assert "Scale up at more" not in blind


def test_of_no_workers_one_entry_wakes_one() -> None:
    pool = Pool(replace(CONFIG, minimum=0), workers=0)
    pool.tell(demand(ordered=0, ready=0, pending=0, busy=None))
    pool.after(0)
    assert told(pool) == ("One entry, unread, pending or added, scales it up.",)
    for waking in ({"arrived": 1}, {"lag": exact(1)}, {"pending": 1}):
        again = Pool(replace(CONFIG, minimum=0), workers=0)
        again.tell(demand(ordered=0, ready=0, pending=0, busy=None))
        assert again.after(**waking).target == 1


def test_what_did_not_help_is_tried_again_when_it_is_said() -> None:
    pool = settled(CONFIG, 2, 200)
    cap = Cap(workers=2, handled=400.0, gain=0.1, since=pool.reading.at, pause=300.0)
    pool.state = replace(pool.state, cap=cap, idle_since=None)
    assert "Scale up is tried again in 300 s" in sentences(pool)
    busy = {"lag": exact(9_000), "busy": 1.0}
    assert pool.after(1_000, 1_000, step=290.0, **busy).target == 2
    assert pool.after(1_000, 1_000, step=15.0, **busy).target > 2


def calm_for(pool: Pool, seconds: float) -> list[tuple[float, ScaleDecision]]:
    """Decisions of a pool in which nothing comes any more, each so many seconds after now."""
    began, out = pool.reading.at, []
    while pool.reading.at - began < seconds:
        out.append((pool.reading.at + STEP - began, pool.after(0, busy=0.0, pending=0)))
    return out


def fresh(pool: Pool) -> None:
    pool.state = replace(pool.state, changed_at=pool.reading.at)


@pytest.mark.parametrize("change", [fresh, lambda _: None], ids=["just changed", "just begun"])
def test_none_go_before_it_is_said_that_they_may(change: Callable[[Pool], None]) -> None:
    pool = settled(CONFIG, 4, 40)
    change(pool)
    (sentence,) = [one for one in told(pool) if one.startswith("Scale down")]
    span_left = float(sentence.split("in ")[1].split(" s")[0])
    downs = [at for at, decision in calm_for(pool, 200.0) if decision.target < 4]
    assert downs[0] == pytest.approx(span_left, abs=STEP)


def test_the_numbers_behind_a_decision() -> None:
    pool = settled(CONFIG, 2, 200)
    known = signals(look(CONFIG, pool.state, pool.reading))
    assert (known.lag, known.arrivals, known.rate, known.busy) == (0, 200.0, 200.0, 0.5)
    unknown = signals(look(CONFIG, pool.state, replace(pool.reading, lag=replace(UNKNOWN, lower=7))))
    assert (unknown.lag, unknown.at_least) == (None, 7)
    state, _ = decide(CONFIG, ScalingState(), demand())
    first = signals(look(CONFIG, state, demand()))
    assert (first.arrivals, first.coming, first.rate) == (None, None, None)
