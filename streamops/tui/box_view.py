"""A box that is filled with lines made for its very size: charts, and what stands beside them."""

from collections.abc import Callable, Sequence
from itertools import zip_longest

from textual.geometry import Region
from textual.strip import Strip

from streamops.tui.paint import BLANK_LINE, Line, brush_of
from streamops.tui.painted import Painted

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
