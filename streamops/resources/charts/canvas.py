"""Drawing a chart: a field of cells, of dots, eighths of a block or glyphs, and the lines drawn into it."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from streamops.resources.charts.scale import GLYPHS, Mark, Point, steps, value_between
from streamops.resources.table import Cell, Tone

DOTS_ACROSS: Final = 2
DOTS_DOWN: Final = 4
EIGHTHS: Final = 8
BRAILLE: Final = 0x2800
BLOCKS: Final = " ▁▂▃▄▅▆▇█"
SHADE: Final = "░"
"""What lies under the edge of an area: so light that a line across it is seen."""
# Dots of a braille cell by column, then from the bottom up.
BITS: Final = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))


class Canvas:
    """Something to draw on; where two things meet in one cell, the later one stands.

    Args:
        width: Cells across.
        height: Cells down.
    """

    def __init__(self, width: int, height: int) -> None:
        self.width = max(width, 0)
        self.height = max(height, 0)
        self._text = [[" "] * self.width for _ in range(self.height)]
        self._tone = [[Tone.PLAIN] * self.width for _ in range(self.height)]
        self._dots = [[0] * self.width for _ in range(self.height)]

    @property
    def across(self) -> int:
        """Dots from left to right."""
        return self.width * DOTS_ACROSS

    @property
    def down(self) -> int:
        """Dots from the bottom to the top."""
        return self.height * DOTS_DOWN

    def put(self, column: int, row: int, glyph: str, tone: Tone) -> None:
        """Put a glyph into a cell; the row is counted from the bottom. Outside there is nothing to put it on."""
        if 0 <= column < self.width and 0 <= row < self.height:
            line = self.height - 1 - row
            self._text[line][column], self._tone[line][column], self._dots[line][column] = glyph, tone, 0

    def fill(self, column: int, eighths: int, tone: Tone) -> None:
        """Fill a column from the bottom to a height in eighths of a cell."""
        full, rest = divmod(max(min(eighths, self.height * EIGHTHS), 0), EIGHTHS)
        for row in range(full):
            self.put(column, row, SHADE, tone)
        if rest:
            self.put(column, full, BLOCKS[rest], tone)
        elif full:
            self.put(column, full - 1, BLOCKS[-1], tone)

    def dot(self, x: int, y: int, tone: Tone) -> None:
        """Set one dot, counted from the lower left corner."""
        if not (0 <= x < self.across and 0 <= y < self.down):
            return
        column, line = x // DOTS_ACROSS, self.height - 1 - y // DOTS_DOWN
        dots = self._dots[line][column] | BITS[x % DOTS_ACROSS][y % DOTS_DOWN]
        self._dots[line][column] = dots
        self._text[line][column], self._tone[line][column] = chr(BRAILLE + dots), tone

    def line(self, x: int, y: int, to_x: int, to_y: int, tone: Tone) -> None:
        """Set the dots between two, both included."""
        length = max(abs(to_x - x), abs(to_y - y))
        for step in range(length + 1):
            share = step / length if length else 0.0
            self.dot(round(x + (to_x - x) * share), round(y + (to_y - y) * share), tone)

    def rows(self) -> Sequence[Sequence[Cell]]:
        """What was drawn, from the top down; neighbours of one tone are one cell."""
        return [_joined(*row) for row in zip(self._text, self._tone, strict=True)]


def _joined(texts: Sequence[str], tones: Sequence[Tone]) -> list[Cell]:
    cells: list[Cell] = []
    for text, tone in zip(texts, tones, strict=True):
        if cells and (cells[-1].tone is tone or text == " "):
            cells[-1] = Cell(cells[-1].text + text, cells[-1].tone)
        else:
            cells.append(Cell(text, tone))
    return cells


Span = tuple[float, float]
DOT: Final = "•"
DOTS_APART: Final = 3
"""Columns from one dot to the next: what lies under them is seen between."""


def draw_line(canvas: Canvas, points: Sequence[Point], span: Span, top: float, tone: Tone) -> None:
    """Join known values by a line; where a value is only a bound, put the bound's glyph into each column."""

    def place(at: float, value: float) -> tuple[int, int]:
        x = int((at - span[0]) / (span[1] - span[0]) * canvas.across)
        return min(x, canvas.across - 1), _height(value, top, canvas.down - 1)

    for one, other in steps(points):
        if other.mark is Mark.KNOWN:
            at = max(one.at, span[0])
            value = value_between(one, other, at)
            canvas.line(*place(at, value), *place(other.at, other.value or 0.0), tone)
    for point in points:
        if point.mark is Mark.KNOWN and point.value is not None and point.at >= span[0]:
            canvas.dot(*place(point.at, point.value), tone)
    _draw_bounds(canvas, points, span, top)


def draw_area(canvas: Canvas, points: Sequence[Point], span: Span, top: float, tone: Tone) -> None:
    """Fill each column up to the value at its middle."""
    for column, (value, _) in _columns(canvas, points, span).items():
        canvas.fill(column, _height(value, top, canvas.height * EIGHTHS), tone)


def draw_dots(canvas: Canvas, points: Sequence[Point], span: Span, top: float, tone: Tone) -> None:
    """Put a dot into every third column, at the value at its middle."""
    for column, (value, _) in _columns(canvas, points, span).items():
        if column % DOTS_APART == 0:
            canvas.put(column, _height(value, top, canvas.down - 1) // DOTS_DOWN, DOT, tone)


def _draw_bounds(canvas: Canvas, points: Sequence[Point], span: Span, top: float) -> None:
    if all(point.mark is Mark.KNOWN for point in points):
        return
    for column, (value, mark) in _columns(canvas, points, span).items():
        if mark in GLYPHS:
            row = _height(value, top, canvas.down - 1) // DOTS_DOWN
            canvas.put(column, row, GLYPHS[mark], Tone.UNKNOWN)


def _columns(canvas: Canvas, points: Sequence[Point], span: Span) -> dict[int, tuple[float, Mark]]:
    """The value at the middle of each column, if there is one: its own reading's, or one on a line between two."""
    start, end = span
    width = (end - start) / max(canvas.width, 1)
    found: dict[int, tuple[float, Mark]] = {}
    joined = {id(other): one for one, other in steps(points)}
    times = [point.at for point in points]
    for column in range(canvas.width):
        middle = start + (column + 0.5) * width
        after = bisect_right(times, middle)
        if after < len(points) and (one := joined.get(id(points[after]))) is not None:
            found[column] = value_between(one, points[after], middle), points[after].mark
    for point in points:
        if point.value is not None and point.at >= start:
            found.setdefault(
                min(int((point.at - start) / width), canvas.width - 1), (point.value, point.mark)
            )
    return found


def _height(value: float, top: float, most: int) -> int:
    """A value's place between 0 and ``most``: 0 for none at all, and at least 1 for anything above it."""
    if value <= 0:
        return 0
    return max(min(round(value / top * most), most), 1)
