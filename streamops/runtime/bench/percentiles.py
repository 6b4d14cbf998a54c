"""Percentiles: pure."""

from collections.abc import Sequence
from datetime import timedelta
from math import ceil


def percentile(ordered: Sequence[float], share: float) -> timedelta:
    """The smallest of some seconds, in their order, that so large a share does not exceed (nearest rank).

    Raises:
        ValueError: There are none.
    """
    if not ordered:
        raise ValueError("no percentile of nothing")
    rank = max(1, ceil(share * len(ordered)))
    return timedelta(seconds=ordered[min(rank, len(ordered)) - 1])
