"""Documents as JSON, JSON lines and YAML: one of all that was found, or one a row."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from streamops.cli.globals import Output
from streamops.model.json_text import Json, encode
from streamops.resources.table import Column, values_json

Row = TypeVar("Row")


def document_text(document: Mapping[str, Any], output: Output) -> str:
    """Write a document, safe to print: indented as JSON, in one line as JSON lines, or as YAML."""
    if output is Output.YAML:
        # Only who asks for YAML pays for PyYAML.
        from streamops.cli.output.yaml_text import yaml_text  # noqa: PLC0415

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

    def end(self) -> None:
        """Nothing ends documents."""
