"""Budgets over decisions: what is shared, what is not, and what nobody decides about now."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.autoscaling.budget import BudgetClaim, BudgetState, share, within_budgets
from streamops.autoscaling.decisions import Assignment, PendingDecision, judge
from streamops.autoscaling.policy.config import ScalingConfig
from streamops.autoscaling.policy.state import ScalingState
from streamops.model.pools import FREE, Demand, PoolOverrides, ScaleCode
from tests.support.autoscaling.policy.pools import UNKNOWN, demand
from tests.support.invented import NOW, exact

CONFIG = ScalingConfig(minimum=1, maximum=20)


def pool_of(name: str, *, weight: float = 1.0, budget: str = "shared") -> Assignment:
    return Assignment(pool=name, stream=name, group="g", config=CONFIG, budget=budget, weight=weight)


def busy(
    name: str, workers: int, waiting: int, steering: PoolOverrides = FREE, **changes: object
) -> PendingDecision:
    """A pool whose workers have handled 200 a second each, with so much waiting."""
    first = demand(at=0.0, ordered=workers, ready=workers, busy=1.0)
    counts = {"added": 1_000 * workers, "acked": 1_000 * workers, "lag": exact(waiting)}
    second = replace(first, at=5.0, **{**counts, **changes})
    one = judge(pool_of(name), ScalingState(), first, FREE, NOW)
    return judge(pool_of(name), one.view.state, second, steering, NOW)


def idling(at: float) -> Demand:
    """Four workers that nobody has seen busy, and a lag that nobody knows."""
    return demand(at=at, ordered=4, ready=4, lag=UNKNOWN, pending=0, busy=0.0)


def shared(
    judged: list[PendingDecision], workers: int, states: dict[str, BudgetState] | None = None, others: int = 0
) -> dict[str, int]:
    told = within_budgets(judged, {"shared": workers}, {} if states is None else states, {"shared": others})
    return {one.assignment.pool: one.decision.target for one in told}


def test_the_greater_wait_has_what_is_left() -> None:
    pools = [busy("a", 2, 200_000), busy("b", 2, 20_000)]
    targets = shared(pools, 8)
    assert sum(targets.values()) == 8
    assert targets["a"] > targets["b"] >= 2


def test_what_a_budget_leaves_is_said() -> None:
    (one, _) = within_budgets([busy("a", 2, 90_000), busy("b", 2, 0)], {"shared": 5}, {}, {})
    assert one.decision.code is ScaleCode.BUDGET
    assert one.decision.text.startswith("budget shared of 5 workers leaves 3; alone: ")
    assert one.written("me").outlook == (
        "Scale up once the pools that share its budget need fewer workers, or with a larger budget.",
    )


def test_workers_of_pools_that_cannot_be_read_or_others_lead_are_in_the_budget_too() -> None:
    assert shared([busy("a", 2, 90_000)], 10) == {"a": 8}
    assert shared([busy("a", 2, 90_000)], 10, others=7) == {"a": 3}
    # More than fits already: it is no reason to go below the least.
    assert shared([busy("a", 2, 90_000)], 10, others=70) == {"a": 1}


def test_nothing_is_taken_from_a_pool_whose_lag_is_unknown_or_whose_rate_is_not_known() -> None:
    unknown = busy("a", 4, 0, lag=UNKNOWN)
    never_busy = judge(pool_of("b"), ScalingState(), idling(at=0.0), FREE, NOW)
    never_busy = judge(pool_of("b"), never_busy.view.state, idling(at=5.0), FREE, NOW)
    assert never_busy.decision.code is ScaleCode.NO_RATE
    states: dict[str, BudgetState] = {}
    for _ in range(5):
        targets = shared([unknown, never_busy, busy("c", 2, 900_000)], 10, states)
        assert (targets["a"], targets["b"]) == (4, 4)
        assert targets["c"] == 2


def test_a_worker_moves_when_it_is_plainly_better_twice_running() -> None:
    states: dict[str, BudgetState] = {}
    pools = [busy("a", 2, 900_000), busy("b", 6, 10)]
    moved = [shared(pools, 8, states) for _ in range(2)]
    assert moved == [{"a": 2, "b": 6}, {"a": 3, "b": 5}]


def test_what_people_told_comes_before_the_budget() -> None:
    pools = [busy("a", 2, 0, PoolOverrides(override=9)), busy("b", 2, 900_000)]
    assert shared(pools, 8) == {"a": 9, "b": 1}


def claim(pool: str, **changes: object) -> BudgetClaim:
    return BudgetClaim(**{"pool": pool, "minimum": 1, "wanted": 4, "ordered": 1, "rate": 100.0, **changes})  # type: ignore[arg-type]


def test_a_budget_that_suffices_gives_everybody_what_he_wants() -> None:
    claims = (claim("a", wanted=3), claim("b", wanted=5), claim("c", minimum=0, wanted=0, ordered=2))
    assert share(20, BudgetState(), claims)[1] == {"a": 3, "b": 5, "c": 0}


def test_what_is_left_goes_to_the_longest_wait() -> None:
    claims = (claim("a", backlog=90_000), claim("b", backlog=9_000))
    assert share(5, BudgetState(), claims)[1] == {"a": 4, "b": 1}


def test_a_scarce_budget_is_shared_by_weight() -> None:
    claims = (claim("a", backlog=9_000), claim("b", backlog=9_000, weight=10.0))
    assert share(4, BudgetState(), claims)[1] == {"a": 1, "b": 3}


def test_the_frozen_get_nothing_and_lose_nothing() -> None:
    claims = (claim("a", ordered=2, frozen=True, backlog=10**6), claim("b", backlog=100))
    assert share(5, BudgetState(), claims)[1] == {"a": 2, "b": 3}


def test_a_running_worker_moves_only_when_two_readings_agree() -> None:
    claims = (claim("a", ordered=4, backlog=0), claim("b", ordered=1, backlog=50_000))
    considered, shares = share(5, BudgetState(), claims)
    assert shares == {"a": 4, "b": 1}
    assert share(5, considered, claims)[1] == {"a": 3, "b": 2}


def test_a_smaller_budget_takes_from_where_it_is_missed_least() -> None:
    claims = (claim("a", ordered=4, backlog=0), claim("b", ordered=4, backlog=50_000))
    assert share(6, BudgetState(), claims)[1] == {"a": 2, "b": 4}


CLAIMS = st.lists(
    st.builds(
        BudgetClaim,
        pool=st.text("abcdefgh", min_size=1, max_size=4),
        minimum=st.integers(0, 3),
        wanted=st.integers(0, 20),
        ordered=st.integers(0, 20),
        weight=st.floats(0.1, 10),
        backlog=st.integers(0, 10**6),
        arrivals=st.floats(0, 10**4),
        rate=st.sampled_from([0.0, 1.0, 250.0]),
        frozen=st.booleans(),
    ),
    max_size=6,
    unique_by=lambda each: each.pool,
).map(tuple)


@given(st.integers(0, 60), CLAIMS)
def test_a_budget_is_kept_and_so_are_minimums(budget: int, claims: tuple[BudgetClaim, ...]) -> None:
    _, shares = share(budget, BudgetState(), claims)
    least = sum(each.minimum for each in claims)
    assert sum(shares.values()) <= max(budget, least)
    for each in claims:
        assert each.minimum <= shares[each.pool] <= max(each.most, each.kept)


@given(CLAIMS, st.integers(1, 20))
def test_pressure_falls_with_workers(claims: tuple[BudgetClaim, ...], workers: int) -> None:
    assert all(each.pressure(workers + 1) <= each.pressure(workers) for each in claims)
