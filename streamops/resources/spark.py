"""A trend as one line of block characters."""

from collections.abc import Sequence
from typing import Final

BLOCKS: Final = "▁▂▃▄▅▆▇█"
LEAST_LAG: Final = 10
"""The lag of a full block, at least: a lag of 1 is a low bar, whatever was there before it."""
_ROUND: Final = (1, 2, 5, 10)


def spark(trend: Sequence[int | None], width: int, top: int = 1) -> str:
    """Draw the last ``width`` readings, oldest left; none is a blank, and the scale runs from 0 on.

    Zero is always the lowest block and anything above zero is at least the second: a backlog of one
    entry must not look like none.

    Args:
        trend: The readings.
        width: Cells there are.
        top: The reading of a full block, unless one is greater: lines with one top can be compared.
    """
    shown = trend[-width:] if width > 0 else ()
    most = max(top, greatest(shown))
    return "".join(_block(reading, most) for reading in shown).rjust(max(width, 0))


def greatest(trend: Sequence[int | None]) -> int:
    """The greatest reading; 0 where none is known."""
    return max((reading for reading in trend if reading is not None), default=0)


def common_top(number: int) -> int:
    """The least 1, 2 or 5 times a power of ten that is not below a number: a scale that seldom changes."""
    magnitude = int("1" + "0" * (len(str(max(number, 1))) - 1))
    return next(factor * magnitude for factor in _ROUND if factor * magnitude >= number)


def _block(reading: int | None, top: int) -> str:
    if reading is None:
        return " "
    if reading <= 0:
        return BLOCKS[0]
    steps = len(BLOCKS) - 1
    return BLOCKS[-(-reading * steps // top)]
