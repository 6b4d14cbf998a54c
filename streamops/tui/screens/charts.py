"""How a group was over the last minutes and hours: four charts over one axis of time."""

from collections.abc import Iterable
from typing import Final

from textual.widget import Widget

from streamops.resources.groups import GroupRow
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.tui import routes
from streamops.tui.lines.charting import SPANS, group_box, since_words, window
from streamops.tui.lines.details import group_lines, paragraph
from streamops.tui.polling.app_state import AppState
from streamops.tui.rows.selection import Selection
from streamops.tui.screens.frame import Frame
from streamops.tui.widgets.bars import BoxView
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.text_view import Builder, no_lines

EXPLAINED: Final = (
    (
        "Lag",
        "entries not yet delivered to the group. ▾ at most, ▴ at least, ~ about.",
    ),
    (
        "Rates",
        "entries per second: added to the stream (line), delivered to the group (dots), acknowledged by it (area).",
    ),
    ("Lag age", "age of the next entry to be delivered to the group."),
    ("Oldest pending", "age of the oldest pending entry, by its ID."),
    (
        "Gaps",
        "a gap in a line means unknown. Further back each dot is the maximum of its interval; rates are means.",
    ),
)


class ChartsScreen(Frame):
    """The charts of a group; the arrows choose how far back they go.

    Attributes:
        span: The place of the chosen span among all.
    """

    place: routes.ChartsRoute

    HINTS = (("span_less span_more", "span"), "tail", "freeze", "back")

    def __init__(self, place: routes.ChartsRoute, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self.span = 0
        self._box = BoxView(id="main")

    def compose_body(self) -> Iterable[Widget]:
        """The charts."""
        yield self._box

    def on_mount(self) -> None:
        """Have the group remembered from now on, whatever becomes of others."""
        self.console.live.want(self.place.stream, self.place.group)

    def show_body(self, app_state: AppState) -> None:
        """Draw what is remembered up to the moment."""
        row, name = self._row(), safe(self.place.group)
        note = app_state.missing(f"group {name}")
        self._box.show(group_box(row, app_state, SPANS[self.span], missing=note))

    def selection_words(self) -> Line:
        """How far back the charts go, among all that there is to choose from."""
        cells = [
            Cell(f"{span.word}  ", Tone.OK if place == self.span else Tone.DIM)
            for place, span in enumerate(SPANS)
        ]
        return (*cells, Cell("UTC ", Tone.DIM))

    def position_words(self) -> Line:
        """Since when there is anything to draw."""
        past, observation = self.app_state.past, self.app_state.observation
        if past is None or observation is None:
            return BLANK_LINE
        return (Cell(f"{since_words(past, window(past, observation, SPANS[self.span]))} ", Tone.DIM),)

    def selection(self) -> Selection | None:
        """The group."""
        return self.selection_of(routes.GroupRoute(*self.place.names))

    def copyable(self) -> str | None:
        """The group's name."""
        return self.place.group

    def explain(self) -> Builder:
        """What each chart shows, then the group in full."""
        row = self._row()
        group = no_lines if row is None else lambda width: group_lines(row, width)
        return lambda width: [*explanation(width), BLANK_LINE, *group(width)]

    def action_span(self, step: int) -> None:
        """Go further back, or less far."""
        self.span = min(max(self.span + step, 0), len(SPANS) - 1)
        self.show_body(self.app_state)
        self.show_bars()

    def _row(self) -> GroupRow | None:
        return self.app_state.find_group(self.place.stream, self.place.group)


def explanation(width: int) -> list[Line]:
    """What the charts show, in words."""
    lines: list[Line] = []
    for name, text in EXPLAINED:
        lines.append((Cell(f" {name}", Tone.STRONG),))
        lines += paragraph(text, width, Tone.PLAIN, indent=3)
    return lines
