"""The charts of one group, for whatever box there is. Pure."""

from collections.abc import Sequence
from typing import Final

from streamops.resources.groups import GroupRow
from streamops.resources.table import Cell, Tone
from streamops.tui.lines.charting import Span, chart_width, field_columns, grid, group_charts, window
from streamops.tui.polling.app_state import AppState
from streamops.tui.widgets.bars import BoxBuilder
from streamops.tui.widgets.paint import BLANK_LINE, Line

ALL: Final = 4


def group_box(
    row: GroupRow | None, app_state: AppState, span: Span, *, missing: str, charts: int = ALL
) -> BoxBuilder:
    """What draws a group's charts.

    Args:
        row: The group.
        app_state: What is known now.
        span: How far back the charts go.
        missing: What to say where there is no such group.
        charts: How many of them, the most telling first.
    """

    def build(width: int, height: int) -> Sequence[Line]:
        past, observation = app_state.past, app_state.observation
        if row is None or row.group is None:
            return _note(missing)
        if past is None or observation is None:
            return _note("nothing is remembered yet")
        columns = field_columns(chart_width(width))
        drawn = group_charts(past, row.group, window(past, observation, span), columns)
        return grid(drawn[:charts], width, height)

    return build


def _note(text: str) -> Sequence[Line]:
    return [BLANK_LINE, (Cell(f" {text}", Tone.DIM),)]
