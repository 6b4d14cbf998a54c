"""Numbers of a whole as bars on one line. Pure."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from streamops.present.table import Cell, Tone
from streamops.present.text import shorten
from streamops.present.units import count
from streamops.tui.paint import Line, cell_width

TITLE: Final = 11
LONG, SHORT = 8, 4
ROOMY: Final = 110
LONGEST: Final = 36
GAP: Final = Cell("  ")


class Part(NamedTuple):
    """A part of a whole.

    Attributes:
        name: What it is, safe to show.
        number: How much of it there is.
        tone: What it means that there is some.
    """

    name: str
    number: int
    tone: Tone = Tone.OK


def parts_line(title: str, parts: Sequence[Part], width: int, *, note: str = "") -> Line:
    """Parts one after the other, each with its bar and its number; as many as fit, the rest counted.

    Args:
        title: What they are parts of.
        parts: The parts in order.
        width: Cells there are.
        note: What follows where there is room, safe to show.
    """
    most = max((part.number for part in parts), default=0)
    bar = LONG if width >= ROOMY else SHORT
    cells = [Cell(f" {title.ljust(TITLE)} ", Tone.DIM)]
    room = width - TITLE - 2
    for at, part in enumerate(parts):
        shown = _part(part, most, bar)
        rest = len(parts) - at
        more = (Cell(f"+{rest} more", Tone.DIM),)
        taken = sum(cell_width(cell.text) for cell in shown)
        if taken + (_width(more) if rest > 1 else 0) > room:
            return (*cells, *more) if _width(more) <= room else tuple(cells)
        cells += shown
        room -= taken
    if note and cell_width(note) <= room:
        cells.append(Cell(note, Tone.DIM))
    return tuple(cells)


def _part(part: Part, most: int, bar: int) -> Line:
    if not part.number:
        return (Cell(f"{shorten(part.name, LONGEST)} 0", Tone.DIM), GAP)
    blocks = "█" * -(-part.number * bar // most)
    return (
        Cell(f"{shorten(part.name, LONGEST)} "),
        Cell(f"{blocks} ", part.tone),
        Cell(count(part.number), Tone.STRONG),
        GAP,
    )


def _width(line: Line) -> int:
    return sum(cell_width(cell.text) for cell in line)
