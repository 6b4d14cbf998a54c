"""Sharing a number of workers between several pools. Pure."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.autoscaling.decisions import PendingDecision
from streamops.model.pools import ScaleCode, ScaleDecision
from streamops.model.wording import counted

MOVE_RATIO: Final = 1.5
"""A worker moves to where the pressure is this many times what it leaves behind."""
MOVE_AFTER: Final = 2
"""Consecutive readings that must agree on it."""
FROZEN: Final = frozenset(
    {
        ScaleCode.WARMUP,
        ScaleCode.STUCK,
        ScaleCode.SUSPECT,
        ScaleCode.NOT_STARTING,
        ScaleCode.LAG_UNKNOWN,
        ScaleCode.SATURATED,
    }
)
"""Codes of pools that no more workers help, or of which too little is known, and from which none is taken."""


class BudgetClaim(Struct, frozen=True, kw_only=True):
    """What one pool asks of the budget.

    Attributes:
        pool: Its name.
        minimum: Workers it has in any case.
        wanted: Workers that its own decision asks for.
        ordered: Workers it has.
        weight: How much its waits count.
        backlog: Entries that wait.
        arrivals: Arrivals a second.
        rate: Entries that one worker handles a second; 0 where not known.
        objective: The longest an entry should wait, in seconds.
        frozen: Capped, stuck, or its lag unknown: it gets no more than it has, and nothing is taken from it.
    """

    pool: str
    minimum: int
    wanted: int
    ordered: int
    weight: float = 1.0
    backlog: int = 0
    arrivals: float = 0.0
    rate: float = 0.0
    objective: float = 30.0
    frozen: bool = False

    @property
    def most(self) -> int:
        """Workers it can be given."""
        return max(self.minimum, min(self.wanted, self.ordered) if self.frozen else self.wanted)

    @property
    def kept(self) -> int:
        """Workers it keeps while no other pool needs them more."""
        return max(self.minimum, min(self.ordered, self.most))

    def pressure(self, workers: int) -> float:
        """The weighted wait over the objective that so many workers would leave."""
        speed = workers * self.rate
        count = self.backlog + max(0.0, self.arrivals - speed) * self.objective
        if not count:
            return 0.0
        return self.weight * count / (speed * self.objective) if speed else inf


class BudgetState(Struct, frozen=True):
    """A move that is being considered.

    Attributes:
        giver: The pool to take from.
        taker: The pool to give to.
        seen: How many consecutive readings asked for it.
    """

    giver: str = ""
    taker: str = ""
    seen: int = 0


def within_budgets(
    judged: Sequence[PendingDecision],
    budgets: Mapping[str, int],
    states: dict[str, BudgetState],
    others: Mapping[str, int],
) -> list[PendingDecision]:
    """The same decisions, with no more workers than the budgets allow.

    Args:
        judged: The decisions.
        budgets: Workers that pools have together at most, by the name of the budget.
        states: Moves that are being considered, by the same; carried on.
        others: Workers of the budgets' other pools, which are not decided about now, by the same.
    """
    within = {one.assignment.pool: one for one in judged}
    for name, workers in budgets.items():
        claims = tuple(_claim(one) for one in judged if one.assignment.budget == name)
        if not claims:
            continue
        left = max(0, workers - others.get(name, 0))
        states[name], shares = share(left, states.get(name, BudgetState()), claims)
        budget = f"budget {name} of {counted(workers, 'worker', 'workers')}"
        for pool, given in shares.items():
            one = within[pool]
            if given != one.decision.target:
                text = f"{budget} leaves {given}; alone: {one.decision.text}"
                within[pool] = replace(one, decision=ScaleDecision(given, ScaleCode.BUDGET, text))
    return list(within.values())


def share(
    budget: int, state: BudgetState, claims: tuple[BudgetClaim, ...]
) -> tuple[BudgetState, dict[str, int]]:
    """Workers for each pool, never more than the budget together except if the minimums alone exceed it.

    Every pool has its minimum and keeps what it has; what is over is taken back if it is missed least, from frozen
    pools last; what is left goes, one worker at a time, to the greatest weighted wait for its objective. A running
    worker moves only when that is plainly better, twice running.
    """
    shares = {claim.pool: claim.kept for claim in claims}
    while sum(shares.values()) > budget and (giver := _giver(claims, shares)):
        shares[giver.pool] -= 1
    while sum(shares.values()) < budget and (taker := _taker(claims, shares)):
        shares[taker.pool] += 1
    giver, taker = _giver([claim for claim in claims if not claim.frozen], shares), _taker(claims, shares)
    if not giver or not taker or giver is taker:
        return BudgetState(), shares
    left, need = giver.pressure(shares[giver.pool] - 1), taker.pressure(shares[taker.pool])
    if need <= MOVE_RATIO * left:
        return BudgetState(), shares
    same = (state.giver, state.taker) == (giver.pool, taker.pool)
    seen = state.seen + 1 if same else 1
    if seen < MOVE_AFTER:
        return BudgetState(giver.pool, taker.pool, seen), shares
    shares[giver.pool] -= 1
    shares[taker.pool] += 1
    return BudgetState(), shares


def _giver(claims: Sequence[BudgetClaim], shares: Mapping[str, int]) -> BudgetClaim | None:
    """The pool that misses a worker least; none if all have their minimum."""
    givers = [claim for claim in claims if shares[claim.pool] > claim.minimum]
    return min(givers, key=lambda one: (one.frozen, one.pressure(shares[one.pool] - 1)), default=None)


def _taker(claims: Sequence[BudgetClaim], shares: Mapping[str, int]) -> BudgetClaim | None:
    """The pool that needs a worker most; none if all have what they want."""
    takers = [claim for claim in claims if shares[claim.pool] < claim.most]
    return max(takers, key=lambda one: one.pressure(shares[one.pool]), default=None)


def _claim(one: PendingDecision) -> BudgetClaim:
    view, code = one.view, one.decision.code
    held = code in (ScaleCode.OVERRIDE, ScaleCode.PAUSED)
    return BudgetClaim(
        pool=one.assignment.pool,
        # What people told comes before the budget.
        minimum=one.decision.target if held else view.config.minimum,
        wanted=one.decision.target,
        ordered=view.demand.ordered,
        weight=one.assignment.weight,
        backlog=view.backlog,
        arrivals=view.arrivals,
        rate=view.rate,
        objective=view.objective,
        frozen=code in FROZEN or view.demand.waiting is None,
    )
