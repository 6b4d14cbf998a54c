"""Decisions within budgets that pools share. Pure."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from streamops.autoscaling.judging import Judged
from streamops.autoscaling.policy.budget import BudgetState, Claim, share
from streamops.autoscaling.policy.outlook import signals
from streamops.model.scaling import ScaleCode, ScaleDecision
from streamops.model.wording import counted

FROZEN = frozenset(
    {
        ScaleCode.WARMUP,
        ScaleCode.STUCK,
        ScaleCode.SUSPECT,
        ScaleCode.NOT_STARTING,
        ScaleCode.LAG_UNKNOWN,
        ScaleCode.SATURATED,
    }
)
"""What a pool is said by that no more workers help, or of which too little is known, and from which none is taken."""


def within_budgets(
    judged: Sequence[Judged],
    budgets: Mapping[str, int],
    states: dict[str, BudgetState],
    others: Mapping[str, int],
) -> list[Judged]:
    """The same decisions, with no more workers than the budgets allow.

    Args:
        judged: The decisions.
        budgets: Workers that pools have together at most, by the name of the budget.
        states: Moves that are being considered, by the same; carried on.
        others: Workers of the budgets' other pools, which are not decided about now, by the same.
    """
    shares: dict[str, int] = {}
    for name, workers in budgets.items():
        sharing = [one for one in judged if one.assignment.budget == name]
        if sharing:
            left = max(0, workers - others.get(name, 0))
            claims = tuple(map(_claim, sharing))
            states[name], given = share(left, states.get(name, BudgetState()), claims)
            shares |= given
    return [_within(one, shares, budgets) for one in judged]


def _within(one: Judged, shares: Mapping[str, int], budgets: Mapping[str, int]) -> Judged:
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
        frozen=code in FROZEN or told.lag is None,
    )
