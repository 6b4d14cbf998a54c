"""Doing nothing again for what did not change."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")


class PerItemCache(Generic[Item, Value]):
    """What a pure function says of each item, asked again only where the item is another object.

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
