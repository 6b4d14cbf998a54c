"""What a chart is drawn from: readings at instants, each with what it rests on."""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple


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
        value: What was read; none where that was not known.
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
