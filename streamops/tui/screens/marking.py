"""A list whose rows can be marked, so that an action takes several at once."""

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType

from streamops.present.table import Cell, Column, Tone
from streamops.present.units import count
from streamops.tui.moment import Moment
from streamops.tui.paint import Line
from streamops.tui.places import Place
from streamops.tui.screens.listing import Listing
from streamops.tui.subjects import Subject, together

Row = TypeVar("Row")


class Marking(Listing[Row]):
    """A list of entries. Marks stay with their rows, and go with them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "mark", "mark", show=False),
        Binding("asterisk", "mark_all", "mark all shown", show=False),
        Binding("u", "unmark", "unmark all", show=False),
    ]

    def __init__(self, place: Place, moment: Moment, columns: Sequence[Column[Row]]) -> None:
        super().__init__(place, moment, columns)
        self._together: tuple[object, Subject | None] = (None, None)

    def show_body(self, moment: Moment) -> None:
        """Show the rows; marks of rows that are gone go too."""
        super().show_body(moment)
        if self.list.marks:
            here = {self.identify(row) for row in self._all}
            if not self.list.marks <= here:
                self.list.mark(self.list.marks & here)

    def action_mark(self) -> None:
        """Mark the row under the cursor, or unmark it, and go to the next one."""
        row = self.list.highlighted
        if row is not None:
            self.list.mark(self.list.marks ^ {self.identify(row)})
            self.list.move_to(self.list.cursor + 1)
            self.show_bars()

    def action_mark_all(self) -> None:
        """Mark all rows that are shown: those that the filter lets through."""
        self.list.mark(self.list.marks | {self.identify(row) for row in self.list.rows})
        self.show_bars()

    def action_unmark(self) -> None:
        """Take all marks away."""
        self.list.mark(frozenset())
        self.show_bars()

    def cancel(self) -> bool:
        """Take the marks away before filters, and before the screen is left."""
        if self.list.marks:
            self.action_unmark()
            return True
        return super().cancel()

    def subject(self) -> Subject | None:
        """The marked rows, else the one under the cursor."""
        marks = self.list.marks
        if not marks:
            return super().subject()
        # It is asked for with every move of the cursor, and there may be thousands of marks.
        if self._together[0] is not marks:
            places = (self.place_of(row) for row in self._all if self.identify(row) in marks)
            self._together = (marks, together([self.subject_of(place) for place in places]))
        return self._together[1]

    def selection_words(self) -> Line:
        """How many are marked, beside the filter."""
        marks = len(self.list.marks)
        words = super().selection_words()
        return (Cell(f"● {count(marks)} marked  ", Tone.OK), *words) if marks else words
