"""Bars of one line, and the line between two parts: header, crumbs, banner, status and keys are all this."""

from rich.segment import Segment
from textual.strip import Strip

from streamops.tui.paint import BLANK_LINE, Line, brush_of, cell_width
from streamops.tui.painted import Painted
from streamops.tui.theme import Ground


class Bar(Painted):
    """One line with something at its left and something at its right end.

    Where both do not fit, the right end stays whole and the left is cut, visibly.

    Args:
        ground: What the text stands on.
        id: The widget's ID.
    """

    DEFAULT_CSS = """
    Bar { height: 1; width: 1fr; }
    """

    def __init__(self, ground: Ground = Ground.BAR, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._ground = ground
        self._left: Line = BLANK_LINE
        self._right: Line = BLANK_LINE

    @property
    def text(self) -> str:
        """What it says, both ends."""
        return "".join(cell.text for cell in (*self._left, *self._right))

    def show(self, left: Line, right: Line = BLANK_LINE) -> None:
        """Say something else; the same again costs nothing."""
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    def draw_line(self, y: int, width: int) -> Strip:
        """Draw both ends."""
        brush = brush_of(self)
        if y > 0:
            return brush.line((), width, self._ground)
        taken = min(sum(cell_width(cell.text) for cell in self._right), width)
        left = brush.line(self._left, width - taken, self._ground)
        return Strip.join([left, brush.line(self._right, taken, self._ground)]) if taken else left


class Divider(Painted):
    """A line between two parts: down where it is one cell wide, across where it is one line high."""

    DEFAULT_CSS = """
    Divider { width: 1; height: 1fr; }
    """

    def draw_line(self, y: int, width: int) -> Strip:
        """Draw a piece of it."""
        del y
        return Strip([Segment("│" if width == 1 else "─" * width, brush_of(self).faint())], width)
