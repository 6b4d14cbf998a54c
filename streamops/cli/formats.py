"""The formats of ``--output`` that are written row by row: aligned and plain lines, CSV, JSON, JSON lines and YAML."""

import csv
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Generic, TypeVar

from streamops.cli.globals import Output
from streamops.model.json_text import Json, encode
from streamops.resources.table import Align, Cell, Column, values_json
from streamops.resources.text import safe
from streamops.resources.units import ABSENT, UNKNOWN

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

    def _write_parts(self, parts: Sequence[str]) -> None:
        self._write("  ".join(parts).rstrip() + "\n")


def _padded(text: str, column: Column[Row]) -> str:
    return text.rjust(column.width) if column.align is Align.RIGHT else text.ljust(column.width)


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


def document_text(document: Mapping[str, Any], output: Output) -> str:
    """Write a document, safe to print: indented as JSON, in one line as JSON lines, or as YAML."""
    if output is Output.YAML:
        # Only YAML pays for PyYAML.
        from streamops.cli.yaml_text import yaml_text  # noqa: PLC0415

        return yaml_text(document)
    return encode(document, indent=2 if output is Output.JSON else 0) + "\n"


class DocumentLines(Generic[Row]):
    """Writes every row as one object: a document of its own, or the values of its columns."""

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        write: Callable[[str], object],
        output: Output,
        row_json: Callable[[Row], Json] | None = None,
    ) -> None:
        self._write = write
        self._output = output
        self._row_json = row_json or partial(values_json, columns)

    def row(self, row: Row) -> None:
        """Write one row."""
        start = "---\n" if self._output is Output.YAML else ""
        self._write(start + document_text(self._row_json(row), self._output))
