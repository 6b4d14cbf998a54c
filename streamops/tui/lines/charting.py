"""Which charts are drawn of what is remembered. Pure lines of cells."""

from collections.abc import Sequence
from datetime import UTC, datetime
from math import ceil
from typing import Final, NamedTuple

from msgspec import Struct

from streamops.model.observation import GroupView, Observation
from streamops.resources.charts.chart import AXIS_WIDTH, Chart, Series, SeriesStyle, chart_lines
from streamops.resources.charts.scale import Unit
from streamops.resources.groups import GroupRow
from streamops.resources.table import Cell, Tone
from streamops.resources.text import shorten
from streamops.resources.units import compact, count, duration, lag_text, rate
from streamops.tui.history.memory import (
    ACKED,
    ADDED,
    ALL_ACKED,
    ALL_ARRIVED,
    DELIVERED,
    LAG,
    PENDING_AGE,
    TIERS,
    TIME_LAG,
    MetricsHistory,
    Track,
)
from streamops.tui.history.rings import Resolution
from streamops.tui.history.rows import Totals
from streamops.tui.polling.app_state import AppState
from streamops.tui.widgets.bars import BoxBuilder
from streamops.tui.widgets.paint import BLANK_LINE, Line, cell_width, line_width, padded

TWO_WIDE: Final = 72
"""Columns from which on two charts stand side by side."""
BETWEEN: Final = 2
LEAST_HEIGHT: Final = 5
DOTS: Final = 2


class Span(Struct, frozen=True):
    """How far back charts go.

    Attributes:
        word: What it is called.
        seconds: How long it is; none for all that is remembered.
    """

    word: str
    seconds: float | None


SPANS: Final = (
    Span("5 min", 300.0),
    Span("30 min", 1800.0),
    Span("3 h", 10800.0),
    Span("all", None),
)


class Window(Struct, frozen=True):
    """The part of the past that charts show.

    Attributes:
        seconds: How long it is.
        until: The end, in seconds since 1970 by the server's clock.
        tier: The finest resolution that reaches so far back.
    """

    seconds: float
    until: float
    tier: Resolution

    def edges(self, columns: int) -> tuple[float, float]:
        """Where an axis of so many columns begins and ends: whole dots, so that most polls move nothing."""
        step = self.seconds / (max(columns, 1) * DOTS)
        end = ceil(self.until / step) * step
        return end - self.seconds, end


def window(past: MetricsHistory, observation: Observation, span: Span) -> Window:
    """The window of a span, up to an observation."""
    until = observation.snapshot.collected_at.timestamp()
    since = until if past.since is None else past.since
    seconds = span.seconds or min(max(until - since, SPANS[0].seconds or 0.0), TIERS[-1].span)
    tier = next((tier for tier in TIERS if tier.span >= seconds), TIERS[-1])
    return Window(seconds, until, tier)


def group_charts(past: MetricsHistory, view: GroupView, shown: Window, columns: int) -> tuple[Chart, ...]:
    """Lag; arrivals, deliveries and acknowledgements; time lag and pending age of a group.

    Args:
        past: What is remembered.
        view: The group as it is now.
        shown: The part of the past.
        columns: How wide the field of a chart is, in cells.
    """
    group, rates = view.group, view.rates

    def series(track: Track, look: SeriesStyle, tone: Tone, now: str, name: str = "") -> Series:
        points = past.points(view.stream, group.name, track, shown.tier, shown.until)
        return Series(points, look, tone, now, name)

    def chart(title: str, unit: Unit, words: str, *drawn: Series) -> Chart:
        return Chart(title, unit, words, drawn, *shown.edges(columns))

    return (
        chart(
            "Lag",
            Unit.COUNT,
            "entries",
            series(LAG, SeriesStyle.LINE, Tone.OK, lag_text(group.lag).text),
        ),
        chart(
            "Rates",
            Unit.RATE,
            "a second",
            series(ACKED, SeriesStyle.AREA, Tone.DIM, rate(rates.acked_per_second), "acked"),
            series(ADDED, SeriesStyle.LINE, Tone.OK, rate(rates.added_per_second), "added"),
            series(DELIVERED, SeriesStyle.DOTS, Tone.STRONG, rate(rates.delivered_per_second), "delivered"),
        ),
        chart(
            "Lag age",
            Unit.SECONDS,
            "of the next entry",
            series(TIME_LAG, SeriesStyle.LINE, Tone.OK, duration(group.time_lag.age)),
        ),
        chart(
            "Oldest pending",
            Unit.SECONDS,
            "since it was added",
            series(PENDING_AGE, SeriesStyle.LINE, Tone.OK, _pending_age(view)),
        ),
    )


def whole_chart(past: MetricsHistory, totals: Totals, shown: Window, columns: int) -> Chart:
    """Arrivals against acknowledgements of all groups together: an entry arrives once for each group."""
    acked = past.whole(ALL_ACKED, shown.tier, shown.until)
    arrived = past.whole(ALL_ARRIVED, shown.tier, shown.until)
    parts = (totals.groups, totals.untold_rates)
    return Chart(
        "All groups",
        Unit.RATE,
        "entries a second",
        (
            Series(acked, SeriesStyle.AREA, Tone.DIM, total_rate(totals.acked, *parts), "acked"),
            Series(
                arrived, SeriesStyle.LINE, Tone.OK, total_rate(totals.arrived, *parts), "added, per group"
            ),
        ),
        *shown.edges(columns),
    )


def total_rate(sum_of_known: float, parts: int, untold: int) -> str:
    """A rate of all together: at least so much where some part of it is not known, a dash if none is."""
    if untold == parts:
        return rate(0.0) if parts == 0 else rate(None)
    return f"{'≥' if untold else ''}{rate(sum_of_known)}"


def total_count(known: int, untold: int) -> str:
    """A number of all together: at least so much where some part of it is not known."""
    return f"{'≥' if untold else ''}{compact(known)}"


def grid(charts: Sequence[Chart], width: int, height: int) -> list[Line]:
    """Charts in a box, two side by side where that is wide enough; those that do not fit are left out."""
    across = 2 if width >= TWO_WIDE else 1
    rows = [charts[at : at + across] for at in range(0, len(charts), across)]
    fitting = max(min(len(rows), height // LEAST_HEIGHT), 1)
    lines: list[Line] = []
    for number, row in enumerate(rows[:fitting]):
        room = height * (number + 1) // fitting - height * number // fitting
        drawn = [chart_lines(chart, chart_width(width), room) for chart in row]
        lines += _side_by_side(drawn, chart_width(width), room)
    return lines


def chart_width(width: int) -> int:
    """How wide one chart of a grid is."""
    return (width - BETWEEN) // 2 if width >= TWO_WIDE else width


def field_columns(width: int) -> int:
    """How wide the field of a chart of that width is."""
    return max(width - AXIS_WIDTH, 1)


def since_words(past: MetricsHistory, shown: Window) -> str:
    """Since when there is anything to draw, if that is not the whole window."""
    if past.since is None or past.since <= shown.until - shown.seconds:
        return ""
    return f"history since {datetime.fromtimestamp(past.since, UTC):%H:%M:%SZ}"


def _pending_age(view: GroupView) -> str:
    return "none" if view.group.pending == 0 else duration(view.group.oldest_pending_age)


def _side_by_side(blocks: Sequence[Sequence[Line]], width: int, height: int) -> list[Line]:
    """Blocks of lines side by side."""
    lines: list[Line] = []
    for number in range(height):
        cells: list[Cell] = []
        for place, block in enumerate(blocks):
            line = block[number] if number < len(block) else BLANK_LINE
            cells += line if place == len(blocks) - 1 else padded(line, width + BETWEEN)
        lines.append(tuple(cells))
    return lines


TITLE: Final = 11
LONG, SHORT = 8, 4
ROOMY: Final = 110
LONGEST: Final = 36
GAP: Final = Cell("  ")


class ChartPart(NamedTuple):
    """A part of a whole.

    Attributes:
        name: What it is, safe to show.
        number: How much of it there is.
        tone: What it means that there is some.
    """

    name: str
    number: int
    tone: Tone = Tone.OK


def parts_line(title: str, parts: Sequence[ChartPart], width: int, *, note: str = "") -> Line:
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
        taken = line_width(shown)
        if taken + (line_width(more) if rest > 1 else 0) > room:
            return (*cells, *more) if line_width(more) <= room else tuple(cells)
        cells += shown
        room -= taken
    if note and cell_width(note) <= room:
        cells.append(Cell(note, Tone.DIM))
    return tuple(cells)


def _part(part: ChartPart, most: int, bar: int) -> Line:
    if not part.number:
        return (Cell(f"{shorten(part.name, LONGEST)} 0", Tone.DIM), GAP)
    blocks = "█" * -(-part.number * bar // most)
    return (
        Cell(f"{shorten(part.name, LONGEST)} "),
        Cell(f"{blocks} ", part.tone),
        Cell(count(part.number), Tone.STRONG),
        GAP,
    )


ALL: Final = 4


def group_box(
    row: GroupRow | None, app_state: AppState, span: Span, *, missing: str, charts: int = ALL
) -> BoxBuilder:
    """What draws a group's charts.

    Args:
        row: The group.
        app_state: What is known now.
        span: How far back the charts go.
        missing: What to say if there is no such group.
        charts: How many of them, the most saying first.
    """

    def build(width: int, height: int) -> Sequence[Line]:
        past, observation = app_state.past, app_state.observation
        if row is None or row.group is None:
            return _note(missing)
        if past is None or observation is None:
            return _note("no history yet")
        columns = field_columns(chart_width(width))
        drawn = group_charts(past, row.group, window(past, observation, span), columns)
        return grid(drawn[:charts], width, height)

    return build


def _note(text: str) -> Sequence[Line]:
    return [BLANK_LINE, (Cell(f" {text}", Tone.DIM),)]
