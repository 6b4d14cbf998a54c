"""A screen with a list: sort, filter, faults only, and a pane that tells the row under the cursor in full."""

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from typing import ClassVar, Final, Generic, TypeVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widget import Widget

from streamops.present.table import Cell, Column, Tone
from streamops.present.text import safe
from streamops.present.units import count
from streamops.tui import words
from streamops.tui.asking import Go
from streamops.tui.bars import Divider
from streamops.tui.details import column_lines
from streamops.tui.line_view import LineView
from streamops.tui.moment import Moment
from streamops.tui.ordering import Ordering, Wish
from streamops.tui.paint import BLANK_LINE, Line
from streamops.tui.places import Place
from streamops.tui.prompt import Prompt
from streamops.tui.screens.frame import Frame
from streamops.tui.subjects import Subject, holds_dead_letters, subject_at
from streamops.tui.text_view import Builder, TextView, no_lines

Row = TypeVar("Row")

TELL_AFTER: Final = 0.006
"""Seconds from a highlighted row to its details."""


class Listing(Frame, Generic[Row]):
    """A list and its pane. Subclasses say what a row is.

    Args:
        place: Which place it is.
        moment: What is known now.
        columns: The columns of the list.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "filter", show=False),
        Binding("n", "match(1)", "next match", show=False),
        Binding("b", "match(-1)", "previous match", show=False),
        Binding("f", "faults", "faults only", show=False),
        Binding("o", "sort", "sort by the next column", show=False),
        Binding("i", "invert", "invert the order", show=False),
    ]
    HINTS: ClassVar[tuple[tuple[str, str], ...]] = (
        ("enter", "open"),
        ("/", "filter"),
        ("f", "faults"),
        ("o", "sort"),
    )

    def __init__(self, place: Place, moment: Moment, columns: Sequence[Column[Row]]) -> None:
        super().__init__(place, moment)
        self.wish = Wish()
        self._columns = tuple(columns)
        self._ordering = Ordering(columns, self.text_of, self.is_fault)
        self._all: Sequence[Row] = ()
        self._telling = False
        self.list = LineView[Row](columns, self.identify, id="main")
        self.pane = TextView(id="pane")

    # -- what subclasses say -------------------------------------------------------------------------

    @abstractmethod
    def rows_of(self, moment: Moment) -> Sequence[Row]:
        """All rows of a moment; the very same sequence where nothing changed."""

    @abstractmethod
    def identify(self, row: Row) -> Hashable:
        """What makes a row the same row in the next moment."""

    @abstractmethod
    def text_of(self, row: Row) -> str:
        """The words a filter looks at."""

    def is_fault(self, row: Row) -> bool:
        """Whether a row has a fault."""
        del row
        return False

    def detail(self, row: Row) -> Builder:
        """A row told in full."""
        del row
        return no_lines

    def place_of(self, row: Row) -> Place | None:
        """Where Enter leads."""
        del row
        return None

    def name_of(self, row: Row) -> str | None:
        """What ``y`` copies."""
        del row
        return None

    def empty_note(self) -> str:
        """Why there are no rows at all."""
        return "nothing here"

    # -- the body ------------------------------------------------------------------------------------

    def compose_body(self) -> Iterable[Widget]:
        """The list and the pane."""
        yield Container(self.list, Divider(), self.pane, id="body")

    def show_body(self, moment: Moment) -> None:
        """Show the rows of a moment."""
        self._all = self.rows_of(moment)
        self.rearrange()
        self.tell()

    def rearrange(self) -> None:
        """Show the rows as the wish has them."""
        wish = self.wish
        rows = self._ordering.arrange(self._all, wish)
        sorted_by = (wish.sort, wish.descending) if wish.sort else None
        self.list.show(rows, note=self._note(), sorted_by=sorted_by)
        self.show_bars()

    def on_line_view_highlighted(self) -> None:
        """Tell the row under the cursor, a little later: the key must be answered first, and keys come in rows."""
        if not self._telling:
            self._telling = True
            self.set_timer(TELL_AFTER, self._tell_after)

    def _tell_after(self) -> None:
        self._telling = False
        self.tell()
        self.show_bars()

    def tell(self) -> None:
        """Fill the pane."""
        self.pane.show(self.about())

    def on_line_view_chosen(self) -> None:
        """Go where the row leads."""
        row = self.list.highlighted
        place = None if row is None else self.place_of(row)
        if place is not None:
            self.post_message(Go(place))

    def on_line_view_header_clicked(self, message: LineView.HeaderClicked) -> None:
        """Sort by a column; invert where it is the one already."""
        if self.wish.sort == message.key:
            self.action_invert()
        else:
            self._sort_by(message.key)

    def stream_name(self) -> str | None:
        """The stream of the row under the cursor."""
        row = self.list.highlighted
        place = None if row is None else self.place_of(row)
        return getattr(place, "stream", None) or super().stream_name()

    def subject(self) -> Subject | None:
        """The row under the cursor, or what the place is about where there is none."""
        row = self.list.highlighted
        return self.subject_of(None if row is None else self.place_of(row))

    def subject_of(self, place: Place | None) -> Subject | None:
        """What a row leads to, as a subject; the place itself where there is no row."""
        place = place or self.place
        stream = getattr(place, "stream", None)
        if stream is None:
            return None
        dead = holds_dead_letters(self.moment.observation, stream)
        return subject_at(place, dead_letters=dead)

    def copyable(self) -> str | None:
        """The name of the row under the cursor."""
        row = self.list.highlighted
        return None if row is None else self.name_of(row)

    def about(self) -> Builder:
        """What the pane tells."""
        row = self.list.highlighted
        return no_lines if row is None else self.detail(row)

    def explain(self) -> Builder:
        """What the pane tells, then what each number of the row under the cursor means."""
        about, row, columns = self.about(), self.list.highlighted, self._columns
        if row is None:
            return about
        return lambda width: [*about(width), *column_lines(columns, row, width)]

    # -- what the bars say ---------------------------------------------------------------------------

    def selection_words(self) -> Line:
        """The filter and faults only."""
        parts: list[str] = []
        if self.wish.faults:
            parts.append("faults only")
        if self.wish.text.strip():
            parts.append(f"/{safe(self.wish.text)}")
        if not parts:
            return BLANK_LINE
        shown = f"{count(len(self.list.rows))} of {count(len(self._all))}"
        return (Cell(f"{' · '.join(parts)}  ", Tone.WARN), Cell(f"{shown} ", Tone.DIM))

    def position_words(self) -> Line:
        """The cursor among the rows."""
        return words.position(self.list.cursor, len(self.list.rows))

    def _note(self) -> str:
        if not self._all:
            return self.empty_note()
        total = count(len(self._all))
        if self.wish.text.strip():
            return f"none of {total} rows holds {safe(self.wish.text)}; Esc shows all"
        return f"no faults among {total} rows; f shows all"

    # -- keys ----------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        """Ask for a filter."""
        self.open_prompt(Prompt("/", self.wish.text))

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
            self._sort_by(keys[0])
        elif self.wish.sort == keys[-1]:
            self._want(replace(self.wish, sort=None, descending=False))
        else:
            self._sort_by(keys[keys.index(self.wish.sort) + 1])

    def action_invert(self) -> None:
        """Turn the order around."""
        self._want(replace(self.wish, descending=not self.wish.descending))

    def _sort_by(self, key: str) -> None:
        column = next(column for column in self._columns if column.key == key)
        self._want(replace(self.wish, sort=key, descending=column.descending))

    def _want(self, wish: Wish) -> None:
        self.wish = wish
        self.rearrange()
