"""A screen with a list: sort, filter, faults only, and a pane that tells the row under the cursor in full."""

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, TypeVar

from textual.widget import Widget

from streamops.model.ids import EntryId
from streamops.present.table import Column
from streamops.tui.asking import Go
from streamops.tui.bars import Divider
from streamops.tui.body import Body
from streamops.tui.details import column_lines
from streamops.tui.moment import Moment
from streamops.tui.places import Place, entry_of
from streamops.tui.screens.arranged import Arranged
from streamops.tui.subjects import Subject, holds_dead_letters, subject_at
from streamops.tui.text_view import Builder, TextView, no_lines

Row = TypeVar("Row")

TELL_AFTER: Final = 0.006
"""Seconds from a highlighted row to its details."""


class Listing(Arranged[Row]):
    """A list and its pane. Subclasses say what a row is.

    Args:
        place: Which place it is.
        moment: What is known now.
        columns: The columns of the list.
        more: Columns that can be compared and sorted by too, and are shown where somebody asks for them.
    """

    HINTS: ClassVar[tuple[tuple[str, str], ...]] = (
        ("enter", "open"),
        ("/", "filter"),
        ("f", "faults"),
        ("o", "sort"),
    )

    def __init__(
        self,
        place: Place,
        moment: Moment,
        columns: Sequence[Column[Row]],
        more: Sequence[Column[Row]] = (),
    ) -> None:
        super().__init__(place, moment, columns, more)
        self._telling = False
        self.pane = TextView(id="pane")

    # -- what subclasses say -------------------------------------------------------------------------

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

    # -- the body ------------------------------------------------------------------------------------

    def compose_body(self) -> Iterable[Widget]:
        """The list and the pane."""
        yield Body(self.list, Divider(), self.pane, id="body")

    def show_body(self, moment: Moment) -> None:
        """Show the rows of a moment."""
        self._all = self.rows_of(moment)
        self.rearrange()
        self.tell()

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

    def stream_name(self) -> str | None:
        """The stream of the row under the cursor."""
        row = self.list.highlighted
        place = None if row is None else self.place_of(row)
        return getattr(place, "stream", None) or super().stream_name()

    def entry_at(self) -> tuple[str, EntryId] | None:
        """The entry of the row under the cursor."""
        row = self.list.highlighted
        place = None if row is None else self.place_of(row)
        return None if place is None else entry_of(place)

    def subject(self) -> Subject | None:
        """The row under the cursor, or what the place is about if it has no rows; nothing if a filter hides them all."""
        row = self.list.highlighted
        if row is None and self.is_filtered:
            return None
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

    def focus_place(self) -> Place:
        """Where the row under the cursor leads."""
        row = self.list.highlighted
        return (None if row is None else self.place_of(row)) or self.place

    def explain(self) -> Builder:
        """What the pane tells."""
        return self.about()

    def numbers(self) -> Builder:
        """What each number of the row under the cursor is, means, and comes from."""
        row, columns = self.list.highlighted, self.every_column
        return no_lines if row is None else lambda width: column_lines(columns, row, width)
