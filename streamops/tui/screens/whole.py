"""A list that shows a part of something: marks take rows, and once more all of it."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar

from streamops.present.table import Cell, Column, Tone
from streamops.tui.moment import Moment
from streamops.tui.paint import Line
from streamops.tui.places import Place
from streamops.tui.screens.marking import Marking
from streamops.tui.subjects import Subject

Row = TypeVar("Row")


class WholeMarking(Marking[Row]):
    """``*`` marks what is shown, and ``*`` again takes all that there is, whether or not it is listed.

    A filter of words knows nothing of what is not listed: with one, marks stay with rows.
    """

    def __init__(
        self,
        place: Place,
        moment: Moment,
        columns: Sequence[Column[Row]],
        more: Sequence[Column[Row]] = (),
    ) -> None:
        super().__init__(place, moment, columns, more)
        self.whole = False

    @abstractmethod
    def whole_subject(self) -> Subject:
        """All of it."""

    def whole_words(self) -> str:
        """What is marked then."""
        return "the whole queue"

    def subject(self) -> Subject | None:
        """All of it, else what other lists of rows take."""
        return self.whole_subject() if self.whole else super().subject()

    def selection_words(self) -> Line:
        """What is marked, beside the filter."""
        if self.whole:
            return (Cell(f"● {self.whole_words()} marked  ", Tone.WARN),)
        return super().selection_words()

    def mark_whole(self) -> None:
        """Take all of it, unless the list is filtered."""
        self.whole = not self.is_filtered

    def action_mark(self) -> None:
        """Mark or unmark a row: from then on it is by rows again."""
        self.whole = False
        super().action_mark()

    def action_mark_others(self) -> None:
        """Mark the others: from then on it is by rows again."""
        self.whole = False
        super().action_mark_others()

    def action_unmark(self) -> None:
        """Take all marks away."""
        self.whole = False
        super().action_unmark()

    def rearrange(self) -> None:
        """Filter and sort; what is filtered is marked by rows."""
        self.whole = self.whole and not self.is_filtered
        super().rearrange()

    def cancel(self) -> bool:
        """Take the marks away before filters, and before the screen is left."""
        if self.whole:
            self.action_unmark()
            return True
        return super().cancel()
