"""The points of a chart and its axis of values: a round top, round steps, and their words."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from enum import IntEnum, StrEnum
from itertools import pairwise
from math import ceil, floor, isfinite, log10
from typing import Final, NamedTuple

from msgspec import Struct

from streamops.resources.units import compact, rate, terse

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
    """The labels under an axis from one instant to another; None if not even two would fit."""
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


_ROUND: Final = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
_SPANS: Final = (
    *(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0),
    *(minutes * _MINUTE for minutes in (1, 2, 5, 10, 15, 30)),
    *(hours * _HOUR for hours in (1, 2, 3, 6, 12)),
)
_MOST_SECONDS: Final = timedelta.max.total_seconds() / 2
_LEAST_RATE: Final = 0.01


class Unit(StrEnum):
    """What the values of a chart are."""

    COUNT = "count"
    SECONDS = "seconds"
    RATE = "rate"


class Scale(Struct, frozen=True):
    """An axis of values from 0 on.

    Attributes:
        top: The value at its end, above 0.
        ticks: Values with their words, from 0 to the top.
    """

    top: float
    ticks: tuple[tuple[float, str], ...]


def scale(greatest: float, unit: Unit, intervals: int) -> Scale:
    """The lowest round axis that holds a value.

    Args:
        greatest: The greatest value shown.
        unit: What the values are.
        intervals: Into how many equal parts the axis is divided, at least one.
    """
    step = _STEPS[unit](max(greatest, 0.0) / intervals)
    ticks = tuple((step * number, words(step * number, unit)) for number in range(intervals + 1))
    return Scale(step * intervals, ticks)


def words(value: float, unit: Unit) -> str:
    """A value in few characters, without ``/s``: the title says the unit."""
    match unit:
        case Unit.SECONDS:
            return terse(timedelta(seconds=min(value, _MOST_SECONDS))) if value else "0"
        case Unit.RATE:
            return compact(int(value)) if value == int(value) else rate(value).removesuffix("/s")
        case Unit.COUNT:
            return compact(int(value))


def _decimal_step(least: float, smallest: float) -> float:
    """The least round number that is neither below ``least`` nor below ``smallest``."""
    if not isfinite(least) or least <= smallest:
        return smallest
    magnitude = 10.0 ** floor(log10(least))
    candidates = (magnitude * factor for factor in _ROUND)
    return next((one for one in candidates if one >= least and _is_multiple(one, smallest)), least)


def _is_multiple(number: float, unit: float) -> bool:
    return unit != 1 or number == int(number)


def _span_step(least: float) -> float:
    found = next((span for span in _SPANS if span >= least), None)
    return found if found is not None else _decimal_step(ceil(least / _DAY), 1.0) * _DAY


_STEPS: Final[dict[Unit, Callable[[float], float]]] = {
    Unit.COUNT: lambda least: _decimal_step(least, 1.0),
    Unit.SECONDS: _span_step,
    Unit.RATE: lambda least: _decimal_step(least, _LEAST_RATE),
}


class Mark(IntEnum):
    """What a value rests on; the number is how memories keep it."""

    KNOWN = 0
    ABOUT = 1
    AT_LEAST = 2
    AT_MOST = 3


GLYPHS = {Mark.ABOUT: "~", Mark.AT_LEAST: "▴", Mark.AT_MOST: "▾"}
"""What stands where a value is not known itself: the truth is about there, above, or below."""

WORDS = {Mark.ABOUT: "about", Mark.AT_LEAST: "at least", Mark.AT_MOST: "at most"}


class Point(NamedTuple):
    """One reading.

    Attributes:
        at: When, in seconds since 1970 by the server's clock.
        value: What was read; None if that was not known.
        mark: What the value rests on.
        joined: Whether the reading before it is so near that what lay between may be drawn as a line.
    """

    at: float
    value: float | None
    mark: Mark = Mark.KNOWN
    joined: bool = True


def within(points: Sequence[Point], start: float, end: float) -> list[Point]:
    """The points of a span, and the one before it, from which a line may lead into it."""
    shown = [point for point in points if start <= point.at <= end]
    before = [point for point in points if point.at < start]
    return [before[-1], *shown] if before and shown and shown[0].joined else shown


def steps(points: Sequence[Point]) -> Iterator[tuple[Point, Point]]:
    """Neighbours that a line may join: both have a value, of one sort."""
    for one, other in pairwise(points):
        if other.joined and one.value is not None and other.value is not None and one.mark is other.mark:
            yield one, other


def value_between(one: Point, other: Point, at: float) -> float:
    """The value on the line between two points that ``steps`` told, at an instant between them."""
    begin, end = one.value or 0.0, other.value or 0.0
    share = (at - one.at) / (other.at - one.at) if other.at > one.at else 1.0
    return begin + (end - begin) * share
