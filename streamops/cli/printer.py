"""Prints what a command found, in the format that was asked for."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from msgspec import Struct

from streamops.cli.formats import AlignedLines, CsvLines, DocumentLines, PlainLines, document_text
from streamops.cli.globals import Globals, Output
from streamops.cli.terminal import drawable, has_color, has_unicode, width_of
from streamops.model.json_text import Json
from streamops.model.wording import counted
from streamops.resources.table import Column

if TYPE_CHECKING:
    from streamops.cli.grid import Painter
from collections.abc import Iterable
from typing import TextIO

from streamops.errors import SettingsError, known_hint
from streamops.resources.table import Cell, Fact

Row = TypeVar("Row")
Row_contra = TypeVar("Row_contra", contravariant=True)


class Lines(Protocol[Row_contra]):
    """A format whose rows can be written one by one."""

    def row(self, row: Row_contra) -> None:
        """Write one row."""


class Section(Struct, frozen=True):
    """A further table under the main one, for people only.

    Attributes:
        title: Its heading.
        columns: Its columns.
        rows: Its rows; a section without any is left out.
    """

    title: str
    columns: Sequence[Column[Any]]
    rows: Sequence[Any]


class Printer(Generic[Row]):
    """Prints rows of one kind. Made before the server is asked, so that a wrong ``--fields`` costs nothing.

    Attributes:
        output: The format.
    """

    def __init__(
        self,
        given: Globals,
        shown: Sequence[Column[Row]],
        details: Sequence[Column[Row]] = (),
        *,
        color: Callable[[], bool],
        note: Callable[[str], None],
    ) -> None:
        """Choose the columns.

        Args:
            given: The global options.
            shown: Columns for people.
            details: Further columns for scripts and ``--fields``.
            color: Whether colour is allowed, asked when something is drawn.
            note: Where to say what could not be shown.

        Raises:
            SettingsError: ``--fields`` names none of the columns.
        """
        self.output = given.output
        self._color = color
        self._columns = choose_columns(given.output, given.fields, shown, details)
        self._fields_given = bool(given.fields)
        self._limit = given.limit
        self._note = note

    def print_rows(
        self,
        rows: Sequence[Row],
        document: Callable[[], Json],
        row_json: Callable[[Row], Json] | None = None,
        sections: Sequence[Section] = (),
    ) -> None:
        """Print all rows.

        Args:
            rows: The rows.
            document: Makes the document of ``-o json`` and ``-o yaml``.
            row_json: Makes a row of ``-o jsonl``; none takes the columns' values.
            sections: What people see besides.
        """
        match self.output:
            case Output.JSON | Output.YAML:
                write(document_text(document(), self.output))
            case Output.TABLE:
                painter = self._painter()
                if rows:
                    painter.draw_rows(self._columns, rows)
                self._draw_sections(painter, sections)
            case _:
                self._write_lines(self.lines(row_json), rows)
                self._write_sections(sections)

    def print_list(
        self,
        schema: str,
        name: str,
        rows: Sequence[Row],
        row_json: Callable[[Row], Json],
        *,
        before: Json | None = None,
        after: Json | None = None,
        flat: bool = False,
    ) -> None:
        """Print rows, at most as many as ``--limit`` says, and note how many it left out.

        Args:
            schema: What the document is, such as ``groups.ls``.
            name: The document's key for the rows.
            rows: The rows.
            row_json: Makes JSON of a row.
            before: What the document says before the rows.
            after: What it says after them.
            flat: Whether ``-o jsonl`` prints the values of the columns in place of ``row_json``.
        """
        shown = rows[: self._limit]
        left_out = len(rows) - len(shown)
        self.print_rows(
            shown,
            lambda: {
                "schema": f"streamops.{schema}/1",
                **(before or {}),
                name: [row_json(row) for row in shown],
                "left_out": left_out,
                **(after or {}),
            },
            None if flat else row_json,
        )
        self.note_left_out(left_out)

    def note_left_out(self, rows: int) -> None:
        """Note how many rows ``--limit`` left out, if any."""
        if rows:
            self._note(f"{counted(rows, 'more row', 'more rows')} left out by --limit {self._limit}")

    def print_record(self, row: Row, document: Callable[[], Json], sections: Sequence[Section] = ()) -> None:
        """Print one thing with everything about it; JSON lines have its whole document on one line."""
        if self.output is Output.TABLE:
            painter = self._painter()
            painter.draw_facts(self._columns, row)
            self._draw_sections(painter, sections)
        else:
            self.print_rows((row,), document, lambda _: document(), sections)

    def lines(self, row_json: Callable[[Row], Json] | None = None, *, header: bool = False) -> Lines[Row]:
        """For rows that come one by one: the format's lines; a table has them aligned, JSON as JSON lines, YAML as documents.

        Args:
            row_json: Makes a row of JSON lines; none takes the columns' values.
            header: Whether a table begins with its titles.
        """
        match self.output:
            case Output.CSV:
                return CsvLines(self._columns, write)
            case Output.PLAIN:
                return PlainLines(self._columns, write)
            case Output.TABLE:
                return AlignedLines(self._columns, write, header=header)
            case Output.JSON | Output.JSONL | Output.YAML:
                output = Output.YAML if self.output is Output.YAML else Output.JSONL
                return DocumentLines(self._columns, write, output, None if self._fields_given else row_json)

    def _write_lines(self, lines: Lines[Row], rows: Sequence[Row]) -> None:
        for row in rows:
            lines.row(row)

    def _write_sections(self, sections: Sequence[Section]) -> None:
        if self.output is not Output.PLAIN:
            return
        for section in sections:
            if section.rows:
                write(f"\n{section.title.lower()}\n\n")
                self._write_lines(PlainLines(section.columns, write), section.rows)

    def _painter(self) -> "Painter":
        # rich costs as much as the rest of the output together: only tables pay for it.
        from streamops.cli.grid import Painter  # noqa: PLC0415

        return Painter(
            sys.stdout,
            width=width_of(sys.stdout),
            color=self._color() and has_color(sys.stdout),
            ascii_only=not has_unicode(sys.stdout),
        )

    def _draw_sections(self, painter: "Painter", sections: Sequence[Section]) -> None:
        for section in sections:
            if section.rows:
                painter.draw_title(section.title)
                painter.draw_rows(section.columns, section.rows)
        if painter.dropped:
            titles = ", ".join(painter.dropped)
            self._note(f"not enough width for {titles}; --fields chooses, -o plain shows all")


def write(text: str) -> None:
    """Write to stdout, glyphs it cannot encode replaced."""
    sys.stdout.write(drawable(text, sys.stdout))


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


GAP = "  "


def print_facts(facts: Iterable[Fact], file: TextIO, *, output: Output, color: Callable[[], bool]) -> None:
    """Write facts: aligned, or as lines that read well aloud where the output is plain."""
    if output is Output.PLAIN:
        lines = [f"{name}: {line.text}" for name, line in _pairs(facts, repeat=True)]
        file.writelines(drawable(f"{line}\n", file) for line in lines)
    elif file.isatty():
        _draw(_pairs(facts, repeat=False), file, color=color)
    else:
        pairs = _pairs(facts, repeat=False)
        width = max((len(name) for name, _ in pairs), default=0)
        lines = [f"{name:<{width}}{GAP}{line.text}" for name, line in pairs]
        file.writelines(drawable(f"{line.rstrip()}\n", file) for line in lines)


def _draw(pairs: list[tuple[str, Cell]], file: TextIO, *, color: Callable[[], bool]) -> None:
    # rich costs as much as the rest of the output together.
    from streamops.cli.grid import Painter  # noqa: PLC0415

    painter = Painter(
        file, width=width_of(file), color=color() and has_color(file), ascii_only=not has_unicode(file)
    )
    painter.draw_pairs(pairs)


def _pairs(facts: Iterable[Fact], *, repeat: bool) -> list[tuple[str, Cell]]:
    return [
        (fact.name if repeat or not at else "", line) for fact in facts for at, line in enumerate(fact.lines)
    ]
