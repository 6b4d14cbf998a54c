"""Which columns are drawn, where and how wide, in the width there is and for the rows there are. Pure."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

from streamops.resources.table import Column
from streamops.tui.widgets.paint import cell_width

Row = TypeVar("Row")

AT_ONCE: Final = 1_000
"""Rows that are measured before they are drawn: ten thousand would keep the first frame waiting."""
MOST_MET: Final = 4
"""Rows that are remembered as met, as a multiple of those there are."""
MARGIN: Final = 1
NARROW_GAP: Final = 1
WIDE_GAP: Final = 2
AFTER_WISHES: Final = 3
"""Priority from which on columns are shown only once others have the width that they wish."""


class PlacedColumn(NamedTuple):
    """A column in its place.

    Attributes:
        column: The column.
        start: Its first cell from the left edge.
        width: Its width in cells.
    """

    column: Column[Any]
    start: int
    width: int


class Layout(Generic[Row]):
    """The columns of a list in their places.

    Flexible columns grow to the longest text they have met and never shrink: columns that move with the
    data cannot be read. Each row is met once, so that scrolling moves nothing, and those on the screen each time that they are read again.

    Args:
        columns: All columns, in order.
        identify: What makes a row the same row in the next observation.

    Attributes:
        placed: Those that fit, in their places.
    """

    def __init__(self, columns: Sequence[Column[Row]], identify: Callable[[Row], Hashable]) -> None:
        self.placed: tuple[PlacedColumn, ...] = ()
        self._columns = tuple(columns)
        self._identify = identify
        self._rows: Sequence[Row] = ()
        self._visible: Sequence[Row] = ()
        self._met: set[Hashable] = set()
        self._unmeasured: Sequence[Row] = ()
        self._natural: dict[str, int] = {}
        self._placed_for: tuple[int, dict[str, int]] | None = None

    def fit(self, rows: Sequence[Row], visible: Sequence[Row], width: int) -> bool:
        """Place the columns for these rows in a width; say whether anything moved.

        Of many new rows at once only the first, and those on the screen, are measured; ``is_settled`` says so.
        """
        if rows is not self._rows:
            self._meet(rows)
            self._measure_new(AT_ONCE)
        before, self._visible = set(map(id, self._visible)), visible
        self._measure([row for row in visible if id(row) not in before])
        return self._place(width)

    @property
    def is_settled(self) -> bool:
        """Whether all rows are measured."""
        return not self._unmeasured

    def measure_rest(self, width: int) -> bool:
        """Measure the rows that are left, and place the columns for them too; say whether anything moved."""
        self._measure_new(len(self._unmeasured))
        return self._place(width)

    def _place(self, width: int) -> bool:
        if (width, self._natural) == self._placed_for:
            return False
        self._placed_for = (width, dict(self._natural))
        before, self.placed = self.placed, place_columns(self._columns, width, self._natural)
        return self.placed != before

    def _meet(self, rows: Sequence[Row]) -> None:
        """Note which rows are new."""
        before, self._rows = self._rows, rows
        known = set(map(id, before))
        identities = {self._identify(row): row for row in rows if id(row) not in known}
        self._unmeasured = [
            *self._unmeasured,
            *(row for key, row in identities.items() if key not in self._met),
        ]
        if len(self._met) > MOST_MET * len(rows):
            self._met = set(map(self._identify, rows))
        self._met.update(identities)

    def _measure_new(self, most: int) -> None:
        rows, self._unmeasured = self._unmeasured[:most], self._unmeasured[most:]
        self._measure(rows)

    def _measure(self, rows: Sequence[Row]) -> None:
        for column in self._columns:
            if column.flexible:
                longest = max((cell_width(column.cell(row).text) for row in rows), default=0)
                self._natural[column.key] = max(longest, self._natural.get(column.key, 0))


def place_columns(
    columns: Sequence[Column[Any]], width: int, natural: Mapping[str, int]
) -> tuple[PlacedColumn, ...]:
    """Choose the columns that fit and their widths.

    Columns with the greatest priority number leave first, the rightmost of equals before the others; those of
    ``AFTER_WISHES`` and more for the sake of a column's wishes too.
    What is left over goes to the flexible columns, evenly, up to their natural width.

    Args:
        columns: All columns, in order.
        width: Cells there are.
        natural: The longest text of each flexible column, by key.
    """
    kept, gap = _fitting(columns, width, natural), NARROW_GAP
    if _total(kept, natural, WIDE_GAP, wishes=True) <= width:
        gap = WIDE_GAP
    widths = {column.key: _least(column, natural) for column in kept}
    _share(
        widths, [column for column in kept if column.flexible], width - _total(kept, natural, gap), natural
    )
    placed = []
    start = MARGIN
    for column in kept:
        placed.append(PlacedColumn(column, start, max(min(widths[column.key], width - start), 0)))
        start += widths[column.key] + gap
    return tuple(placed)


def _fitting(columns: Sequence[Column[Any]], width: int, natural: Mapping[str, int]) -> list[Column[Any]]:
    kept = list(columns)
    while (victim := _victim(kept)) is not None:
        if _total(kept, natural, NARROW_GAP, wishes=victim.priority >= AFTER_WISHES) <= width:
            break
        kept.remove(victim)
    return kept


def _least(column: Column[Any], natural: Mapping[str, int], *, wishes: bool = False) -> int:
    if not column.flexible:
        return column.width
    least = max(column.width, column.wishes) if wishes else column.width
    return max(min(least, natural.get(column.key, least)), len(column.title))


def _total(
    columns: Sequence[Column[Any]], natural: Mapping[str, int], gap: int, *, wishes: bool = False
) -> int:
    widths = sum(_least(column, natural, wishes=wishes) for column in columns)
    return widths + gap * max(len(columns) - 1, 0) + 2 * MARGIN


def _victim(columns: Sequence[Column[Any]]) -> Column[Any] | None:
    worst = max((column.priority for column in columns), default=0)
    if worst == 0:
        return None
    return [column for column in columns if column.priority == worst][-1]


def _share(
    widths: dict[str, int], flexible: Sequence[Column[Any]], spare: int, natural: Mapping[str, int]
) -> None:
    while spare > 0:
        hungry = [column for column in flexible if widths[column.key] < natural.get(column.key, 0)]
        if not hungry:
            return
        part = max(spare // len(hungry), 1)
        for column in hungry[:spare]:
            given = min(part, natural[column.key] - widths[column.key], spare)
            widths[column.key] += given
            spare -= given
