"""CSV that a spreadsheet opens without running anything in it."""

import csv
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from streamops.resources.table import Column
from streamops.resources.text import safe

Row = TypeVar("Row")

# A spreadsheet takes a cell that begins so for a formula; some take the wide signs of East Asian keyboards for the same.
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


class CsvLines(Generic[Row]):
    """Writes a header, then every row: numbers as they are, unknown as an empty cell, text escaped."""

    def __init__(self, columns: Sequence[Column[Row]], write: Callable[[str], object]) -> None:
        self._columns = columns
        self._writer = csv.writer(_Sink(write), lineterminator="\n")
        self._writer.writerow([column.key for column in columns])

    def row(self, row: Row) -> None:
        """Write one row."""
        self._writer.writerow([csv_cell(column.value(row)) for column in self._columns])

    def end(self) -> None:
        """Nothing ends a CSV file."""


def csv_cell(value: str | float | None) -> str | float:
    """One value as a CSV cell holds it; text that a spreadsheet would compute gets a quote before it."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            text = safe(value)
            return f"'{text}" if text.startswith(FORMULA_STARTS) else text
        case _:
            return value


class _Sink:
    """The file that ``csv.writer`` wants."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self.write = write
