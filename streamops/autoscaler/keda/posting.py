"""From the controller's decisions to what KEDA is shown. Pure, but for the board."""

from collections.abc import Mapping
from typing import Final

from streamops.autoscaler.keda.board import Board
from streamops.autoscaler.keda.source import PoolView
from streamops.model.pools import PoolDecision, Signals
from streamops.model.scaling import ScaleCode

UNSEEN: Final = "the last round brought no decision: Redis is away, or nobody leads the pool"


def post_round(board: Board, decisions: Mapping[str, PoolDecision]) -> None:
    """Show what one round came to.

    Args:
        board: Where to.
        decisions: The newest decision about each pool, whoever made it. A pool that is missing keeps its number, and its
            lag is not known any more.
    """
    for pool in board.names():
        decision = decisions.get(pool)
        board.post(pool, PoolView(looked=True, reason=UNSEEN) if decision is None else view_of(decision))


def view_of(decision: PoolDecision) -> PoolView:
    """What a decision tells of its pool.

    A decision about a pool that could not be read has a number too, for want of another one. It is none to tell KEDA,
    who would take it for what the pool needs; and a first look at a pool that has no workers knows no number yet.
    """
    signals = decision.signals
    if decision.code is ScaleCode.UNREADABLE:
        return PoolView(looked=True, reason=decision.text)
    unsure = decision.code is ScaleCode.WARMUP and not decision.ordered
    return PoolView(
        desired=None if unsure else decision.target,
        active=_is_active(signals),
        lag_known=signals.lag is not None,
        looked=True,
        at=decision.at,
        reason=decision.text,
    )


def _is_active(signals: Signals) -> bool | None:
    """Whether entries wait, are pending or arrive; none where an unknown lag is all that could tell."""
    if any((signals.lag, signals.at_least, signals.pending, signals.arrivals)):
        return True
    return None if signals.lag is None else False
