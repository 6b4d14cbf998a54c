"""A list whose rows can be marked, so that an action takes several at once."""

from abc import abstractmethod
from collections.abc import Hashable, Iterable
from typing import TypeVar

from msgspec.structs import replace

from streamops.resources.table import Cell, Tone
from streamops.resources.units import count
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.rows.selection import Selection, together
from streamops.tui.screens.listing import Listing, ListScreen
from streamops.tui.widgets.paint import Line

Row = TypeVar("Row")


class Marking(ListScreen[Row]):
    """A list of entries. Marks stay with their rows, and go with them."""

    def __init__(
        self,
        place: Route,
        app_state: AppState,
        listing: Listing[Row],
    ) -> None:
        super().__init__(place, app_state, listing)
        self._together: tuple[object, Selection | None] = (None, None)
        self._hidden: tuple[object, object, int] = (None, None, 0)

    def show_body(self, app_state: AppState) -> None:
        """Show the rows; marks of rows that are gone go too."""
        super().show_body(app_state)
        if self.list.marks:
            here = {self.resource.key(row) for row in self._all}
            if not self.list.marks <= here:
                self.list.mark(self.list.marks & here)

    def action_mark(self) -> None:
        """Mark the row under the cursor, or unmark it, and go to the next one."""
        row = self.list.highlighted
        if row is not None:
            self.mark(self.list.marks ^ {self.resource.key(row)})
            self.list.move_to(self.list.cursor + 1)
            self.show_bars()

    def action_mark_all(self) -> None:
        """Mark all rows that are shown: those that the filter lets through. Once more, all there are."""
        shown = {self.resource.key(row) for row in self.list.rows}
        if shown and shown <= self.list.marks:
            self.mark_whole()
        else:
            self.list.mark(self.list.marks | shown)
        self.show_bars()

    def mark(self, keys: frozenset[Hashable]) -> None:
        """Mark these rows and no others."""
        self.list.mark(keys)

    def mark_whole(self) -> None:
        """All rows that are shown are marked, and more is asked for: lists that know of more take it."""

    def action_mark_others(self) -> None:
        """Mark those of the rows shown that are not marked, and unmark those that are."""
        self.mark(self.list.marks ^ {self.resource.key(row) for row in self.list.rows})
        self.show_bars()

    def action_unmark(self) -> None:
        """Take all marks away."""
        self.mark(frozenset())
        self.show_bars()

    @property
    def is_marked(self) -> bool:
        """Whether anything is marked."""
        return bool(self.list.marks)

    def cancel(self) -> bool:
        """Take the marks away before filters, and before the screen is left."""
        if self.is_marked:
            self.action_unmark()
            return True
        return super().cancel()

    def selection(self) -> Selection | None:
        """The marked rows, else those that the filter shows, else the one under the cursor.

        Nothing if none is shown: these lists hold the parts of something, and an action never takes all of it by itself.
        """
        marks, shown = self.list.marks, self.list.rows
        if marks:
            taken = self._rows_together(marks, (row for row in self._all if self.resource.key(row) in marks))
            return taken and replace(taken, chosen=f"{count(len(marks))} marked of {count(len(self._all))}")
        if not shown:
            return None
        if self.is_filtered:
            taken = self._rows_together(shown, shown)
            return taken and replace(taken, chosen=f"{count(len(shown))} shown of {count(len(self._all))}")
        return super().selection()

    def _rows_together(self, key: object, rows: Iterable[Row]) -> Selection | None:
        """Rows as one subject, made once for a key: it is asked for with every move of the cursor."""
        if self._together[0] is not key:
            self._together = (key, together(self.selection_of(self.place_of(row)) for row in rows))
        return self._together[1]

    def selection_words(self) -> Line:
        """How many are marked, beside the filter."""
        marks, words = self.list.marks, super().selection_words()
        if not marks:
            return words
        hidden = self._hidden_marks()
        beyond = f", {count(hidden)} of them not shown" if hidden else ""
        return (Cell(f"● {count(len(marks))} marked{beyond}  ", Tone.OK), *words)

    def _hidden_marks(self) -> int:
        """How many marks stand on rows that the filter hides; counted again only if marks or rows changed."""
        marks, rows = self.list.marks, self.list.rows
        if self._hidden[0] is not marks or self._hidden[1] is not rows:
            self._hidden = (marks, rows, len(marks - {self.resource.key(row) for row in rows}))
        return self._hidden[2]


class WholeMarking(Marking[Row]):
    """``*`` marks what is shown, and ``*`` again takes all that there is, whether or not it is listed.

    A filter of words knows nothing of what is not listed: with one, marks stay with rows.
    """

    def __init__(
        self,
        place: Route,
        app_state: AppState,
        listing: Listing[Row],
    ) -> None:
        super().__init__(place, app_state, listing)
        self.whole = False

    @abstractmethod
    def whole_selection(self) -> Selection:
        """All of it."""

    def whole_words(self) -> str:
        """What is marked then."""
        return "the whole queue"

    def selection(self) -> Selection | None:
        """All of it, else what other lists of rows take."""
        return self.whole_selection() if self.whole else super().selection()

    def selection_words(self) -> Line:
        """What is marked, beside the filter."""
        if self.whole:
            return (Cell(f"● {self.whole_words()} marked  ", Tone.WARN),)
        return super().selection_words()

    def mark_whole(self) -> None:
        """Take all of it, unless the list is filtered."""
        self.whole = not self.is_filtered

    def mark(self, keys: frozenset[Hashable]) -> None:
        """Mark rows: from then on it is by rows again."""
        self.whole = False
        super().mark(keys)

    @property
    def is_marked(self) -> bool:
        """Whether all of it or any row is marked."""
        return self.whole or super().is_marked

    def rearrange(self) -> None:
        """Filter and sort; what is filtered is marked by rows."""
        self.whole = self.whole and not self.is_filtered
        super().rearrange()
