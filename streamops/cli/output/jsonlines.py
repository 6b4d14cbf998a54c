"""JSON lines: a row a line."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from streamops.model.json_text import Json, encode, text_json
from streamops.present.table import Column

Row = TypeVar("Row")


class JsonLines(Generic[Row]):
    """Writes every row as one object: a document of its own, or the values of its columns."""

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        write: Callable[[str], object],
        row_json: Callable[[Row], Json] | None = None,
    ) -> None:
        self._columns = columns
        self._write = write
        self._row_json = row_json or self._values

    def row(self, row: Row) -> None:
        """Write one row."""
        self._write(encode(self._row_json(row)) + "\n")

    def end(self) -> None:
        """Nothing ends JSON lines."""

    def _values(self, row: Row) -> Json:
        values = {column.key: column.value(row) for column in self._columns}
        return {key: text_json(value) if isinstance(value, str) else value for key, value in values.items()}
