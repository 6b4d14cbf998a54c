"""How the whole is, on one page: health, rates, what waits, dead letters, delayed messages, workers, memory, the worst."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from time import monotonic
from typing import Final

from msgspec.structs import replace
from textual.widget import Widget

from streamops.resources.findings import ALERTS, AlertRow
from streamops.resources.text import safe
from streamops.tui import routes
from streamops.tui.history.rows import RunningTotals
from streamops.tui.lines.overview import OverviewReads, page_lines
from streamops.tui.polling.app_state import AppState
from streamops.tui.screens.alerts import ALERT_LIST
from streamops.tui.screens.listing import ListScreen
from streamops.tui.screens.workers import read_workers
from streamops.tui.source import Source
from streamops.tui.widgets.bars import Body, BoxView, Divider
from streamops.tui.widgets.paint import Line

AGAIN: Final = 60.0
"""Seconds from one look for workers and delayed messages to the next: each goes through all keys."""


WORST: Final = replace(
    ALERT_LIST,
    resource=replace(ALERTS, columns=tuple(column for column in ALERTS.columns if column.key != "since")),
    hints=(("open", "open"), "alerts", "charts", "groups", "back"),
    summary=lambda _: None,
    wide_pane=False,
)


class OverviewScreen(ListScreen[AlertRow]):
    """The page, and under it what is worst, with the reason."""

    CSS = """
    OverviewScreen #body { layout: vertical; }
    OverviewScreen #panel { height: 11; }
    OverviewScreen.-wide #panel { height: 14; }
    OverviewScreen.-roomy #panel { height: 18; }
    OverviewScreen Divider { display: block; width: 1fr; height: 1; }
    """

    def __init__(self, place: routes.OverviewRoute, app_state: AppState) -> None:
        super().__init__(place, app_state, WORST)
        self._panel = BoxView(id="panel")
        self._beside = OverviewReads()
        self._asked: set[str] = set()
        self._due = 0.0
        self._sums = RunningTotals()

    def compose_body(self) -> Iterable[Widget]:
        """The page and the list."""
        yield Body(self._panel, Divider(), self.list, id="body")

    def on_mount(self) -> None:
        """Read what is not observed."""
        self.reread()

    def show_body(self, app_state: AppState) -> None:
        """Show the page of a moment."""
        super().show_body(app_state)
        self._panel.show(self._build)

    def tick(self) -> None:
        """Look for workers and delayed messages again, when it is time."""
        super().tick()
        if monotonic() >= self._due:
            self.reread()

    def refresh_detail(self) -> None:
        """There is no pane."""

    def reread(self) -> None:
        """Look for workers and delayed messages, unless that is under way."""
        self._due = monotonic() + AGAIN
        self._look("workers", read_workers)
        self._look("delayed", lambda source: source.find_delayed())

    def _look(self, what: str, read: Callable[[Source], Awaitable[object]]) -> None:
        if what not in self._asked:
            self._asked.add(what)
            take = partial(self._take, what)
            self.fetch(read, take, lambda error: take(safe(error.message)))

    def _take(self, what: str, found: object) -> None:
        self._asked.discard(what)
        self._beside = replace(self._beside, **{what: found})
        self._panel.show(self._build)

    def _build(self, width: int, height: int) -> Sequence[Line]:
        # Not the newest sums: a frozen page shows those of what it froze at.
        sums = self._sums.take(self.app_state.observed)
        return page_lines(self.app_state, sums, self._beside, width, height)
