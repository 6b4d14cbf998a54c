"""Which rows a list shows and in which order. Pure, and cheap where little changed."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct

from streamops.present.table import Column
from streamops.tui.remember import Remembered

Row = TypeVar("Row")


class Wish(Struct, frozen=True):
    """What a person asked a list for.

    Attributes:
        sort: Key of the column to sort by; none for the order the rows come in.
        descending: Whether the greatest comes first.
        text: Words that a row must hold, ``!word`` for one that it must not; case is ignored.
        faults: Whether only rows with a fault are shown.
    """

    sort: str | None = None
    descending: bool = False
    text: str = ""
    faults: bool = False


class Ordering(Generic[Row]):
    """Sorts and filters rows, and remembers what did not change.

    Args:
        columns: The columns a list can be sorted by.
        text_of: The words of a row that a filter looks at.
        is_fault: Whether a row has a fault.
    """

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        text_of: Callable[[Row], str],
        is_fault: Callable[[Row], bool],
    ) -> None:
        self._columns = {column.key: column for column in columns}
        self._keys: dict[str, Remembered[Row, tuple[bool, Any]]] = {}
        self._texts = Remembered[Row, str](lambda row: text_of(row).casefold())
        self._is_fault = is_fault
        self._last: tuple[Sequence[Row], Wish, Sequence[Row]] | None = None

    def arrange(self, rows: Sequence[Row], wish: Wish) -> Sequence[Row]:
        """The rows that the wish selects, in the order it asks for."""
        if self._last is not None and self._last[0] is rows and self._last[1] == wish:
            return self._last[2]
        arranged = self._sorted(rows, wish)
        if wish.text.strip():
            arranged = self._matching(rows, arranged, wish.text)
        if wish.faults:
            arranged = [row for row in arranged if self._is_fault(row)]
        self._last = (rows, wish, arranged)
        return arranged

    def _sorted(self, rows: Sequence[Row], wish: Wish) -> Sequence[Row]:
        column = self._columns.get(wish.sort or "")
        if column is None:
            return rows[::-1] if wish.descending else rows
        # Keys of one column at a time: another column's would be out of date when it is chosen again.
        if column.key not in self._keys:
            self._keys = {column.key: Remembered(column.order)}
        keys = self._keys[column.key].values(rows)
        order = sorted(range(len(rows)), key=keys.__getitem__, reverse=wish.descending)
        return [rows[index] for index in order]

    def _matching(self, rows: Sequence[Row], arranged: Sequence[Row], text: str) -> Sequence[Row]:
        texts = self._texts.values(rows)
        if arranged is not rows:
            by_row = {id(row): words for row, words in zip(rows, texts, strict=True)}
            texts = [by_row[id(row)] for row in arranged]
        wanted, unwanted = split_words(text)
        return [
            row
            for row, words in zip(arranged, texts, strict=True)
            if all(word in words for word in wanted) and not any(word in words for word in unwanted)
        ]


def split_words(text: str) -> tuple[list[str], list[str]]:
    """The words a filter wants and those it does not, case folded; a lone ``!`` is ignored."""
    words = text.casefold().split()
    wanted = [word for word in words if not word.startswith("!")]
    return wanted, [word[1:] for word in words if word.startswith("!") and len(word) > 1]
