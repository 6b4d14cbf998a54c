"""Rings of readings: a reading of so many seconds is merged with its neighbours, and the oldest gives way."""

from array import array
from collections.abc import Iterator
from math import isnan, nan
from typing import Final

from msgspec import Struct

FACTOR: Final = 2.5
"""Readings further apart than so many times what was to be expected have something unknown between them."""


class Resolution(Struct, frozen=True):
    """One resolution.

    Attributes:
        spacing: Seconds that one reading stands for.
        length: How many readings are kept.
    """

    spacing: float
    length: int

    @property
    def span(self) -> float:
        """Seconds that all readings together stand for."""
        return self.spacing * self.length


class RingShape(Struct, frozen=True):
    """What a row holds, one number a column: a value that may be a bound, its mark, values, means and their counts.

    Attributes:
        greatest: Of how many values the greatest stands for a span.
        means: Of how many the mean does.
    """

    greatest: int
    means: int

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return 2 + self.greatest + 2 * self.means


class Ticks:
    """The instants of one tier, shared by the rings of all groups.

    Attributes:
        tier: The resolution.
        slot: The place of the newest reading in the rings.
        fresh: Whether the newest instant began a reading, rather than joining the last.
    """

    def __init__(self, tier: Resolution) -> None:
        self.tier = tier
        self.slot = tier.length - 1
        self.fresh = False
        self._times = array("d", [nan]) * tier.length
        self._joined = bytearray(tier.length)
        self._number: int | None = None

    def advance(self, at: float, *, joined: bool) -> None:
        """Take the next instant."""
        number = int(at // self.tier.spacing)
        self.fresh = number != self._number
        if self.fresh:
            self._number = number
            self.slot = (self.slot + 1) % self.tier.length
            self._joined[self.slot] = joined
        self._times[self.slot] = at

    def kept(self) -> Iterator[tuple[int, float, bool]]:
        """Places, instants and whether each is joined to the one before, oldest first."""
        length = self.tier.length
        for number in range(1, length + 1):
            slot = (self.slot + number) % length
            if not isnan(self._times[slot]):
                yield slot, self._times[slot], bool(self._joined[slot])


class Ring:
    """The readings of one thing in one tier; as large when it is made as it will ever be.

    Args:
        tier: The resolution.
        shape: What a row holds.
    """

    __slots__ = ("_cells", "_greatest", "_width")

    def __init__(self, tier: Resolution, shape: RingShape) -> None:
        self._greatest, self._width = shape.greatest, shape.width
        self._cells = array("f", [nan]) * (tier.length * shape.width)

    def write(self, slot: int, row: "array[float]", *, fresh: bool) -> None:
        """Take a row, as a reading of its own or merged into the one that stands there."""
        width = self._width
        start = slot * width
        if fresh:
            self._cells[start : start + width] = row
        else:
            self._merge(start, row)

    def row(self, slot: int) -> "array[float]":
        """A reading."""
        width = self._width
        return self._cells[slot * width : (slot + 1) * width]

    def _merge(self, start: int, row: "array[float]") -> None:
        cells, means = self._cells, 2 + self._greatest
        # No number is greater or less than one that is not known, which is what these comparisons rest on.
        if not row[0] <= cells[start] and not isnan(row[0]):
            cells[start], cells[start + 1] = row[0], row[1]
        for column in range(2, means):
            if not row[column] <= cells[start + column] and not isnan(row[column]):
                cells[start + column] = row[column]
        for column in range(means, self._width, 2):
            value, place = row[column], start + column
            mean = cells[place]
            if isnan(value):
                continue
            if isnan(mean):
                cells[place], cells[place + 1] = value, 1.0
            else:
                number = cells[place + 1] + 1.0
                cells[place], cells[place + 1] = mean + (value - mean) / number, number
