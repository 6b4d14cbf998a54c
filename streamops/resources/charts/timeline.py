"""The axis of time: round instants in UTC, as many as there is room for."""

from collections.abc import Sequence
from datetime import UTC, datetime
from math import ceil
from typing import Final, NamedTuple

SPACE: Final = 3
"""Columns between two labels, at least."""

MINUTE, HOUR, DAY = 60, 3600, 86400
STEPS: Final = (
    *(5, 10, 15, 30),
    *(minutes * MINUTE for minutes in (1, 2, 5, 10, 15, 30)),
    *(hours * HOUR for hours in (1, 2, 3, 6, 12)),
    *(days * DAY for days in (1, 2, 7, 14)),
)


class Instant(NamedTuple):
    """A labelled place on the axis.

    Attributes:
        column: Where, counted in cells from the left.
        label: The time in UTC: ``11:58``, ``11:58:30``, ``14 Mar``.
    """

    column: int
    label: str


def instants(start: float, end: float, width: int) -> Sequence[Instant]:
    """The labels under an axis from one instant to another; none where not even two would fit."""
    if end <= start or width < 1:
        return ()
    for step in STEPS:
        size = len(_label(start, step))
        if (end - start) / step * (size + SPACE) <= width:
            return _placed(start, end, width, step)
    return ()


def _placed(start: float, end: float, width: int, step: int) -> Sequence[Instant]:
    first = ceil(start / step) * step
    found = []
    for at in range(first, int(end) + 1, step):
        label = _label(at, step)
        column = min(int((at - start) / (end - start) * width), width - 1)
        # A label hangs from its place; the last one would hang over the edge.
        if column + len(label) <= width:
            found.append(Instant(column, label))
    return found


def _label(at: float, step: int) -> str:
    moment = datetime.fromtimestamp(at, UTC)
    if step < MINUTE:
        return f"{moment:%H:%M:%S}"
    return f"{moment:%H:%M}" if step < DAY else f"{moment.day} {moment:%b}"
