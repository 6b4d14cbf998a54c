"""A chart in a box of so many columns and lines: a title with its legend, the field, and the two axes."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from streamops.resources.charts.canvas import DOT, DOTS_DOWN, Canvas, draw_area, draw_dots, draw_line
from streamops.resources.charts.scale import GLYPHS, WORDS, Point, Scale, Unit, instants, scale, within
from streamops.resources.table import Cell, Tone
from streamops.resources.text import shorten

LABEL_WIDTH: Final = 6
AXIS_WIDTH: Final = LABEL_WIDTH + 2
MOST_TITLE_LINES: Final = 2
TIME_LINES: Final = 2
LEAST_BELOW: Final = 5
"""Lines of a field that leave a second line to the title."""
LEAST_FIELD: Final = 2
LEAST_WIDTH: Final = AXIS_WIDTH + 4
TALL: Final = 9
"""Lines of a field from which on its axis is divided into more than two parts."""
PARTS: Final = (4, 5, 3, 6)
"""Into how many, the best first: labels stand evenly where the number of lines between them is whole."""
GAP, NARROW = Cell("  "), Cell(" ")

Line = tuple[Cell, ...]


class SeriesStyle(StrEnum):
    """How a series is drawn; no two of one chart look the same, whatever their colours."""

    LINE = "line"
    AREA = "area"
    DOTS = "dots"


LEGEND: Final = {SeriesStyle.LINE: "⠒", SeriesStyle.AREA: "▆", SeriesStyle.DOTS: DOT}
DRAW: Final = {SeriesStyle.LINE: draw_line, SeriesStyle.AREA: draw_area, SeriesStyle.DOTS: draw_dots}


class Series(Struct, frozen=True):
    """What is drawn of one measure.

    Attributes:
        points: Its readings, oldest first.
        look: How it is drawn.
        tone: In which colour.
        now: Its value now, in words.
        name: What the legend calls it; empty if the title says it.
    """

    points: Sequence[Point]
    look: SeriesStyle
    tone: Tone
    now: str
    name: str = ""


class Chart(Struct, frozen=True):
    """One chart; areas come before the lines that are drawn over them, and lines before dots.

    Attributes:
        title: What it shows.
        unit: What its values are.
        unit_words: The unit as the title says it.
        series: What is drawn.
        start: Where the axis of time begins, in seconds since 1970.
        end: Where it ends.
        note: What to say in the field where nothing can be drawn.
    """

    title: str
    unit: Unit
    unit_words: str
    series: tuple[Series, ...]
    start: float
    end: float
    note: str = "nothing is known yet"


def chart_lines(chart: Chart, width: int, height: int) -> list[Line]:
    """Draw a chart; if there is too little room, the title stands alone.

    Args:
        chart: The chart.
        width: Columns of the box.
        height: Lines of the box.

    Returns:
        At most ``height`` lines, none of them wider than the box.
    """
    shown = [within(series.points, chart.start, chart.end) for series in chart.series]
    title = _title(chart, shown, width, min(height - TIME_LINES - LEAST_BELOW, MOST_TITLE_LINES))
    rows = height - len(title) - TIME_LINES
    if rows < LEAST_FIELD or width < LEAST_WIDTH:
        return title[: max(height, 0)]
    values = [point.value for points in shown for point in points if point.value is not None]
    axis = scale(max(values, default=0.0), chart.unit, _intervals(rows))
    canvas = Canvas(width - AXIS_WIDTH, rows)
    for series, points in zip(chart.series, shown, strict=True):
        DRAW[series.look](canvas, points, (chart.start, chart.end), axis.top, series.tone)
    field = canvas.rows() if values else _noted(canvas, chart.note)
    labels = _labels(axis, rows)
    body = [_axis_line(labels.get(row), field[rows - 1 - row]) for row in range(rows - 1, -1, -1)]
    return [*title, *body, *_time_axis(chart, width)]


def _title(chart: Chart, shown: Sequence[Sequence[Point]], width: int, most: int) -> list[Line]:
    """The name and unit, then the legend with what is so now, in at most so many lines.

    What does not fit is left out, the newest value last.
    """
    name = Cell(f" {chart.title}", Tone.STRONG)
    unit = Cell(f" {chart.unit_words}", Tone.DIM)
    legend: list[Line] = [_legend(series) for series in chart.series]
    marks = sorted({point.mark for points in shown for point in points if point.value is not None})
    bounds: list[Line] = [
        (Cell(f"{GLYPHS[mark]} {WORDS[mark]}", Tone.UNKNOWN),) for mark in marks if mark in GLYPHS
    ]
    names: list[Line] = [_legend(series)[:1] for series in chart.series if series.name]
    for parts in (
        (unit, *_spaced(legend + bounds)),
        _spaced(legend + bounds),
        _spaced(legend),
        _spaced(legend, NARROW),
    ):
        if _width((name, *parts)) <= width:
            return [(name, *parts)]
    lines = _flowing((name, unit), legend, width)
    if len(lines) <= most and max(map(_width, lines)) <= width:
        return lines
    if _width((name, *_spaced(names))) <= width:
        return [(name, *_spaced(names))]
    return [(Cell(f" {chart.title}"[: max(width, 0)], Tone.STRONG),)]


def _flowing(head: Line, parts: Sequence[Line], width: int) -> list[Line]:
    """Parts after a head, in as many lines as they take."""
    lines = [head]
    for part in parts:
        longer = (*lines[-1], GAP, *part)
        if _width(longer) <= width:
            lines[-1] = longer
        else:
            lines.append((NARROW, *part))
    return lines


def _width(line: Line) -> int:
    return sum(len(cell.text) for cell in line)


def _legend(series: Series) -> Line:
    if not series.name:
        return (Cell(series.now, series.tone),)
    return (Cell(f"{LEGEND[series.look]} {series.name} ", series.tone), Cell(series.now))


def _spaced(parts: Sequence[Line], gap: Cell = GAP) -> Line:
    return tuple(cell for part in parts for cell in (gap, *part))


def _intervals(rows: int) -> int:
    if rows < TALL:
        return 2
    return next((parts for parts in PARTS if (rows - 1) % parts == 0), PARTS[0])


def _labels(axis: Scale, rows: int) -> dict[int, str]:
    """The words beside the field by its rows, counted from the bottom: each where its value would be drawn."""
    most = rows * DOTS_DOWN - 1
    return {round(value / axis.top * most) // DOTS_DOWN: text for value, text in axis.ticks}


def _axis_line(label: str | None, field: Sequence[Cell]) -> Line:
    text = f"{'':{LABEL_WIDTH}} │" if label is None else f"{shorten(label, LABEL_WIDTH):>{LABEL_WIDTH}} ┤"
    return (Cell(text, Tone.DIM), *field)


def _time_axis(chart: Chart, width: int) -> list[Line]:
    room = width - AXIS_WIDTH
    rule, labels = ["─"] * room, ""
    for column, label in instants(chart.start, chart.end, room):
        rule[column] = "┬"
        labels = labels.ljust(column) + label
    indent = " " * (LABEL_WIDTH + 1)
    return [
        (Cell(f"{indent}└{''.join(rule)}", Tone.DIM),),
        (Cell(f"{indent} {labels}", Tone.DIM),),
    ]


def _noted(canvas: Canvas, note: str) -> Sequence[Sequence[Cell]]:
    """A field with words in its middle."""
    middle = canvas.height // 2
    text = Cell(f" {note}"[: canvas.width], Tone.DIM)
    return [[text] if row == middle else [] for row in range(canvas.height)]
