"""Columns of a row under each other, those that hold nothing left out. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from streamops.resources.cells import NOT_THERE
from streamops.resources.plans import Fact
from streamops.resources.table import Column, Resource, Tone
from streamops.resources.text import safe
from streamops.tui.lines.details import paragraph
from streamops.tui.lines.plan import fact_lines
from streamops.tui.widgets.paint import Line

NO_NAMES: Final[Mapping[str, str]] = {}


def row_lines(resource: Resource[Any], row: object, width: int) -> list[Line]:
    """A row in full: its name, then every column that has something to say."""
    name = safe(resource.name_of(row) or "")
    columns = {column.key: column for column in (*resource.columns, *resource.more)}
    facts = [column for column in columns.values() if column.cell(row).text != name]
    return [*paragraph(name, width, Tone.STRONG), *column_facts(facts, row, width)]


def column_facts(
    columns: Sequence[Column[Any]], row: object, width: int, names: Mapping[str, str] = NO_NAMES
) -> list[Line]:
    """Every column that has something to say about a row.

    Args:
        columns: The columns in order.
        row: The row.
        width: Cells there are.
        names: What columns are called here, by key, where their titles are too short.
    """
    cells = ((column, column.cell(row)) for column in columns)
    return fact_lines(
        (
            Fact(names.get(column.key, column.title.lower()), (cell,))
            for column, cell in cells
            if cell != NOT_THERE and cell.text
        ),
        width,
    )
