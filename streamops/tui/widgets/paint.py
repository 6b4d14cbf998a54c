"""Cells as styled lines of the terminal: widths, wrapping, and strips that are painted once."""

from abc import abstractmethod
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Self

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from streamops.resources.table import Align, Cell
from streamops.resources.text import ELLIPSIS, safe
from streamops.tui.theme import Background, divider_style, text_style

Line = tuple[Cell, ...]
BLANK_LINE: Final[Line] = ()


class Brush:
    """How one widget draws at one moment: in which theme, and whether in colour.

    Args:
        theme: The theme's name.
        colour: False where the person wants none.
    """

    __slots__ = ("colour", "theme")

    def __init__(self, theme: str, *, colour: bool) -> None:
        self.theme = theme
        self.colour = colour

    def style(self, cell: Cell, ground: Background) -> Style:
        """The style of a cell on a ground."""
        return text_style(self.theme, cell.tone, ground, colour=self.colour)

    def faint(self) -> Style:
        """The style of lines between parts."""
        return divider_style(self.theme, colour=self.colour)

    def line(self, cells: Iterable[Cell], width: int, ground: Background = Background.PAGE) -> Strip:
        """Draw cells one after the other, cut or padded to the width."""
        segments = [Segment(printable(cell.text), self.style(cell, ground)) for cell in cells]
        return self.fitted(segments, width, ground)

    def fitted(self, segments: list[Segment], width: int, ground: Background) -> Strip:
        """Cut segments with an ellipsis, or pad them, to the width; neighbours that look the same become one."""
        length = sum(cell_width(segment.text) for segment in segments)
        if length > width:
            segments = _cut(segments, width)
        elif length < width:
            segments.append(Segment(" " * (width - length), self.style(Cell(""), ground)))
        return Strip(segments, width).simplify()


def brush_of(widget: Widget) -> Brush:
    """The brush a widget draws with now."""
    return _brush(widget.app.theme, not widget.app.no_color)


@lru_cache(maxsize=8)
def _brush(theme: str, colour: bool) -> Brush:  # noqa: FBT001 - a cache key, called in one place
    return Brush(theme, colour=colour)


def printable(text: str) -> str:
    """The text itself where a terminal only shows it, else sanitised."""
    return text if text.isprintable() else safe(text)


def cell_width(text: str) -> int:
    """How many terminal cells a text takes."""
    return len(text) if text.isascii() else cell_len(text)


def line_width(line: Line) -> int:
    """How many terminal cells a line takes."""
    return sum(cell_width(cell.text) for cell in line)


def padded(line: Line, width: int) -> Line:
    """A line with blanks up to a width."""
    return (*line, Cell(" " * (width - line_width(line))))


def fit(text: str, width: int, align: Align = Align.LEFT) -> str:
    """Text of exactly so many terminal cells: padded, or cut with an ellipsis."""
    text = printable(text)
    length = cell_width(text)
    if length > width:
        return set_cell_size(text, width - 1) + ELLIPSIS if width > 0 else ""
    padding = " " * (width - length)
    return padding + text if align is Align.RIGHT else text + padding


def wrap(text: str, width: int) -> list[str]:
    """Break safe text at spaces, and inside a word only if it is longer than a line."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if cell_width(longer) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        *full, line = chop(word, width)
        lines.extend(full)
    return [*lines, line]


def chop(text: str, width: int) -> list[str]:
    """Break text into pieces of at most so many terminal cells; one empty piece for none."""
    width = max(width, 2)
    if text.isascii():
        return [text[at : at + width] for at in range(0, len(text), width)] or [""]
    pieces = [""]
    room = width
    for character in text:
        size = cell_len(character)
        if size > room:
            pieces.append("")
            room = width
        pieces[-1] += character
        room -= size
    return pieces


def _cut(segments: list[Segment], width: int) -> list[Segment]:
    kept: list[Segment] = []
    room = width
    for segment in segments:
        length = cell_width(segment.text)
        if length >= room:
            # A segment that fills the rest exactly is cut too: something follows it that does not fit.
            kept.append(Segment(fit(segment.text + " ", room), segment.style))
            return kept
        kept.append(segment)
        room -= length
    return kept


class Painted(Widget):
    """A widget that keeps each of its lines as drawn, until it says that the line changed.

    With every frame Textual asks everything on the screen for all of its lines, whatever changed. It keeps
    lines itself, styled: that is for borders, padding and filters, of which our widgets have none. The very
    same strip handed over again brings along all that Textual remembers on it, its cuts and its escape sequences.
    """

    _kept: dict[int, Strip]
    _kept_for: tuple[Size, tuple[int, int]] | None = None

    @abstractmethod
    def draw_line(self, y: int, width: int) -> Strip:
        """Draw the line at a height, as wide as the widget is."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines that are visible; only those that changed are drawn."""
        size, visible = self.size, crop.column_span
        if self._kept_for != (size, visible):
            self._kept, self._kept_for = {}, (size, visible)
        kept = self._kept
        for y in crop.line_range:
            if y not in kept:
                strip = self.draw_line(y, size.width)
                kept[y] = strip if visible == (0, size.width) else strip.crop(*visible)
        return [kept[y] for y in crop.line_range]

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        """Have lines drawn again: those of the regions, all of them if none is named."""
        if not regions:
            self._kept_for = None
        elif self._kept_for is not None:
            for region in regions:
                for y in region.line_range:
                    self._kept.pop(y, None)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def notify_style_update(self) -> None:
        """Forget the lines: theme or focus changed."""
        self._kept_for = None
        super().notify_style_update()
