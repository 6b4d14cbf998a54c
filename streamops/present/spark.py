"""A trend as one line of block characters."""

from collections.abc import Sequence
from typing import Final

BLOCKS: Final = "▁▂▃▄▅▆▇█"


def spark(trend: Sequence[int | None], width: int) -> str:
    """Draw the last ``width`` readings, oldest left; none is a blank, and the scale runs from 0 to the greatest.

    Zero is always the lowest block and anything above zero is at least the second: a backlog of one
    entry must not look like none.
    """
    shown = trend[-width:] if width > 0 else ()
    top = max((reading for reading in shown if reading is not None), default=0)
    return "".join(_block(reading, top) for reading in shown).rjust(max(width, 0))


def _block(reading: int | None, top: int) -> str:
    if reading is None:
        return " "
    if reading <= 0:
        return BLOCKS[0]
    steps = len(BLOCKS) - 1
    return BLOCKS[-(-reading * steps // top)]
