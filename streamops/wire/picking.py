"""Values picked by their names out of flat replies of names and values. Pure."""

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter

from streamops.wire.node import Reply

Row = Sequence[Reply]
"""Names and values in turns."""


class Picker:
    """Picks values by their names out of flat replies of names and values, thousands of which have one layout.

    Only for replies of one server: its replies of one length have one layout.

    Args:
        needed: Names that every server knows.
        optional: Names that some do not know; their values are then none.
    """

    def __init__(self, needed: Sequence[bytes], optional: Sequence[bytes] = ()) -> None:
        self._needed = needed
        self._optional = optional
        self._gets: dict[int, tuple[Callable[[Row], tuple[Reply, ...]], bool]] = {}

    def pick(self, row: Row) -> tuple[Reply, ...]:
        """The values, first those that are needed; raises ``KeyError`` where one of these is missing."""
        get, knows_all = self._gets.get(len(row)) or self._learn(row)
        return get(row if knows_all else (*row, None))

    def pick_all(self, rows: Sequence[Row]) -> Iterator[tuple[Reply, ...]]:
        """The same of rows that have the layout of the first of them."""
        if not rows:
            return iter(())
        get, knows_all = self._gets.get(len(rows[0])) or self._learn(rows[0])
        # Whatever this server does not know is taken from behind the row's end.
        return map(get, rows if knows_all else [(*row, None) for row in rows])

    def _learn(self, row: Row) -> tuple[Callable[[Row], tuple[Reply, ...]], bool]:
        places = {name: 2 * at + 1 for at, name in enumerate(row[::2])}
        wanted = [places[name] for name in self._needed]
        wanted += [places.get(name, len(row)) for name in self._optional]
        learnt = self._gets[len(row)] = itemgetter(*wanted), max(wanted) < len(row)
        return learnt
