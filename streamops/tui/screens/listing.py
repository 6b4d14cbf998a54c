"""The screen of a list: filtered, sorted, arranged as asked for, with the row under the cursor in full in a pane."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import monotonic
from typing import ClassVar, Final, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from textual.binding import BindingType
from textual.widget import Widget

from streamops.model.entries import EntryId
from streamops.resources.filters import NONE, column_named, common_sign, names_of
from streamops.resources.table import Cell, Column, Resource, Tone
from streamops.resources.text import safe
from streamops.resources.units import count
from streamops.resources.views import SavedView
from streamops.tui.keys import Hint, bindings, hint_names
from streamops.tui.lines import words
from streamops.tui.lines.details import column_lines, row_lines
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route, entry_of
from streamops.tui.rows.ordering import ListState, Ordering, in_former_order
from streamops.tui.rows.selection import Selection
from streamops.tui.screens.frame import Frame
from streamops.tui.widgets.bars import Body, Divider
from streamops.tui.widgets.line_view import LineView
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.prompt import FILTER, Prompt, last_word
from streamops.tui.widgets.text_view import Builder, TextView, no_lines

Row = TypeVar("Row")


ORDER_HOLD: Final = 5.0
"""Seconds after a move of the cursor in which rows keep their order, so that the next key finds the row it was for."""


class Listing(Struct, Generic[Row], frozen=True, kw_only=True):
    """A list as data: what it lists, and what can be done with a row.

    Attributes:
        resource: The kind of its rows.
        hints: Its keys, for the line at the bottom.
        rows: What of what is known is listed; by default the rows of the resource in the observation.
        empty: Why there are no rows.
        leads: Where Enter leads.
        leads_nowhere: Why a row leads to no place.
        enter: What Enter does where it leads to no place.
        detail: A row in full, for the pane; its name and its columns unless given.
        selects: The row as what an action acts on; by default what it leads to.
        stream: The stream of a row; by default that of the place it leads to.
        summary: What all rows add up to, to the right of the crumbs.
        literal: Signs that always belong to the words of a filter.
        wide_pane: Whether the pane is wide, and stays below the list if there is no room beside it.
    """

    resource: Resource[Row]
    hints: tuple[Hint, ...] = ("open", "filter", "faults", "sort")
    rows: Callable[[AppState], Sequence[Row]] | None = None
    empty: Callable[[AppState], str] = lambda _: "nothing here"
    leads: Callable[[Row], Route | None] = lambda _: None
    leads_nowhere: str = "nothing to open: the pane shows the whole row"
    enter: Callable[["ListScreen[Row]", Row], object] | None = None
    detail: Callable[[Row, int], Sequence[Line]] | None = None
    selects: Callable[[Row], Selection | None] | None = None
    stream: Callable[[Row], str | None] | None = None
    summary: Callable[[Sequence[Row]], Cell | None] = lambda _: None
    literal: frozenset[str] = NONE
    wide_pane: bool = False

    def __call__(self, place: Route, app_state: AppState) -> "ListScreen[Row]":
        """The screen of the list."""
        return ListScreen(place, app_state, self)

    def rows_of(self, app_state: AppState) -> Sequence[Row]:
        """The rows of what is known."""
        if self.rows is not None:
            return self.rows(app_state)
        return () if app_state.observation is None else self.resource.rows(app_state.observation)


def list_of(resource: Resource[Row], leads: type[Route] | None) -> Listing[Row]:
    """The list of a resource, whose rows lead to a place that takes the parts of their keys."""
    return Listing(
        resource=resource, leads=lambda row: None if leads is None else leads(*resource.key_parts(row))
    )


class Arranged(Frame, Generic[Row]):
    """A list, filtered and sorted as asked for.

    Args:
        place: Which place it is.
        app_state: What is known now.
        listing: What it lists.

    Attributes:
        wish: The filter, the order, and whether only faults are shown.
        every_column: All columns that can be compared and sorted by.
        list: The list.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("headings")

    def __init__(
        self,
        place: Route,
        app_state: AppState,
        listing: Listing[Row],
    ) -> None:
        super().__init__(place, app_state)
        self.listing = listing
        resource = self.resource = listing.resource
        self.wish = ListState()
        self._own = self._columns = resource.columns
        known = {column.key for column in resource.columns}
        self.every_column = (
            *resource.columns,
            *(column for column in resource.more if column.key not in known),
        )
        self._ordering = Ordering(self.every_column, resource.text_of, resource.fault, listing.literal)
        self._all: Sequence[Row] = ()
        self._shown = self.wish
        self.list = LineView[Row](resource.columns, resource.key, id="main")

    def rows_of(self, app_state: AppState) -> Sequence[Row]:
        """All rows; the very same sequence where nothing changed."""
        return self.listing.rows_of(app_state)

    def empty_note(self) -> str:
        """Why there are no rows at all."""
        return self.listing.empty(self.app_state)

    def hints(self) -> tuple[Hint, ...]:
        """The keys of the list."""
        return self.listing.hints

    def rearrange(self) -> None:
        """Show the rows as the wish has them; those of a cursor that has just been moved keep their order."""
        wish = self.wish
        rows = self._ordering.arrange(self._all, wish)
        sorted_by = (wish.sort, wish.descending) if wish.sort else None
        is_moving = wish is self._shown and monotonic() - self.list.moved_at < ORDER_HOLD
        if is_moving and not self.list.keeps_lines(rows):
            rows = in_former_order(rows, self.list.rows, self.resource.key)
        if wish.sort != self._shown.sort:
            self.list.take_columns(self._columns_to_show())
        self._shown = wish
        self.list.show(rows, note=self._note(), sorted_by=sorted_by)
        self.show_bars()

    @property
    def is_filtered(self) -> bool:
        """Whether the list may hide rows: by words, or because only faults are shown."""
        return bool(self.wish.text.strip()) or self.wish.faults

    # -- what the bars say ---------------------------------------------------------------------------

    def selection_words(self) -> Line:
        """The filter and faults only."""
        parts: list[str] = []
        if self.wish.faults:
            parts.append("faults only")
        if self.wish.text.strip():
            parts.append(f"/{safe(self.wish.text)}")
        order = self._order_words()
        total = self.listing.summary(self._all)
        order = order if total is None else (*order, total)
        if not parts:
            return order
        shown = f"{count(len(self.list.rows))} of {count(len(self._all))}"
        if self._ordering.untold:
            shown += f", {count(self._ordering.untold)} unknown"
        return (*order, Cell(f"{' · '.join(parts)}  ", Tone.WARN), Cell(f"{shown} ", Tone.DIM))

    def _order_words(self) -> Line:
        """What the list is sorted by, where no title on the screen says it."""
        wish = self.wish
        hidden = wish.sort is not None and wish.sort not in [column.key for column in self.list.shown_columns]
        column = column_named(wish.sort or "", self.every_column) if hidden else None
        if column is None:
            return BLANK_LINE
        return (Cell(f"sorted by {column.title} {'▾' if wish.descending else '▴'}  ", Tone.DIM),)

    def position_words(self) -> Line:
        """The cursor among the rows."""
        return words.position(self.list.cursor, len(self.list.rows))

    def _note(self) -> str:
        if not self._all:
            return self.empty_note()
        total = count(len(self._all))
        if self.wish.text.strip():
            untold = self._ordering.untold
            unknown = f"; of {count(untold)} it is unknown" if untold else ""
            return f"none of {total} rows matches {safe(self.wish.text.strip())}{unknown}; Esc shows all"
        return f"no faults among {total} rows; f shows all"

    # -- keys ----------------------------------------------------------------------------------------

    async def action_filter(self) -> None:
        """Ask for a filter."""
        names = [names_of(column)[0] + common_sign(column) for column in self.every_column]
        words = self.app_state.typed.get(FILTER, ())
        await self.open_prompt(Prompt(FILTER, self.wish.text, last_word(names), words))

    def complaint(self, sign: str, text: str) -> str:
        """What is wrong with a filter, or with what is searched for."""
        if sign != FILTER:
            return super().complaint(sign, text)
        problem = self._ordering.problem(text)
        return "" if problem is None else f"{problem.message}; {problem.hint}".removesuffix("; ")

    def prompted(self, text: str) -> None:
        """Show only what matches."""
        self._want(replace(self.wish, text=text))

    def cancel(self) -> bool:
        """Drop the filter first, then faults only."""
        if self.wish.text:
            self._want(replace(self.wish, text=""))
            return True
        if self.wish.faults:
            self._want(replace(self.wish, faults=False))
            return True
        return False

    def action_match(self, step: int) -> None:
        """Move to the next or the previous matching row, around the ends."""
        rows = len(self.list.rows)
        if rows:
            self.list.move_to((self.list.cursor + step) % rows)

    def action_faults(self) -> None:
        """Show only faults, or everything again."""
        self._want(replace(self.wish, faults=not self.wish.faults))

    def action_sort(self) -> None:
        """Sort by the next visible column; after the last, by none."""
        keys = [column.key for column in self.list.shown_columns]
        if self.wish.sort not in keys:
            self.sort_by(keys[0])
        elif self.wish.sort == keys[-1]:
            self._want(replace(self.wish, sort=None, descending=False))
        else:
            self.sort_by(keys[keys.index(self.wish.sort) + 1])

    def action_invert(self) -> None:
        """Turn the order around."""
        self._want(replace(self.wish, descending=not self.wish.descending))

    def sort_by(self, key: str) -> None:
        """Sort by a column, its own way at first; invert if it is the one already."""
        if self.wish.sort == key:
            self.action_invert()
        else:
            column = next(column for column in self.every_column if column.key == key)
            self._want(replace(self.wish, sort=key, descending=column.descending))

    def on_line_view_header_clicked(self, message: LineView.HeaderClicked) -> None:
        """Sort by a column; invert if it is the one already."""
        self.sort_by(message.key)

    # -- views ---------------------------------------------------------------------------------------

    @property
    def chosen_columns(self) -> tuple[Column[Row], ...]:
        """The columns that are shown where there is room."""
        return self._columns

    def choose_columns(self, columns: Sequence[Column[Row]]) -> None:
        """Show these columns; the list's own if there are none."""
        self._columns = tuple(columns) or self._own
        self.list.take_columns(self._columns_to_show())
        self.show_bars()

    def _columns_to_show(self) -> Sequence[Column[Row]]:
        """The chosen columns, and that which the list is sorted by, which is shown before others."""
        chosen = {column.key for column in self._columns}
        sort = self.wish.sort
        every = self._columns if sort in chosen else self.every_column
        return [
            replace(column, priority=0) if column.key == sort else column
            for column in every
            if column.key == sort or column.key in chosen
        ]

    def reset(self) -> None:
        """Show the list's own columns in its own order."""
        self.choose_columns(())
        self._want(replace(self.wish, sort=None, descending=False))

    def as_view(self, place: str) -> SavedView:
        """The list as it is arranged now, at a place as that is typed."""
        wish, own = self.wish, self._columns == self._own
        return SavedView(
            place=place,
            filter=wish.text.strip(),
            sort=wish.sort,
            descending=None if wish.sort is None else wish.descending,
            faults=wish.faults,
            columns=() if own else tuple(column.key for column in self._columns),
        )

    def arrange_as(self, view: SavedView) -> str:
        """Arrange the list as a view has it, as far as that can be; say what cannot, in words."""
        problems = [self.complaint(FILTER, view.filter)]
        column = None if view.sort is None else column_named(view.sort, self.every_column)
        if view.sort is not None and column is None:
            problems.append(f"no column {view.sort} to sort by")
        named = [(name, column_named(name, self.every_column)) for name in view.columns]
        problems += [f"no column {name}" for name, found in named if found is None]
        self.choose_columns([found for _, found in named if found is not None])
        natural = column is not None and column.descending
        self._want(
            ListState(
                sort=None if column is None else column.key,
                descending=natural if view.descending is None else view.descending,
                text=view.filter if not problems[0] else "",
                faults=view.faults,
            )
        )
        return "; ".join(filter(None, problems))

    def _want(self, wish: ListState) -> None:
        self.wish = wish
        if self.is_mounted:
            self.rearrange()


HEADER_LINES: Final = 1
NOTE_LINES: Final = 2
ROOM_BELOW: Final = 8
"""Lines, with the divider, that a pane under the list needs."""
ROOM_FOR_BRIEF: Final = 4
"""The same for a row in brief."""
PANE_AFTER: Final = 0.006
"""Seconds from a highlighted row to its details."""


class ListScreen(Arranged[Row]):
    """A list, and the row under the cursor in full in a pane.

    Args:
        place: Which place it is.
        app_state: What is known now.
        listing: What it lists.
    """

    keeps_pane: ClassVar[bool] = False
    """Whether the pane stays under a list that is longer than what is left."""
    has_brief: ClassVar[bool] = False
    """Whether ``brief`` tells a row in a few lines, for a list that leaves no more."""

    def __init__(self, place: Route, app_state: AppState, listing: Listing[Row]) -> None:
        super().__init__(place, app_state, listing)
        self._telling = False
        self._height: int | None = None
        self._is_brief = False
        self.pane = TextView(id="pane")
        self.set_class(listing.wide_pane, "-wide-pane")

    def detail(self, row: Row) -> Builder:
        """A row in full."""
        detail = self.listing.detail or partial(row_lines, self.resource)
        return lambda width: detail(row, width)

    def brief(self, row: Row) -> Builder:
        """A row in a few lines."""
        return self.detail(row)

    def place_of(self, row: Row) -> Route | None:
        """Where Enter leads."""
        return self.listing.leads(row)

    def hints(self) -> tuple[Hint, ...]:
        """The keys of the list, without Enter if the row leads nowhere, and without those of a row if there is none."""
        row, hints = self.list.highlighted, super().hints()
        leads = row is not None and (self.listing.enter is not None or self.place_of(row) is not None)
        left_out = set() if leads else {"open"} if row is not None else {"open", "trace"}
        return tuple(hint for hint in hints if hint_names(hint)[0] not in left_out)

    # -- the body ------------------------------------------------------------------------------------

    def compose_body(self) -> Iterable[Widget]:
        """The list and the pane."""
        yield Body(self.list, Divider(), self.pane, id="body")

    def show_body(self, app_state: AppState) -> None:
        """Show the rows of a moment."""
        self._all = self.rows_of(app_state)
        self.rearrange()
        self.refresh_detail()

    def rearrange(self) -> None:
        """Show the rows as the wish has them, with the pane where there is room."""
        super().rearrange()
        self._place_pane()

    def on_resize(self) -> None:
        """Put the pane where there is room."""
        self._place_pane()

    def _place_pane(self) -> None:
        """If it is too narrow for a pane beside the list, put it under a list that leaves room for it."""
        body = next(iter(self.query("#body")), None)
        # A poll may come before all of the screen is there; and some lists have no pane.
        if body is None or self.pane not in body.children:
            return
        height = self._height_over_pane(body.size.height) if self.has_class("-narrow") else None
        is_brief = height is not None and body.size.height - height < ROOM_BELOW
        if (height, is_brief) != (self._height, self._is_brief):
            self._height, self._is_brief = height, is_brief
            self.set_class(height is not None, "-below")
            body.children[0].styles.height = "1fr" if height is None else height
            self.refresh_detail()

    def _height_over_pane(self, room: int) -> int | None:
        """How many lines the list has over its pane; None if it has all of them."""
        rows = len(self.list.rows)
        lines = HEADER_LINES + (rows or NOTE_LINES)
        if (rows and lines <= room - ROOM_BELOW) or (self.keeps_pane and room > ROOM_BELOW + NOTE_LINES):
            return min(lines, room - ROOM_BELOW)
        return (
            min(lines, room - ROOM_FOR_BRIEF)
            if self.has_brief and rows and room > 2 * ROOM_FOR_BRIEF
            else None
        )

    def on_line_view_highlighted(self) -> None:
        """Tell the row under the cursor, a little later: the key must be answered first, and keys come in rows."""
        if not self._telling:
            self._telling = True
            self.set_timer(PANE_AFTER, self._refresh_pane_after)

    def _refresh_pane_after(self) -> None:
        self._telling = False
        self.refresh_detail()
        self.show_bars()

    def refresh_detail(self) -> None:
        """Fill the pane."""
        self.pane.show(self.about())

    def on_line_view_chosen(self) -> None:
        """Go where the row leads."""
        row = self.list.highlighted
        if row is None:
            self.console.say("there is no row to open")
        elif self.listing.enter is not None:
            self.listing.enter(self, row)
        elif (place := self.place_of(row)) is not None:
            self.console.go(place)
        else:
            self.console.say(self.listing.leads_nowhere)

    def stream_name(self) -> str | None:
        """The stream of the row under the cursor."""
        row = self.list.highlighted
        if row is not None and self.listing.stream is not None:
            return self.listing.stream(row)
        place = None if row is None else self.place_of(row)
        return getattr(place, "stream", None) or super().stream_name()

    def entry_at(self) -> tuple[str, EntryId] | None:
        """The entry of the row under the cursor."""
        row = self.list.highlighted
        place = None if row is None else self.place_of(row)
        return None if place is None else entry_of(place)

    def selection(self) -> Selection | None:
        """The row under the cursor, or what the place is about if it has no rows; nothing if a filter hides them all."""
        row = self.list.highlighted
        if row is None and self.is_filtered:
            return None
        if self.listing.selects is not None:
            return None if row is None else self.listing.selects(row)
        return self.selection_of(None if row is None else self.place_of(row))

    def copyable(self) -> str | None:
        """The name of the row under the cursor."""
        row = self.list.highlighted
        return None if row is None else self.resource.name_of(row)

    def about(self) -> Builder:
        """What the pane tells."""
        row = self.list.highlighted
        if row is None:
            return no_lines
        return self.brief(row) if self._is_brief else self.detail(row)

    def focus_place(self) -> Route:
        """Where the row under the cursor leads."""
        row = self.list.highlighted
        return (None if row is None else self.place_of(row)) or self.place

    def explain(self) -> Builder:
        """What the pane tells where it has room."""
        row = self.list.highlighted
        return self.detail(row) if self._is_brief and row is not None else self.about()

    def numbers(self) -> Builder:
        """What each number of the row under the cursor is, means, and comes from."""
        row, columns = self.list.highlighted, self.every_column
        return no_lines if row is None else lambda width: column_lines(columns, row, width)
