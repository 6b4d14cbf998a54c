"""The parts of a screen that do not scroll: bars, dividers, boxes, and what lies behind them."""

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import ClassVar

from rich.segment import Segment
from textual.containers import Container
from textual.events import Click
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from streamops.tui.keys import key_of
from streamops.tui.theme import Background
from streamops.tui.widgets.paint import BLANK_LINE, Line, Painted, brush_of, cell_width, line_width


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

    def __init__(self, ground: Background = Background.BAR, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
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

    class Clicked(Message):
        """A part at the left end was clicked: a blank cell, then two cells a part.

        Attributes:
            part: Which part, from 0.
        """

        def __init__(self, bar: "Bar", part: int) -> None:
            super().__init__()
            self.part = part
            self._bar = bar

        @property
        def control(self) -> "Bar":
            """The bar, by which Textual chooses a handler."""
            return self._bar

    def on_click(self, event: Click) -> None:
        """Tell which part that was."""
        end = 0
        for index, cell in enumerate(self._left):
            end += cell_width(cell.text)
            if index and event.x < end:
                self.clicked((index - 1) // 2)
                return

    def clicked(self, part: int) -> None:
        """Say that a part was clicked."""
        self.post_message(self.Clicked(self, part))

    def draw_line(self, y: int, width: int) -> Strip:
        """Draw both ends."""
        brush = brush_of(self)
        if y > 0:
            return brush.line((), width, self._ground)
        taken = min(line_width(self._right), width)
        left = brush.line(self._left, width - taken, self._ground)
        return Strip.join([left, brush.line(self._right, taken, self._ground)]) if taken else left


class KeyBar(Bar):
    """Keys and what they do; a click presses one."""

    def clicked(self, part: int) -> None:
        """Press the key of a part."""
        # From here, not from the screen: Textual stops a key on its way up at the one who sent it.
        self.app.simulate_key(key_of(self._left[1 + 2 * part].text))


class Divider(Painted):
    """A line between two parts: down if it is one cell wide, across if it is one line high."""

    DEFAULT_CSS = """
    Divider { width: 1; height: 1fr; }
    """

    def draw_line(self, y: int, width: int) -> Strip:
        """Draw a piece of it."""
        del y
        return Strip([Segment("│" if width == 1 else "─" * width, brush_of(self).faint())], width)


class Body(Container):
    """A part of a screen that shows nothing itself: drawn as one blank line, not styled line by line with every frame."""

    BLANK: ClassVar[bool] = True


BoxBuilder = Callable[[int, int], Sequence[Line]]


def nothing(_width: int, _height: int) -> Sequence[Line]:
    """Build nothing."""
    return ()


class BoxView(Painted):
    """Lines of cells, built again when the size changes; only those that say something else are drawn again.

    Args:
        build: Makes the lines for a width and a height in cells.
        id: The widget's ID.
    """

    DEFAULT_CSS = """
    BoxView { width: 1fr; height: 1fr; }
    """

    def __init__(self, build: BoxBuilder = nothing, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._build = build
        self._lines: Sequence[Line] = ()

    @property
    def lines(self) -> Sequence[Line]:
        """The lines as built for the present size."""
        return self._lines

    def show(self, build: BoxBuilder) -> None:
        """Show other lines."""
        self._build = build
        self._rebuild()

    def on_resize(self) -> None:
        """Build the lines for another size."""
        self._rebuild()

    def draw_line(self, y: int, width: int) -> Strip:
        """Draw a line."""
        line = self._lines[y] if y < len(self._lines) else BLANK_LINE
        return brush_of(self).line(line, width)

    def _rebuild(self) -> None:
        width, height = self.size
        if width <= 0 or height <= 0:
            return
        before, self._lines = self._lines, self._build(width, height)
        changed = [
            Region(0, y, width, 1)
            for y, (old, new) in enumerate(zip_longest(before, self._lines))
            if old != new
        ]
        if changed:
            self.refresh(*changed)
