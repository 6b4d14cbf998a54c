"""Which columns to print."""

from collections.abc import Sequence
from typing import TypeVar

from streamops.cli.globals import Output
from streamops.errors import SettingsError, known_hint
from streamops.resources.table import Column

Row = TypeVar("Row")

FOR_PEOPLE = frozenset({Output.TABLE, Output.PLAIN})
DOCUMENTS = frozenset({Output.JSON, Output.YAML})
"""Formats of which one document holds all that was found."""


def choose_columns(
    output: Output,
    fields: Sequence[str],
    shown: Sequence[Column[Row]],
    details: Sequence[Column[Row]] = (),
) -> tuple[Column[Row], ...]:
    """The columns of ``--fields`` in its order, or those that suit the format: people see fewer than scripts.

    Raises:
        SettingsError: A field is none of the columns, or the format has no columns.
    """
    if not fields:
        if output is Output.PLAIN:
            # Scripts that cut it into columns count on their number.
            return tuple(column for column in shown if not column.sparse)
        return tuple(shown) if output in FOR_PEOPLE else (*shown, *details)
    if output in DOCUMENTS:
        raise SettingsError(
            f"--fields does not go with -o {output}, which prints the whole document", "Use -o jsonl."
        )
    known = {column.key: column for column in (*shown, *details)}
    for field in fields:
        if field not in known:
            raise SettingsError(f"--fields: there is no {field!r} here", known_hint(field, known, "fields"))
    return tuple(known[field] for field in dict.fromkeys(fields))
