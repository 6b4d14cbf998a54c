"""The columns of a list: choose the one to sort by, and which are shown."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from streamops.resources.filters import EVERY_SIGN, common_sign, names_of
from streamops.resources.kinds import of_rows
from streamops.resources.table import Cell, Column, Resource, Tone
from streamops.tui.lines.details import paragraph
from streamops.tui.polling.app_state import AppState
from streamops.tui.screens.listing import Listing, ListScreen
from streamops.tui.widgets.line_view import SORT_MARKS
from streamops.tui.widgets.paint import BLANK_LINE, Line


class Heading(Struct, frozen=True):
    """A column of a list.

    Attributes:
        column: The column.
        shown: Whether it is among those that are shown where there is room.
        visible: Whether there is room.
        mark: How the list is sorted by it; empty if it is not.
    """

    column: Column[Any]
    shown: bool
    visible: bool
    mark: str


def _shown(row: Heading) -> Cell:
    if row.visible:
        return Cell("✓", Tone.OK)
    return Cell("no room" if row.shown else "-", Tone.DIM)


HEADING = of_rows(Heading)

COLUMNS: Final[tuple[Column[Heading], ...]] = (
    HEADING.column("shown", "SHOWN", 7, lambda row: row.shown, _shown, priority=0).means(
        "Whether the column is shown, if there is room."
    ),
    HEADING.column(
        "title",
        "COLUMN",
        14,
        lambda row: row.column.title,
        lambda row: Cell(f"{row.column.title}{row.mark}", Tone.STRONG if row.mark else Tone.PLAIN),
        flexible=True,
        priority=0,
    ).means("Its title, and the sort order."),
    HEADING.column(
        "name",
        "IN A FILTER",
        16,
        lambda row: names_of(row.column)[0],
        lambda row: Cell(names_of(row.column)[0] + common_sign(row.column), Tone.OK),
        flexible=True,
        priority=1,
    ).means("Its name in a filter, with the usual operator."),
    HEADING.column(
        "help",
        "MEANING",
        20,
        lambda row: row.column.help,
        lambda row: Cell(row.column.help, Tone.DIM),
        flexible=True,
        priority=2,
    ).means("What its values mean."),
)


def _words(row: Heading) -> str:
    names = names_of(row.column)
    return " ".join((row.column.title, names[0] + common_sign(row.column), *names, row.column.help))


def _lines(row: Heading, width: int) -> list[Line]:
    """What its values mean, in full."""
    column = row.column
    return [
        (Cell(f" {column.title}", Tone.STRONG),),
        BLANK_LINE,
        *paragraph(column.help, width, Tone.PLAIN),
        BLANK_LINE,
        *(paragraph(f"from {column.source}", width, Tone.DIM) if column.source else ()),
        BLANK_LINE,
        *paragraph(f"in a filter: {', '.join(names_of(column))}", width, Tone.DIM),
    ]


HEADING_LIST: Final = Listing(
    resource=Resource[Heading](
        key=lambda row: row.column.key, columns=COLUMNS, text=_words, name=lambda row: names_of(row.column)[0]
    ),
    hints=(("open", "sort by it, or invert"), "show_or_hide", "own_columns", "back"),
    detail=_lines,
    enter=lambda screen, row: screen.choose(row) if isinstance(screen, ColumnPickerScreen) else None,
    literal=EVERY_SIGN,
)


class ColumnPickerScreen(ListScreen[Heading]):
    """The columns of the list below.

    Args:
        listing: The list.
    """

    def __init__(self, listing: ListScreen[Any]) -> None:
        super().__init__(listing.place, listing.app_state, HEADING_LIST)
        self._below = listing
        self._rows: tuple[Heading, ...] = self._headings()

    def _headings(self) -> tuple[Heading, ...]:
        listing = self._below
        shown = [column.key for column in listing.chosen_columns]
        every = {column.key: column for column in listing.every_column}
        order = [*shown, *(key for key in every if key not in shown)]
        visible = {column.key for column in listing.list.shown_columns}
        wish = listing.wish
        marks = {wish.sort: SORT_MARKS[wish.descending]}
        return tuple(Heading(every[key], key in shown, key in visible, marks.get(key, "")) for key in order)

    def show_body(self, app_state: AppState) -> None:
        """Show the columns, the cursor at first on that which the list is sorted by."""
        is_first = not self.list.rows
        super().show_body(app_state)
        keys = [row.column.key for row in self._rows]
        if is_first and self._below.wish.sort in keys:
            self.list.move_to(keys.index(self._below.wish.sort))

    def rows_of(self, app_state: AppState) -> Sequence[Heading]:
        """The columns, those that are shown first."""
        del app_state
        return self._rows

    def selection_words(self) -> Line:
        """That these are columns."""
        return (*super().selection_words(), Cell("columns ", Tone.OK))

    def choose(self, row: Heading) -> None:
        """Sort the list by the column, and go back to it."""
        self._below.sort_by(row.column.key)
        self.console.back()

    def action_show_or_hide(self) -> None:
        """Show the column, or hide it; one is always shown."""
        row = self.list.highlighted
        if row is None:
            return
        columns = list(self._below.chosen_columns)
        if not row.shown:
            columns.append(row.column)
        elif len(columns) > 1:
            columns.remove(row.column)
        self._choose(columns)
        self.list.move_to(self.list.cursor + 1)

    def action_own(self) -> None:
        """Show the columns that the list has by itself, in its own order."""
        self._below.reset()
        self._show_again()

    def _choose(self, columns: Sequence[Column[Any]]) -> None:
        # Shown columns keep the list's own order; further ones follow.
        order = [column.key for column in self._below.every_column]
        self._below.choose_columns(sorted(columns, key=lambda column: order.index(column.key)))
        self._show_again()

    def _show_again(self) -> None:
        # Rows stay where they are: whoever chooses several goes on from one to the next.
        now = {row.column.key: row for row in self._headings()}
        self._rows = tuple(now[row.column.key] for row in self._rows)
        self.show_body(self.app_state)
