"""From a reading to a decision: the policy, and what people told its controller above it. Pure."""

from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from streamops.analysis.wording import counted, instant, quoted
from streamops.autoscaler.assignment import Assignment
from streamops.model.pools import PoolDecision, Steering
from streamops.model.scaling import Demand, ScaleCode, ScaleDecision
from streamops.scaling.budget import BudgetState, Claim, share
from streamops.scaling.config import ScalingConfig
from streamops.scaling.decide import decide
from streamops.scaling.outlook import outlook, signals
from streamops.scaling.state import ScalingState

FROZEN = frozenset({ScaleCode.STUCK, ScaleCode.SUSPECT, ScaleCode.LAG_UNKNOWN, ScaleCode.SATURATED})
"""What a pool is said by that no budget helps, and from which none takes."""


class Judged(Struct, frozen=True, kw_only=True):
    """One decision on its way.

    Attributes:
        assignment: The pool.
        config: Its limits and objective in force.
        state: What the policy remembers of it.
        demand: The reading.
        decision: What was decided.
        at: The server's clock.
    """

    assignment: Assignment
    config: ScalingConfig
    state: ScalingState
    demand: Demand
    decision: ScaleDecision
    at: datetime

    def told(self, by: str) -> PoolDecision:
        """The decision as it is written down, before anything came of it."""
        arguments = self.config, self.state, self.demand
        return PoolDecision(
            at=self.at,
            code=self.decision.code,
            text=self.decision.text,
            ordered=self.demand.ordered,
            ready=self.demand.ready,
            target=self.decision.target,
            signals=signals(*arguments),
            outlook=outlook(*arguments, self.decision),
            by=by,
        )


def judge(
    assignment: Assignment, state: ScalingState, demand: Demand, steering: Steering, now: datetime
) -> Judged:
    """What the policy decides, and what people told the controller above it.

    Args:
        assignment: The pool.
        state: What the policy remembers of it.
        demand: The reading.
        steering: What people told its controller.
        now: The server's clock.
    """
    config = in_force(assignment.config, steering)
    state, decision = decide(config, state, demand)
    return Judged(
        assignment=assignment,
        config=config,
        state=state,
        demand=demand,
        decision=_steered(decision, demand, steering, now),
        at=now,
    )


def in_force(config: ScalingConfig, steering: Steering) -> ScalingConfig:
    """A configuration with the limits that people told instead of its own; a limit pushes the other aside."""
    least = config.minimum if steering.minimum is None else steering.minimum
    most = config.maximum if steering.maximum is None else steering.maximum
    if steering.minimum is None:
        least = min(least, most)
    return replace(config, minimum=least, maximum=max(most, least, 1))


def within_budgets(
    judged: list[Judged], budgets: dict[str, int], states: dict[str, BudgetState]
) -> list[Judged]:
    """The same decisions, with no more workers than the budgets allow; ``states`` is carried on."""
    shares: dict[str, int] = {}
    for name, workers in budgets.items():
        sharing = [one for one in judged if one.assignment.budget == name]
        if sharing:
            claims = tuple(map(_claim, sharing))
            states[name], given = share(workers, states.get(name, BudgetState()), claims)
            shares |= given
    return [_within(one, shares, budgets) for one in judged]


def _within(one: Judged, shares: dict[str, int], budgets: dict[str, int]) -> Judged:
    given = shares.get(one.assignment.pool, one.decision.target)
    if given == one.decision.target:
        return one
    text = (
        f"budget {one.assignment.budget} of {counted(budgets[one.assignment.budget], 'worker', 'workers')} "
        f"leaves {given}; alone: {one.decision.text}"
    )
    return replace(one, decision=ScaleDecision(given, ScaleCode.BUDGET, text))


def _claim(one: Judged) -> Claim:
    told = signals(one.config, one.state, one.demand)
    code = one.decision.code
    held = code in (ScaleCode.OVERRIDE, ScaleCode.PAUSED)
    return Claim(
        pool=one.assignment.pool,
        # What people told comes before the budget.
        minimum=one.decision.target if held else one.config.minimum,
        wanted=one.decision.target,
        ordered=one.demand.ordered,
        weight=one.assignment.weight,
        backlog=told.lag or told.at_least or 0,
        coming=told.coming or 0.0,
        rate=told.rate or 0.0,
        objective=one.config.objective.total_seconds(),
        frozen=code in FROZEN,
    )


def _steered(decision: ScaleDecision, demand: Demand, steering: Steering, now: datetime) -> ScaleDecision:
    if steering.until is not None and steering.until <= now:
        return decision
    until = "" if steering.until is None else f" until {instant(steering.until)}"
    who = f" by {quoted(steering.by)}" if steering.by else ""
    policy = f"the policy says {decision.target}: {decision.text}"
    if steering.override is not None:
        workers = counted(steering.override, "worker", "workers")
        return ScaleDecision(
            steering.override, ScaleCode.OVERRIDE, f"kept at {workers}{who}{until}; {policy}"
        )
    if steering.paused:
        return ScaleDecision(demand.ordered, ScaleCode.PAUSED, f"paused{who}{until}; {policy}")
    return decision
