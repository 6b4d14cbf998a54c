"""Tables as data: a column knows its words, its value and how to sort by it; faces only draw."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from enum import StrEnum
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.json_text import Json, text_json
from streamops.model.observation import Observation

Row = TypeVar("Row")


class Tone(StrEnum):
    """What a cell's colour means; each face maps it to its own palette."""

    PLAIN = "plain"
    DIM = "dim"
    STRONG = "strong"
    OK = "ok"
    WARN = "warn"
    CRITICAL = "critical"
    UNKNOWN = "unknown"


class Align(StrEnum):
    """Where text stands in its column."""

    LEFT = "left"
    RIGHT = "right"


class Cell(NamedTuple):
    """Text that is safe to show on one line, and its tone."""

    text: str
    tone: Tone = Tone.PLAIN


class Fact(Struct, frozen=True):
    """One thing worth knowing: a name, and what is said under it, a line each."""

    name: str
    lines: tuple[Cell, ...]


class Column(Struct, Generic[Row], frozen=True):
    """One column over rows of one kind.

    Attributes:
        key: Its stable name, as ``--fields``, CSV headers and sort settings use it.
        title: What the header says.
        help: One sentence of what its numbers mean, with units and what unknown looks like.
        cell: A row's cell, already sanitised.
        value: A row's raw value for CSV and JSON lines: str, int, float, bool or none.
        width: The width it asks for, in terminal cells; the flexible columns share what is left.
        flexible: Whether it takes a share of left-over width.
        wishes: The width that it gets, as far as its text needs it, before columns of a priority of 3 or more are shown.
        align: Where its text stands.
        priority: Columns with higher numbers are dropped first where width is short; 0 is never dropped.
        descending: Whether the first sort by it puts the greatest on top.
        rank: A row's place in the order where its value does not sort as people expect (IDs, levels,
            bounds); none sorts by the value.
        sparse: Whether people see it only in tables where some row has a value other than nought.
        source: Where its numbers come from: commands of Redis and their fields, keys, or what they are reckoned from.
    """

    key: str
    title: str
    help: str
    cell: Callable[[Row], Cell]
    value: Callable[[Row], Any]
    width: int
    flexible: bool = False
    wishes: int = 0
    align: Align = Align.LEFT
    priority: int = 1
    descending: bool = False
    rank: Callable[[Row], Any] | None = None
    sparse: bool = False
    source: str = ""

    def means(self, text: str, source: str = "") -> "Column[Row]":
        """The same column with its help, and with where its values come from unless its maker said that."""
        return replace(self, help=text, source=source or self.source)

    def order(self, row: Row) -> tuple[bool, Any]:
        """Sort key of a row: rows without a value come last when descending, first when ascending."""
        value = self.value(row) if self.rank is None else self.rank(row)
        return (value is not None, value if value is not None else 0)


def values_json(columns: Iterable[Column[Row]], row: Row) -> Json:
    """The values of a row by the keys of its columns."""
    values = {column.key: column.value(row) for column in columns}
    return {key: text_json(value) if isinstance(value, str) else value for key, value in values.items()}


class Resource(Struct, Generic[Row], frozen=True, kw_only=True):
    """One kind of row, wherever it is listed.

    Attributes:
        key: What makes a row the same one in the next reading: a name, an ID, or several of them.
        columns: What a list shows.
        more: Columns that a list shows where asked for, and the detail of a row.
        text: The words that a filter looks at; those of the key unless given.
        fault: Whether a row needs attention.
        name: What is copied; the last part of the key unless given.
        rows: The rows of an observation; None if they are read for themselves.
    """

    key: Callable[[Row], Hashable]
    columns: tuple[Column[Row], ...]
    more: tuple[Column[Row], ...] = ()
    text: Callable[[Row], str] | None = None
    fault: Callable[[Row], bool] = lambda _: False
    name: Callable[[Row], str | None] | None = None
    rows: Callable[[Observation], Sequence[Row]] = lambda _: ()

    def key_parts(self, row: Row) -> tuple[Any, ...]:
        """The key of a row, always as several parts; an entry ID is one of them."""
        key = self.key(row)
        return key if type(key) is tuple else (key,)

    def text_of(self, row: Row) -> str:
        """The words of a row that a filter looks at."""
        return " ".join(map(str, self.key_parts(row))) if self.text is None else self.text(row)

    def name_of(self, row: Row) -> str | None:
        """What is copied of a row; None if there is nothing to copy."""
        return str(self.key_parts(row)[-1]) if self.name is None else self.name(row)


class Table(Struct, Generic[Row], frozen=True):
    """Rows under their columns.

    Attributes:
        columns: The columns in order.
        rows: The rows in order.
        truncated: How many rows a limit left out.
        note: One line about the whole, such as why it is empty; safe to show.
    """

    columns: tuple[Column[Row], ...]
    rows: Sequence[Row]
    truncated: int = 0
    note: str = ""
