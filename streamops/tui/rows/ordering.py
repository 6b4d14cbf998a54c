"""Which rows a list shows and in which order. Pure, and cheap where little changed."""

from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter
from typing import Any, Generic, TypeVar

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.resources.filters import NONE, Filter
from streamops.resources.table import Column

Item = TypeVar("Item")
Value = TypeVar("Value")


class PerItemCache(Generic[Item, Value]):
    """What a pure function says of each item, asked again only if the item is another object.

    Two observations share every noun that did not change, at the same place, so that comparing
    identities position by position finds all the work there is.
    """

    def __init__(self, function: Callable[[Item], Value]) -> None:
        self._function = function
        self._items: Sequence[Item] = ()
        self._values: list[Value] = []

    def values(self, items: Sequence[Item]) -> list[Value]:
        """The function's value for each item, in their order. Do not change the list."""
        if items is self._items:
            return self._values
        function = self._function
        if len(items) == len(self._items):
            known = zip(items, self._items, self._values, strict=True)
            self._values = [value if item is old else function(item) for item, old, value in known]
        else:
            self._values = self._after_a_change_of_length(items)
        self._items = items
        return self._values

    def _after_a_change_of_length(self, items: Sequence[Item]) -> list[Value]:
        if not self._items:
            return [*map(self._function, items)]
        # The items themselves are held by ``_items``, so their addresses cannot have been reused.
        values = {id(item): value for item, value in zip(self._items, self._values, strict=True)}
        function = self._function
        return [values[id(item)] if id(item) in values else function(item) for item in items]


Row = TypeVar("Row")


class ListState(Struct, frozen=True):
    """What a person asked a list for.

    Attributes:
        sort: Key of the column to sort by; none for the order the rows come in.
        descending: Whether the greatest comes first.
        text: A filter, see ``present.filters``: words, ``!word``, ``lag>1000``, ``health:crit``; case is ignored.
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
        literal: Signs that always belong to the words of a filter.

    Attributes:
        untold: How many rows the last filter could not judge, because what it compares is not known of them.
    """

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        text_of: Callable[[Row], str],
        is_fault: Callable[[Row], bool],
        literal: frozenset[str] = NONE,
    ) -> None:
        self._columns = {column.key: column for column in columns}
        self._keys: dict[str, PerItemCache[Row, tuple[bool, Any]]] = {}
        self._texts = PerItemCache[Row, str](lambda row: text_of(row).casefold())
        self._is_fault = is_fault
        self._literal = literal
        self._filter = self._compiled("")
        self._last: tuple[Sequence[Row], ListState, Sequence[Row]] | None = None
        self.untold = 0

    def problem(self, text: str) -> SettingsError | None:
        """What is wrong with a filter; None if nothing is."""
        try:
            self._compiled(text)
        except SettingsError as error:
            return error
        return None

    def arrange(self, rows: Sequence[Row], wish: ListState) -> Sequence[Row]:
        """The rows that the wish selects, in the order it asks for. A filter that is wrong is as if it were not there."""
        if self._last is not None and self._last[0] is rows and self._last[1] == wish:
            return self._last[2]
        arranged = self._sorted(rows, wish)
        self.untold = 0
        if wish.text.strip() and self.problem(wish.text) is None:
            arranged = self._matching(rows, arranged, wish.text)
        if wish.faults:
            arranged = [row for row in arranged if self._is_fault(row)]
        self._last = (rows, wish, arranged)
        return arranged

    def _compiled(self, text: str) -> Filter[Row]:
        return Filter(text, tuple(self._columns.values()), literal=self._literal)

    def _sorted(self, rows: Sequence[Row], wish: ListState) -> Sequence[Row]:
        column = self._columns.get(wish.sort or "")
        if column is None:
            return rows[::-1] if wish.descending else rows
        # Keys of one column at a time: another column's would be out of date when it is chosen again.
        if column.key not in self._keys:
            self._keys = {column.key: PerItemCache(column.order)}
        keys = self._keys[column.key].values(rows)
        order = sorted(range(len(rows)), key=keys.__getitem__, reverse=wish.descending)
        return [rows[index] for index in order]

    def _matching(self, rows: Sequence[Row], arranged: Sequence[Row], text: str) -> Sequence[Row]:
        if self._filter.text != text:
            self._filter = self._compiled(text)
        texts = self._texts.values(rows)
        verdicts = [self._filter.verdict(row, words) for row, words in zip(rows, texts, strict=True)]
        self.untold = verdicts.count(None)
        if arranged is rows:
            return [row for row, verdict in zip(rows, verdicts, strict=True) if verdict]
        passed = {id(row) for row, verdict in zip(rows, verdicts, strict=True) if verdict}
        return [row for row in arranged if id(row) in passed]


def in_former_order(rows: Sequence[Row], former: Sequence[Row], key: Callable[[Row], Hashable]) -> list[Row]:
    """Rows read again, each where it stood among the former ones; a new one behind the row that it follows.

    Args:
        rows: The rows in the order they would have.
        former: The rows as they stand.
        key: What makes a row the same row in the next observation.
    """
    places = {key(row): place for place, row in enumerate(former)}
    place, placed = -1, []
    for row in rows:
        place = places.get(key(row), place)
        placed.append((place, row))
    return [row for _, row in sorted(placed, key=itemgetter(0))]


def split_words(text: str) -> tuple[list[str], list[str]]:
    """The words a filter wants and those it does not, case folded; a lone ``!`` is ignored."""
    words = text.casefold().split()
    wanted = [word for word in words if not word.startswith("!")]
    return wanted, [word[1:] for word in words if word.startswith("!") and len(word) > 1]
