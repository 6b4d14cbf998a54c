"""Values picked by their names out of flat replies of names and values. Pure."""

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter

from streamops.wire.node import Reply

Row = Sequence[Reply]
"""Names and values in turns."""

Values = tuple[Reply, ...]


class Picker:
    """Picks values by their names out of flat replies of names and values, thousands of which have one layout.

    Only for replies of one server: its replies of one length have one layout.

    Args:
        needed: Names that every server knows, two at least.
        optional: Names that some do not know; their values are then none.
    """

    def __init__(self, needed: Sequence[bytes], optional: Sequence[bytes] = ()) -> None:
        self._needed = needed
        self._optional = optional
        self._gets: dict[int, tuple[Callable[[Row], Values], Sequence[int]]] = {}

    def pick(self, row: Row) -> Values:
        """The values, first those that are needed; raises ``KeyError`` where one of these is missing."""
        get, unknown = self._gets.get(len(row)) or self._learn(row)
        return tuple([values[0] for values in self.columns((row,))]) if unknown else get(row)

    def pick_all(self, rows: Sequence[Row]) -> Iterator[Values]:
        """The same of rows that have the layout of the first of them."""
        if not rows:
            return iter(())
        get, unknown = self._gets.get(len(rows[0])) or self._learn(rows[0])
        return zip(*self.columns(rows), strict=True) if unknown else map(get, rows)

    def columns(self, rows: Sequence[Row]) -> Sequence[Values]:
        """The same of one row or more, column by column."""
        get, unknown = self._gets.get(len(rows[0])) or self._learn(rows[0])
        columns = [*zip(*map(get, rows), strict=True)]
        for place in unknown:
            columns.insert(place, (None,) * len(rows))
        return columns

    def _learn(self, row: Row) -> tuple[Callable[[Row], Values], Sequence[int]]:
        places = {name: 2 * at + 1 for at, name in enumerate(row[::2])}
        wanted = [places[name] for name in self._needed]
        wanted += [places[name] for name in self._optional if name in places]
        unknown = [len(self._needed) + at for at, name in enumerate(self._optional) if name not in places]
        learnt = self._gets[len(row)] = itemgetter(*wanted), unknown
        return learnt
