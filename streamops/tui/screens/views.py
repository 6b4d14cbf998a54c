"""Saved views: which there are, and Enter opens one."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from streamops.resources.filters import EVERY_SIGN
from streamops.resources.table import Cell, Column, Tone
from streamops.resources.text import safe
from streamops.resources.views import SavedView, view_toml
from streamops.tui.lines.details import paragraph
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.screens.listing import ListScreen
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.text_view import Builder


class ViewRow(Struct, frozen=True):
    """A view with its name."""

    name: str
    view: SavedView


def _column(key: str, title: str, words: str, width: int, priority: int) -> Column[ViewRow]:
    def value(row: ViewRow) -> Any:  # noqa: ANN401 - whatever a view holds
        return row.name if key == "name" else getattr(row.view, key)

    def cell(row: ViewRow) -> Cell:
        match value(row):
            case None | "" | False:
                return Cell("-", Tone.DIM)
            case True:
                return Cell("faults", Tone.WARN)
            case tuple() as names:
                return Cell(safe(", ".join(names))) if names else Cell("its own", Tone.DIM)
            case text:
                return Cell(safe(str(text)), Tone.STRONG if key == "name" else Tone.PLAIN)

    return Column(key, title, words, cell, value, width, flexible=True, priority=priority)


COLUMNS = (
    _column("name", "VIEW", "Its name, as :view takes it.", 12, 0),
    _column("place", "PLACE", "Where it is, as that is typed after the colon.", 12, 0),
    _column("filter", "FILTER", "What its rows hold, as that is typed after the slash.", 14, 0),
    _column("sort", "SORT", "The column that it is sorted by.", 8, 1),
    _column("faults", "ONLY", "Whether only rows with a fault are shown.", 6, 2),
    _column("columns", "COLUMNS", "The columns shown, where they are not the list's own.", 10, 3),
)


class ViewsScreen(ListScreen[ViewRow]):
    """The saved views."""

    LITERAL = EVERY_SIGN
    HINTS = ("open", "filter", ("copy_id", "copy name"), "back")

    def __init__(self, place: Route, app_state: AppState) -> None:
        super().__init__(place, app_state, COLUMNS)
        self._rows: tuple[object, tuple[ViewRow, ...]] = (None, ())

    def rows_of(self, app_state: AppState) -> Sequence[ViewRow]:
        """The views, by name."""
        if self._rows[0] is not app_state.views:
            rows = tuple(ViewRow(name, view) for name, view in sorted(app_state.views.items()))
            self._rows = (app_state.views, rows)
        return self._rows[1]

    def identify(self, row: ViewRow) -> str:
        """Its name."""
        return row.name

    def text_of(self, row: ViewRow) -> str:
        """Everything it says."""
        return " ".join((row.name, *(column.cell(row).text for column in COLUMNS[1:])))

    def name_of(self, row: ViewRow) -> str:
        """Its name."""
        return row.name

    def detail(self, row: ViewRow) -> Builder:
        """The view as a configuration file has it."""

        def build(width: int) -> list[Line]:
            table = [
                line
                for written in view_toml(row.name, row.view).splitlines()
                for line in paragraph(safe(written), width, Tone.PLAIN, hang=2)
            ]
            return [(Cell(" In a configuration file", Tone.STRONG),), BLANK_LINE, *table]

        return build

    def on_line_view_chosen(self) -> None:
        """Open the view."""
        row = self.list.highlighted
        if row is not None:
            self.console.show_view(row.name)

    def empty_note(self) -> str:
        """How one comes to be."""
        return "no view is saved; arrange a list and type :save NAME"
