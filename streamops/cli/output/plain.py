"""Lines that read well aloud: one ``name: value`` a line, an empty line between rows, no signs that need eyes."""

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from streamops.resources.table import Cell, Column
from streamops.resources.units import ABSENT, UNKNOWN

Row = TypeVar("Row")

NOTHING: Final = frozenset({"", ABSENT})
SIGNS: Final = {"≤": "at most ", "≥": "at least ", "~": "about "}
GLYPHS: Final = frozenset("✓▲✗?")


class PlainLines(Generic[Row]):
    """Writes every row as a paragraph; what does not apply to a row has no line in it."""

    def __init__(self, columns: Sequence[Column[Row]], write: Callable[[str], object]) -> None:
        self._columns = columns
        self._write = write
        self._started = False

    def row(self, row: Row) -> None:
        """Write one row."""
        if self._started:
            self._write("\n")
        self._started = True
        for column in self._columns:
            cell = column.cell(row)
            if cell.text not in NOTHING:
                self._write(f"{column_name(column)}: {spoken(cell)}\n")

    def end(self) -> None:
        """Nothing ends a list of paragraphs."""


def column_name(column: Column[Row]) -> str:
    """A column's key in words: ``oldest_pending_age_seconds`` is ``oldest pending age``."""
    return column.key.removesuffix("_seconds").replace("_", " ")


def spoken(cell: Cell) -> str:
    """The text of a cell in words: ``≤5,000`` is ``at most 5,000``, ``▲ warn`` is ``warn``."""
    text = cell.text
    if text == UNKNOWN:
        return "unknown"
    if text[:1] in GLYPHS and text[1:2] == " ":
        return text[2:]
    if text[:1] in SIGNS and text[1:2].isdigit():
        return SIGNS[text[0]] + text[1:]
    return text
