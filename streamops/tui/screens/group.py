"""One group: its consumers, and itself in full."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace
from textual.widget import Widget

from streamops.model.observation import GroupView
from streamops.resources.consumers import CONSUMERS, ConsumerRow, consumer_rows
from streamops.resources.groups import GroupRow
from streamops.resources.text import safe
from streamops.tui import routes
from streamops.tui.lines.charting import SPANS, group_box
from streamops.tui.lines.details import group_lines
from streamops.tui.polling.app_state import AppState
from streamops.tui.screens.listing import Listing, ListScreen
from streamops.tui.widgets.bars import Body, BoxView, Divider
from streamops.tui.widgets.text_view import Builder, no_lines

OF_GROUP: Final = Listing(
    resource=replace(
        CONSUMERS,
        key=lambda row: row.consumer.name,
        columns=tuple(column for column in CONSUMERS.columns if column.key not in {"stream", "group"}),
    ),
    hints=(("open", "its pending"), "pending", "charts", "tail", "sort", "back"),
    leads=lambda row: routes.PendingRoute(row.stream, row.group, row.consumer.name),
)

WIDE: Final = 110
TALL: Final = 32
"""From so many columns and lines on there is room for charts below the consumers."""
LAG_AND_RATES: Final = 2


class GroupScreen(ListScreen[ConsumerRow]):
    """The consumers of a group. The pane tells the group, whatever consumer the cursor is on."""

    place: routes.GroupRoute

    CSS = """
    GroupScreen #left { width: 1fr; height: 1fr; layout: vertical; }
    GroupScreen #charts { display: none; height: 13; }
    """

    keeps_pane = True

    def __init__(self, place: routes.GroupRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, OF_GROUP)
        self._row: GroupRow | None = None
        self._consumers: tuple[GroupView | None, Sequence[ConsumerRow]] = (None, ())
        self._charts = BoxView(id="charts")

    def compose_body(self) -> Iterable[Widget]:
        """The consumers over the charts, and the pane."""
        yield Body(Body(self.list, self._charts, id="left"), Divider(), self.pane, id="body")

    def on_resize(self) -> None:
        """Show charts where there is room for them."""
        self._charts.display = self.size.width >= WIDE and self.size.height >= TALL

    def show_body(self, app_state: AppState) -> None:
        """Show the consumers, and how the group was."""
        super().show_body(app_state)
        self._charts.show(group_box(self._row, app_state, SPANS[0], missing="", charts=LAG_AND_RATES))

    def rows_of(self, app_state: AppState) -> Sequence[ConsumerRow]:
        """The consumers."""
        row = app_state.find_group(self.place.stream, self.place.group)
        view = None if row is None else row.group
        self._row = row
        if view is not self._consumers[0]:
            self._consumers = (view, () if view is None else _in_trouble_first(view))
        return self._consumers[1]

    def about(self) -> Builder:
        """The group in full: a consumer has no more to tell than its row."""
        row = self._row
        return no_lines if row is None else lambda width: group_lines(row, width)

    def empty_note(self) -> str:
        """Why no consumer is listed."""
        if self._row is None:
            return self.app_state.missing(f"group {safe(self.place.group)}")
        view = self._row.group
        if view is not None and view.group.members is None:
            return self._gap() or "the consumers could not be read"
        return "the group has no consumers"

    def action_pending(self) -> None:
        """List the pending entries of all consumers."""
        self.console.go(routes.PendingRoute(self.place.stream, self.place.group))

    def _gap(self) -> str:
        observation = self.app_state.observation
        gaps = () if observation is None else observation.snapshot.gaps
        here = (self.place.stream, self.place.group)
        return next(
            (f"not readable: {safe(gap.reason)}" for gap in gaps if (gap.stream, gap.group) == here), ""
        )


def _in_trouble_first(view: GroupView) -> list[ConsumerRow]:
    """The consumers, those that a finding is about on top."""
    named = {finding.consumer for finding in view.findings}
    return sorted(consumer_rows(view), key=lambda row: row.consumer.name not in named)
