"""Readings over time in little room, however often the server is polled."""

from datetime import datetime, timedelta
from typing import Generic, TypeVar

from msgspec import Struct

Item = TypeVar("Item")
Times = tuple[datetime, ...]


class Column(Struct, Generic[Item], frozen=True, gc=False):
    """Values and when they were read, oldest first. Never empty.

    The last is always the newest reading. Values must not refer back to the column: the cycle collector
    does not visit it, because a history holds tens of thousands of these.

    Attributes:
        times: When the values were read, strictly rising; columns read at the same times share them.
        values: The values, one for each time.
    """

    times: Times
    values: tuple[Item, ...]

    @property
    def span(self) -> timedelta:
        """From the oldest to the newest reading; zero for a single one."""
        return self.times[-1] - self.times[0]


class Tick:
    """One instant at which columns get their next reading.

    A column's last reading gives way to the next one until it stands ``spacing`` away from the one before
    it. So polling faster costs no room, and polling slower lengthens the span.

    Attributes:
        at: The instant, later than every time in the columns.
    """

    def __init__(self, at: datetime, spacing: timedelta, length: int) -> None:
        """A tick for columns that keep ``length`` readings ``spacing`` apart."""
        self.at = at
        self._spacing = spacing
        self._length = length
        self._first = (at,)
        # By identity: thousands of columns share their times, and comparing them would cost more than
        # all the rest. The old times stand beside the new ones so that no other object takes their place.
        self._next: dict[int, tuple[Times, Times, slice]] = {}

    def begin(self, value: Item) -> Column[Item]:
        """A column with this reading alone."""
        return Column(self._first, (value,))

    def append(self, column: Column[Item], value: Item) -> Column[Item]:
        """The column with this reading at its end."""
        _, times, kept = self._next.get(id(column.times)) or self._advance(column.times)
        return Column(times, (*column.values[kept], value))

    def _advance(self, times: Times) -> tuple[Times, Times, slice]:
        crowded = len(times) > 1 and times[-1] - times[-2] < self._spacing
        kept = slice(-1) if crowded else slice(1 - self._length, None)
        step = self._next[id(times)] = (times, (*times[kept], self.at), kept)
        return step
