"""A long list of rows that costs what is visible of it."""

from collections.abc import Callable, Hashable, Sequence
from math import inf
from time import monotonic
from typing import ClassVar, Final, Generic, NamedTuple, TypeVar

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from streamops.resources.table import Align, Cell, Column, Tone
from streamops.tui.keys import bindings
from streamops.tui.theme import Background
from streamops.tui.widgets.layout import Layout, PlacedColumn
from streamops.tui.widgets.paint import Painted, brush_of, fit, wrap

Row = TypeVar("Row")
HEADER_LINES: Final = 1
SCROLLBAR: Final = 1
THUMB: Final = "▐"
MARK: Final = "●"
WHEEL_ROWS: Final = 3
KEPT_STRIPS: Final = 512
SORT_MARKS: Final = {False: "▴", True: "▾"}


class Drawn(NamedTuple, Generic[Row]):
    """What a line shows, or is to show.

    Attributes:
        row: Its row.
        ground: What that stands on.
        thumb: Whether the scrollbar's thumb is beside it.
    """

    row: Row
    ground: Background
    thumb: bool


class LineView(Painted, Generic[Row], can_focus=True):
    """Rows under columns, drawn line by line: only visible rows become cells, only changed lines are redrawn.

    It scrolls by itself: Textual's scrolling lays out the screen again for every step and whenever the
    number of rows changes.

    Args:
        columns: The columns; those that do not fit are left out by their priority.
        identify: What makes a row the same row in the next observation.
        id: The widget's ID.

    Attributes:
        moved_at: When a person last moved the cursor, on this machine's monotonic clock.
    """

    DEFAULT_CSS = """
    LineView { width: 1fr; height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        up="move(-1)",
        down="move(1)",
        page_up="page(-1)",
        page_down="page(1)",
        first="top",
        last="bottom",
        open="choose",
    )

    class Highlighted(Message):
        """The cursor stands on another row, or on the same row read again."""

    class Chosen(Message):
        """Enter, or a second click, on the highlighted row; there may be none."""

    class HeaderClicked(Message):
        """A click on a column's title.

        Attributes:
            key: The column's key.
        """

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        identify: Callable[[Row], Hashable],
        *,
        id: str | None = None,  # noqa: A002 - Textual's word
    ) -> None:
        super().__init__(id=id)
        self._identify = identify
        self._view = Viewport(identify)
        self._grid = Layout(columns, identify)
        self.moved_at = -inf
        self._note = ""
        self._sorted: tuple[str, bool] | None = None
        self._drawn: Sequence[Drawn[Row]] = ()
        self._strips: dict[tuple[int, Background, bool], tuple[Row, Strip]] = {}
        self._marks: frozenset[Hashable] = frozenset()

    # -- what it shows -------------------------------------------------------------------------------

    @property
    def rows(self) -> Sequence[Row]:
        """The rows, in the order shown."""
        return self._view.rows

    @property
    def cursor(self) -> int:
        """The place of the highlighted row, from 0."""
        return self._view.cursor

    @property
    def highlighted(self) -> Row | None:
        """The row under the cursor; None if there are no rows."""
        return self._view.highlighted

    @property
    def shown_columns(self) -> tuple[Column[Row], ...]:
        """The columns that fit."""
        return tuple(placed.column for placed in self._grid.placed)

    def show(self, rows: Sequence[Row], *, note: str = "", sorted_by: tuple[str, bool] | None = None) -> None:
        """Show other rows, or the same rows read again.

        Args:
            rows: The rows in their order.
            note: What to say if there are none.
            sorted_by: Key of the column they are sorted by and whether descending; none for their own order.
        """
        anchor = self.highlighted
        same_words = (note, sorted_by) == (self._note, self._sorted)
        self._note, self._sorted = note, sorted_by
        self._view.take(rows)
        if self._place() or not same_words:
            self.refresh()
        self._draw_changed()
        if self.highlighted is not anchor:
            self.post_message(self.Highlighted())

    def keeps_lines(self, rows: Sequence[Row]) -> bool:
        """Whether each line of the screen would have the row that it has now."""
        visible, top = self._view.visible, self._view.top
        there = rows[top : top + len(visible)]
        return [*map(self._identify, visible)] == [*map(self._identify, there)]

    def take_columns(self, columns: Sequence[Column[Row]]) -> None:
        """Show other columns of the same rows."""
        self._grid = Layout(columns, self._identify)
        self._place()
        self._strips.clear()
        self.refresh()
        self._draw_changed()

    @property
    def marks(self) -> frozenset[Hashable]:
        """The identities of the rows that are marked."""
        return self._marks

    def mark(self, marks: frozenset[Hashable]) -> None:
        """Draw a mark before the rows of these identities."""
        self._marks = marks
        self.redraw()

    def redraw(self) -> None:
        """Draw lines again of which cells say something else, though their rows are the same: a scale or the time changed."""
        before, self._strips = self._strips, {}
        width = self.size.width
        changed = []
        for y, (row, ground, thumb) in enumerate(self._drawn, HEADER_LINES):
            known = before.get((id(row), ground, thumb))
            if known is None or known[1] != self._strip(row, ground, thumb, width):
                changed.append(Region(0, y, width, 1))
        if changed:
            self.refresh(*changed)

    def move_to(self, place: int) -> None:
        """Put the cursor on a row by its place, as near as there is one."""
        self.moved_at = monotonic()
        top = self._view.top
        if self._view.move_to(place):
            if self._view.top != top and self._place():
                self.refresh()
            self._draw_changed()
            self.post_message(self.Highlighted())

    # -- drawing -------------------------------------------------------------------------------------

    def draw_line(self, y: int, width: int) -> Strip:
        """Draw the titles, a row, or the note if there are none."""
        if y == 0:
            return self._header(width)
        if y <= len(self._drawn):
            return self._strip(*self._drawn[y - HEADER_LINES], width)
        return brush_of(self).line((Cell(self._note_words(y - HEADER_LINES - 1, width), Tone.DIM),), width)

    def _note_words(self, line: int, width: int) -> str:
        """A line of the note that stands if there are no rows."""
        if self._drawn or line < 0 or not self._note:
            return ""
        pieces = wrap(self._note, max(width - SCROLLBAR - 2, 1))
        return f" {pieces[line]}" if line < len(pieces) else ""

    def notify_style_update(self) -> None:
        """Forget drawn lines: the theme or the focus changed."""
        self._strips.clear()
        super().notify_style_update()

    def on_resize(self) -> None:
        """Place the columns again."""
        self._view.resize(self.size.height - HEADER_LINES)
        self._place()
        self.refresh()
        self._draw_changed()

    def watch_has_focus(self, _has_focus: bool) -> None:  # noqa: FBT001 - Textual's own signature
        """Draw the cursor as the one that keys move, or as one that waits: the events come before that is so."""
        super().watch_has_focus(_has_focus)
        self._draw_changed()

    def _to_draw(self) -> list[Drawn[Row]]:
        """What the visible lines under the header are to show."""
        cursor = Background.CURSOR if self.has_focus else Background.CURSOR_IDLE
        thumb, at = self._view.thumb(), self._view.cursor - self._view.top
        return [
            Drawn(row, cursor if line == at else Background.PAGE, line in thumb)
            for line, row in enumerate(self._view.visible)
        ]

    def _strip(self, row: Row, ground: Background, thumb: bool, width: int) -> Strip:  # noqa: FBT001 - unpacked from Drawn
        key = (id(row), ground, thumb)
        known = self._strips.get(key)
        if known is not None and known[0] is row:
            return known[1]
        strip = self._draw(row, ground, width, thumb=thumb)
        if len(self._strips) >= KEPT_STRIPS:
            self._strips.clear()
        self._strips[key] = (row, strip)
        return strip

    def _draw(self, row: Row, ground: Background, width: int, *, thumb: bool) -> Strip:
        brush = brush_of(self)
        space = brush.style(Cell(""), ground)
        segments: list[Segment] = []
        at = 0
        for column, start, column_width in self._grid.placed:
            cell = column.cell(row)
            if start > at:
                segments.append(Segment(" " * (start - at), space))
            segments.append(Segment(fit(cell.text, column_width, column.align), brush.style(cell, ground)))
            at = start + column_width
        if segments and self._marks and self._identify(row) in self._marks:
            segments[0] = Segment(MARK, brush.style(Cell("", Tone.OK), ground))
        line = brush.fitted(segments, width - SCROLLBAR, ground)
        scrollbar = Segment(THUMB, brush.faint()) if thumb else Segment(" ", space)
        return Strip([*line, scrollbar], width)

    def _header(self, width: int) -> Strip:
        line = ""
        for placed in self._grid.placed:
            line = self._title(line, placed)
        return brush_of(self).line((Cell(line, Tone.DIM),), width)

    def _title(self, line: str, placed: PlacedColumn) -> str:
        """Add a column's title; the mark of a sorted column takes a cell of the gap beside it."""
        column, start, width = placed
        mark = SORT_MARKS[self._sorted[1]] if self._sorted and self._sorted[0] == column.key else ""
        if column.align is Align.RIGHT:
            start, width, text = start - len(mark), width + len(mark), mark + column.title
        else:
            width, text = width + len(mark), column.title + mark
        return line.ljust(start) + fit(text, width, column.align)

    def _place(self) -> bool:
        """Place the columns again where anything about them changed; say whether it did."""
        moved = self._grid.fit(self.rows, self._view.visible, max(self.size.width - SCROLLBAR, 0))
        if moved:
            self._strips.clear()
        if not self._grid.is_settled:
            self.call_after_refresh(self._place_rest)
        return moved

    def _place_rest(self) -> None:
        """Place the columns for all rows, once the first are on the screen."""
        if self._grid.measure_rest(max(self.size.width - SCROLLBAR, 0)):
            self._strips.clear()
            self.refresh()

    def _draw_changed(self) -> None:
        """Have those lines drawn again that are to show something else than they do."""
        before, self._drawn = self._drawn, self._to_draw()
        if len(before) != len(self._drawn):
            self.refresh()
            return
        width = self.size.width
        changed = [
            Region(0, y, width, 1)
            for y, (old, new) in enumerate(zip(before, self._drawn, strict=True), HEADER_LINES)
            if old.row is not new.row or old[1:] != new[1:]
        ]
        if changed:
            self.refresh(*changed)

    # -- keys and mouse ------------------------------------------------------------------------------

    def action_move(self, step: int) -> None:
        """Move the cursor by rows."""
        self.move_to(self.cursor + step)

    def action_page(self, step: int) -> None:
        """Move the cursor by pages."""
        self.move_to(self.cursor + step * self._view.page)

    def action_top(self) -> None:
        """Move to the first row."""
        self.move_to(0)

    def action_bottom(self) -> None:
        """Move to the last row."""
        self.move_to(len(self.rows) - 1)

    def action_choose(self) -> None:
        """Open the highlighted row."""
        self.post_message(self.Chosen())

    def on_mouse_scroll_down(self) -> None:
        """Move the cursor down by some rows."""
        self.action_move(WHEEL_ROWS)

    def on_mouse_scroll_up(self) -> None:
        """Move the cursor up by some rows."""
        self.action_move(-WHEEL_ROWS)

    def on_click(self, event: events.Click) -> None:
        """Highlight the row clicked, open it on a second click, or sort by the title clicked."""
        line = event.y - HEADER_LINES
        place = self._view.top + line
        if line < 0:
            self._click_header(event.x)
        elif event.x >= self.size.width - SCROLLBAR:
            self.move_to(line * len(self.rows) // self._view.page)
        elif place == self.cursor and event.chain > 1:
            self.action_choose()
        elif place < len(self.rows):
            self.move_to(place)

    def _click_header(self, x: int) -> None:
        for column, start, width in self._grid.placed:
            if start <= x < start + width:
                self.post_message(self.HeaderClicked(column.key))


class Viewport(Generic[Row]):
    """A cursor on rows, and a window of so many lines that always holds it.

    The cursor stands on a row's identity, so that it stays with its row when rows are sorted, filtered
    or replaced. Until it is first moved it stays at the top.

    Args:
        identify: What makes a row the same row in the next observation.

    Attributes:
        rows: The rows, in the order shown.
        cursor: The place of the highlighted row, from 0.
        top: The place of the first visible row, from 0.
        page: How many rows are visible.
    """

    def __init__(self, identify: Callable[[Row], Hashable]) -> None:
        self.rows: Sequence[Row] = ()
        self.cursor = 0
        self.top = 0
        self.page = 1
        self._identify = identify
        self._untouched = True

    @property
    def highlighted(self) -> Row | None:
        """The row under the cursor; None if there are no rows."""
        return self.rows[self.cursor] if self.cursor < len(self.rows) else None

    @property
    def visible(self) -> Sequence[Row]:
        """The rows in the window."""
        return self.rows[self.top : self.top + self.page]

    def take(self, rows: Sequence[Row]) -> None:
        """Take other rows: the cursor follows its row, or stays near where that was."""
        anchor, line = self.highlighted, self.cursor - self.top
        self.rows = rows
        if anchor is None or self._untouched:
            self.cursor = 0
        elif (found := self.find(self._identify(anchor))) is not None:
            # The row moved, not the person: it stays on the line of the screen if it was.
            self.cursor, self.top = found, found - line
        else:
            self.cursor = self._nearest(self.cursor)
        self._keep_visible()

    def resize(self, page: int) -> None:
        """Make the window so many rows high."""
        self.page = max(page, 1)
        self._keep_visible()

    def move_to(self, place: int) -> bool:
        """Put the cursor on a row by its place, as near as there is one; say whether it moved."""
        self._untouched = False
        before, self.cursor = self.cursor, self._nearest(place)
        self._keep_visible()
        return self.cursor != before

    def find(self, identity: Hashable) -> int | None:
        """The place of a row by its identity; None if it is not there."""
        identify = self._identify
        if self.cursor < len(self.rows) and identify(self.rows[self.cursor]) == identity:
            return self.cursor
        return next((place for place, row in enumerate(self.rows) if identify(row) == identity), None)

    def thumb(self) -> range:
        """The lines beside which a scrollbar's thumb stands; None if everything is visible."""
        rows = len(self.rows)
        if rows <= self.page:
            return range(0)
        length = max(self.page * self.page // rows, 1)
        start = (self.page - length) * self.top // (rows - self.page)
        return range(start, start + length)

    def _nearest(self, place: int) -> int:
        return max(min(place, len(self.rows) - 1), 0)

    def _keep_visible(self) -> None:
        lowest = min(self.cursor, len(self.rows) - self.page)
        self.top = max(min(self.top, lowest), self.cursor - self.page + 1, 0)
