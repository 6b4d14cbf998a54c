"""Sharing a number of workers between several streams."""

from math import inf

from msgspec import Struct
from msgspec.structs import replace

MOVE_RATIO = 1.5
"""A worker moves to where the pressure is this many times what it leaves behind."""
MOVE_AFTER = 2
"""Consecutive readings that must agree on it."""


class Claim(Struct, frozen=True, kw_only=True):
    """What one stream asks of the budget.

    Attributes:
        pool: Its pool's name.
        minimum: Workers it has in any case.
        wanted: Workers that its own decision asks for.
        ordered: Workers it has.
        weight: How much its waits count.
        backlog: Entries that wait.
        coming: Arrivals a second that are expected.
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
    coming: float = 0.0
    rate: float = 0.0
    objective: float = 30.0
    frozen: bool = False

    @property
    def most(self) -> int:
        """Workers it can be given."""
        limit = min(self.wanted, self.ordered) if self.frozen else self.wanted
        return max(self.minimum, limit)

    @property
    def kept(self) -> int:
        """Workers it keeps while nobody else needs them more."""
        return max(self.minimum, min(self.ordered, self.most))


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


def share(budget: int, state: BudgetState, claims: tuple[Claim, ...]) -> tuple[BudgetState, dict[str, int]]:
    """Workers for each pool, never more than the budget together except where the minimums alone exceed it.

    Every pool has its minimum and keeps what it has; what is left goes, one worker at a time, to the greatest
    weighted wait for its objective. A running worker moves only when that is plainly better, twice running.
    """
    shares = {claim.pool: claim.kept for claim in claims}
    _shrink(budget, claims, shares)
    _grow(budget, claims, shares)
    return _move(state, claims, shares), shares


def pressure(claim: Claim, workers: int) -> float:
    """The weighted wait over the objective that so many workers would leave."""
    speed = workers * claim.rate
    count = claim.backlog + max(0.0, claim.coming - speed) * claim.objective
    if not count:
        return 0.0
    return claim.weight * count / (speed * claim.objective) if speed else inf


def _shrink(budget: int, claims: tuple[Claim, ...], shares: dict[str, int]) -> None:
    """Take back what is over the budget, from where it is missed least; from frozen pools last."""
    while sum(shares.values()) > budget:
        givers = [claim for claim in claims if shares[claim.pool] > claim.minimum]
        if not givers:
            return
        giver = min(givers, key=lambda claim: (claim.frozen, pressure(claim, shares[claim.pool] - 1)))
        shares[giver.pool] -= 1


def _grow(budget: int, claims: tuple[Claim, ...], shares: dict[str, int]) -> None:
    while sum(shares.values()) < budget:
        takers = [claim for claim in claims if shares[claim.pool] < claim.most]
        if not takers:
            return
        taker = max(takers, key=lambda claim: pressure(claim, shares[claim.pool]))
        shares[taker.pool] += 1


def _move(state: BudgetState, claims: tuple[Claim, ...], shares: dict[str, int]) -> BudgetState:
    pair = _pair(claims, shares)
    if pair is None:
        return BudgetState()
    giver, taker = pair
    same = (state.giver, state.taker) == (giver.pool, taker.pool)
    considered = replace(state, seen=state.seen + 1) if same else BudgetState(giver.pool, taker.pool, 1)
    if considered.seen < MOVE_AFTER:
        return considered
    shares[giver.pool] -= 1
    shares[taker.pool] += 1
    return BudgetState()


def _pair(claims: tuple[Claim, ...], shares: dict[str, int]) -> tuple[Claim, Claim] | None:
    """Who would give a worker to whom; none where nobody gains enough by it."""
    givers = [claim for claim in claims if not claim.frozen and shares[claim.pool] > claim.minimum]
    takers = [claim for claim in claims if shares[claim.pool] < claim.most]
    if not givers or not takers:
        return None
    giver = min(givers, key=lambda claim: pressure(claim, shares[claim.pool] - 1))
    taker = max(takers, key=lambda claim: pressure(claim, shares[claim.pool]))
    left, need = pressure(giver, shares[giver.pool] - 1), pressure(taker, shares[taker.pool])
    return (giver, taker) if giver is not taker and need > MOVE_RATIO * left else None
