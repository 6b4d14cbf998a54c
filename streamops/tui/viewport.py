"""Where the cursor stands in a list, and which part of the list is visible. Pure."""

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

Row = TypeVar("Row")


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
        """The row under the cursor; none where there are no rows."""
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
            # The row moved, not the person: it stays on the line of the screen where it was.
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
        """The place of a row by its identity; none where it is not there."""
        identify = self._identify
        if self.cursor < len(self.rows) and identify(self.rows[self.cursor]) == identity:
            return self.cursor
        return next((place for place, row in enumerate(self.rows) if identify(row) == identity), None)

    def thumb(self) -> range:
        """The lines beside which a scrollbar's thumb stands; none where everything is visible."""
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
