"""From points to what stands in the field."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from streamops.resources.charts.canvas import DOTS_DOWN, EIGHTHS, Canvas
from streamops.resources.charts.points import GLYPHS, Mark, Point, steps, value_between
from streamops.resources.table import Tone

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
    """The value at the middle of each column, where there is one: its own reading's, or one on a line between two."""
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
