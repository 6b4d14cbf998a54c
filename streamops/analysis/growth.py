"""Whether a lag has been growing."""

from bisect import bisect_right
from datetime import timedelta
from itertools import pairwise
from math import sqrt

from msgspec import Struct

from streamops.analysis.columns import Column

STEPS = 8
"""Steps that a judgement needs at least: fewer would call luck a trend."""
SIGNIFICANCE = 2.5


class Growth(Struct, frozen=True):
    """How a lag moved over a span.

    Attributes:
        began: The lag at its beginning.
        span: How long it was.
        steady: Whether the steps were up so consistently that chance does not explain them.
    """

    began: int
    span: timedelta
    steady: bool


def lag_growth(trend: Column[int | None], over: timedelta) -> Growth | None:
    """How the lag moved over the last ``over``, or the last eight steps where those took longer.

    The test is Student's t on the steps, each divided by its time. A test of the lags themselves (such
    as Mann-Kendall's) would be wrong: a lag adds up its steps, so even without any trend it drifts, and
    such tests call a third of aimless walks growing, where this one calls one in a hundred.

    Returns:
        None where the lag has been known for less than that.
    """
    known = [(at, lag) for at, lag in zip(trend.times, trend.values, strict=True) if lag is not None]
    if len(known) <= STEPS or known[-1][0] - known[0][0] < over:
        return None
    first = min(
        bisect_right(known, known[-1][0] - over, key=lambda point: point[0]) - 1, len(known) - 1 - STEPS
    )
    points = known[first:]
    rates = [
        (lag - lag_before) / (at - at_before).total_seconds()
        for (at_before, lag_before), (at, lag) in pairwise(points)
    ]
    return Growth(points[0][1], points[-1][0] - points[0][0], _rising(rates))


def _rising(rates: list[float]) -> bool:
    mean = sum(rates) / len(rates)
    variance = sum((rate - mean) ** 2 for rate in rates) / (len(rates) - 1)
    return mean > SIGNIFICANCE * sqrt(variance / len(rates))
