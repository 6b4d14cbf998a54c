"""Rows that come one by one, for people: columns of a fixed width, the last as long as it is."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from streamops.resources.table import Align, Column

Row = TypeVar("Row")


class AlignedLines(Generic[Row]):
    """Writes every row as one line; without a header where nobody knows when it scrolled away."""

    def __init__(
        self, columns: Sequence[Column[Row]], write: Callable[[str], object], *, header: bool = False
    ) -> None:
        self._columns = columns
        self._write = write
        if header:
            self._write_parts([_padded(column.title, column) for column in columns])

    def row(self, row: Row) -> None:
        """Write one row."""
        self._write_parts([_padded(column.cell(row).text, column) for column in self._columns])

    def end(self) -> None:
        """Nothing ends lines."""

    def _write_parts(self, parts: Sequence[str]) -> None:
        self._write("  ".join(parts).rstrip() + "\n")


def _padded(text: str, column: Column[Row]) -> str:
    return text.rjust(column.width) if column.align is Align.RIGHT else text.ljust(column.width)
