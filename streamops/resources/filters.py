"""The language of filters over lists: words, and comparisons with columns, such as ``billing !dlq lag>1000``. Pure."""

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from enum import IntEnum, StrEnum
from typing import Any, Final, Generic, TypeAlias, TypeVar

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.entries import EntryId
from streamops.model.measures import COUNTS, SHARES, SIZES, SPANS, parse_measure
from streamops.model.observation import Health
from streamops.monitor.search import NOT, Piece, split_quoted
from streamops.resources.table import Align, Column
from streamops.resources.units import ABSENT

SIGNS: Final = (">=", "<=", "!=", ">", "<", "=", ":")
ORDERINGS: Final = frozenset({">", ">=", "<", "<="})

_COMPARISON: Final = re.compile(rf"(?P<name>[A-Za-z_][\w-]*)(?P<sign>{'|'.join(SIGNS)})")


class Term(Struct, frozen=True):
    """One term of a filter; all terms must hold.

    Attributes:
        text: What a word must be found as, quotes and ``!`` taken off.
        negated: Whether it must not hold.
        name: The column that is compared, as it was written; empty for a word.
        sign: How it is compared; empty for a word.
        value: What it is compared with.
    """

    text: str
    negated: bool = False
    name: str = ""
    sign: str = ""
    value: str = ""


def parse_terms(text: str) -> tuple[Term, ...]:
    """The terms of a text. A quote that is not closed goes to the end; a lone ``!`` is no term."""
    terms = [_term(token) for token in split_quoted(text)]
    return tuple(term for term in terms if term.text)


def _term(token: tuple[Piece, ...]) -> Term:
    first = token[0]
    negated = not first.quoted and first.text.startswith(NOT)
    head = first.text.removeprefix(NOT) if negated else first.text
    text = head + "".join(piece.text for piece in token[1:])
    # What is quoted is a word, whatever it holds; a value alone may be quoted: group="night shift".
    found = None if first.quoted else _COMPARISON.match(head)
    if found is None:
        return Term(text, negated)
    return Term(text, negated, found["name"], found["sign"], text[found.end() :])


Row = TypeVar("Row")
Verdict: TypeAlias = Callable[[Any], bool | None]
"""Whether a row meets a condition; None if that is not known."""

NOT_KNOWN: Final = "?"
NOT_THERE: Final = "-"
LEVELS: Final = frozenset({"health", "level"})
_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ":": operator.eq,
    "!=": operator.ne,
}


class Measure(StrEnum):
    """What a column's values are, as far as comparing goes."""

    TEXT = "text"
    COUNT = "count"
    SPAN = "span"
    SIZE = "size"
    SHARE = "share"
    ID = "id"
    TIME = "time"
    LEVEL = "level"


_SUFFIXES: Final = (
    ("_per_second", Measure.COUNT),
    ("_seconds", Measure.SPAN),
    ("_bytes", Measure.SIZE),
    ("_share", Measure.SHARE),
    ("_coverage", Measure.SHARE),
    ("_id", Measure.ID),
    ("_at", Measure.TIME),
)
_WHOLE: Final = {
    "id": Measure.ID,
    "size": Measure.SIZE,
    "share": Measure.SHARE,
    "time": Measure.TIME,
    "at": Measure.TIME,
    "lease_ends": Measure.TIME,
    "trend": Measure.COUNT,
    **dict.fromkeys(LEVELS, Measure.LEVEL),
}
_UNITS: Final = {
    Measure.COUNT: (COUNTS, "a number, such as 1000 or 10k"),
    Measure.SPAN: (SPANS, "a span, such as 30s, 5m or 1h30m"),
    Measure.SIZE: (SIZES, "a size, such as 500 or 64KiB"),
    Measure.SHARE: (SHARES, "a share, such as 50%"),
}


def measure_of(column: Column[Any]) -> Measure:
    """What a column's values are, by its key, and by the side its text stands on."""
    if (known := _WHOLE.get(column.key)) is not None:
        return known
    for suffix, measure in _SUFFIXES:
        if column.key.endswith(suffix):
            return measure
    return Measure.COUNT if column.align is Align.RIGHT else Measure.TEXT


def common_sign(column: Column[Any]) -> str:
    """The sign that a column is compared with most."""
    return ":" if measure_of(column) in (Measure.TEXT, Measure.LEVEL) else ">"


def condition(term: Term, column: Column[Row]) -> Verdict:
    """What a comparison asks of a row.

    Raises:
        SettingsError: The column's values cannot be compared with that, or in that way.
    """
    if not term.value:
        raise SettingsError(f"{term.name}{term.sign} with what?", _example(column))
    if term.value in (NOT_KNOWN, NOT_THERE) and term.sign not in ORDERINGS:
        wanted, there = term.sign != "!=", term.value == NOT_KNOWN
        return lambda row: (column.value(row) is None and _applies(column, row) is there) is wanted
    measure = measure_of(column)
    match measure:
        case Measure.TEXT | Measure.TIME:
            return _text(term, column, measure)
        case Measure.LEVEL:
            return _level(term, column)
        case Measure.ID:
            return _id(term, column)
        case _:
            return _number(term, column, measure)


def _number(term: Term, column: Column[Row], measure: Measure) -> Verdict:
    units, words = _UNITS[measure]
    wanted = parse_measure(term.value, units)
    if wanted is None:
        raise SettingsError(f"{term.name} is compared with {words}", _example(column))
    compare = _COMPARE[term.sign]

    def matches(row: Row) -> bool | None:
        number = _as_number(column, row)
        if number is None:
            return None if _applies(column, row) else False
        return compare(number, wanted)

    return matches


def _applies(column: Column[Row], row: Row) -> bool:
    """Whether there is something to be known: a dash says that there is not, such as an idle time if nothing is idle."""
    return column.cell(row).text.strip() != ABSENT


def _as_number(column: Column[Row], row: Row) -> float | None:
    """A row's number, or the bound that it is sorted by; None if there is neither."""
    number = column.value(row)
    if number is None and column.rank is not None:
        number = column.rank(row)
    return number if isinstance(number, int | float) else None


def _level(term: Term, column: Column[Row]) -> Verdict:
    wanted = next((level for level in Health if level.word.startswith(term.value.casefold())), None)
    if wanted is None:
        raise SettingsError(f"no such level: {term.value}", _example(column))
    compare = _COMPARE[term.sign]

    def matches(row: Row) -> bool:
        level = None if column.rank is None else column.rank(row)
        return compare(
            level if isinstance(level, IntEnum) else Health[str(column.value(row)).upper()], wanted
        )

    return matches


def _id(term: Term, column: Column[Row]) -> Verdict:
    if term.sign == ":":
        return _text(term, column, Measure.TEXT)
    try:
        wanted = EntryId.parse(term.value)
    except ValueError:
        raise SettingsError(f"{term.name} is compared with an ID, such as 1795100000000-0", "") from None
    compare = _COMPARE[term.sign]

    def matches(row: Row) -> bool | None:
        text = column.value(row)
        if text is None:
            return None if _applies(column, row) else False
        try:
            return compare(EntryId.parse(str(text)), wanted)
        except ValueError:
            return None

    return matches


def _text(term: Term, column: Column[Row], measure: Measure) -> Verdict:
    if term.sign in ORDERINGS and measure is Measure.TEXT:
        raise SettingsError(
            f"{term.name} has words, and no order: {term.name}:{term.value}", _example(column)
        )
    wanted = term.value.casefold()
    if term.sign == ":":
        return lambda row: wanted in _words(column, row)
    compare = _COMPARE[term.sign]
    unlike = term.sign == "!="

    def matches(row: Row) -> bool | None:
        text = column.value(row)
        if text is None:
            return None if _applies(column, row) else unlike
        return compare(str(text).casefold(), wanted)

    return matches


def _words(column: Column[Row], row: Row) -> str:
    """What stands in the column, as it is shown and as machines get it."""
    value = column.value(row)
    return f"{column.cell(row).text} {'' if value is None else value}".casefold()


def _example(column: Column[Any]) -> str:
    name = column.title.casefold().replace(" ", "_") if column.title.isascii() else column.key
    examples = {
        Measure.TEXT: f"{name}:part or {name}=whole",
        Measure.COUNT: f"{name}>1000, {name}=0, {name}=?",
        Measure.SPAN: f"{name}>5m",
        Measure.SIZE: f"{name}>64KiB",
        Measure.SHARE: f"{name}<50%",
        Measure.ID: f"{name}>1795100000000-0",
        Measure.TIME: f"{name}>2026-03-01T14",
        Measure.LEVEL: f"{name}:crit or {name}>=warn; there are ok, unknown, warn, critical",
    }
    return examples[measure_of(column)]


_ENDINGS: Final = ("_seconds", "_per_second", "_bytes")
_LISTED: Final = 12
_MOST_NAMES: Final = 3
NONE: Final[frozenset[str]] = frozenset()
EVERY_SIGN: Final = frozenset(SIGNS)
FIELD_SIGNS: Final = EVERY_SIGN - ORDERINGS
"""Those with which fields of entries are shown, so that they belong to words in lists of entries."""


def names_of(column: Column[Any]) -> tuple[str, ...]:
    """What a column is called in a filter: its title as it stands on the screen, and its key, with or without the unit."""
    title = column.title.casefold().replace(" ", "_")
    short = next((column.key.removesuffix(end) for end in _ENDINGS if column.key.endswith(end)), column.key)
    return tuple(dict.fromkeys(name for name in (title, column.key, short) if name))


def column_named(name: str, columns: Sequence[Column[Row]]) -> Column[Row] | None:
    """The column that a name means, by its title before its key; None if none is called so."""
    name = name.casefold().replace("-", "_")
    for which in range(_MOST_NAMES):
        for column in columns:
            if name in names_of(column)[which : which + 1]:
                return column
    return None


class Filter(Generic[Row]):
    """A compiled filter.

    A name before ``>``, ``<``, ``>=`` and ``<=`` must be a column's. Before ``:`` and ``=`` one that is no column's
    makes the whole a word, since names of streams hold colons and fields of entries are shown as ``name=value``.

    Attributes:
        text: As it was typed.
    """

    def __init__(self, text: str, columns: Sequence[Column[Row]], literal: frozenset[str] = NONE) -> None:
        """Compile a text; raises ``SettingsError`` if a comparison cannot be made.

        Args:
            text: What was typed.
            columns: The columns that may be compared.
            literal: Signs that always belong to words.
        """
        self.text = text
        self._words: list[tuple[str, bool]] = []
        self._conditions: list[tuple[Verdict, bool]] = []
        for term in parse_terms(text):
            column = None if term.sign in literal else _column(term, columns)
            if column is None:
                self._words.append((term.text.casefold(), not term.negated))
            else:
                self._conditions.append((condition(term, column), not term.negated))

    @property
    def empty(self) -> bool:
        """Whether every row passes."""
        return not (self._words or self._conditions)

    def verdict(self, row: Row, words: str) -> bool | None:
        """Whether a row passes; None if what is compared is not known of it, and nothing else shuts it out.

        Args:
            row: The row.
            words: What of it is searched for words, case folded.
        """
        if any((word in words) is not wanted for word, wanted in self._words):
            return False
        unknown = False
        for told in self._answers(row):
            if told is False:
                return False
            unknown = unknown or told is None
        return None if unknown else True

    def _answers(self, row: Row) -> Iterator[bool | None]:
        for ask, wanted in self._conditions:
            answer = ask(row)
            yield None if answer is None else answer is wanted


def _column(term: Term, columns: Sequence[Column[Row]]) -> Column[Row] | None:
    """The column that a term compares; none for a word. Raises ``SettingsError`` if it must be one and is none."""
    if not term.sign:
        return None
    column = column_named(term.name, columns)
    if column is None and term.sign in ORDERINGS:
        raise SettingsError(f"no column is called {term.name}", _known(term, columns))
    return column


def _known(term: Term, columns: Sequence[Column[Row]]) -> str:
    names = {names_of(column)[0]: column for column in columns}
    close = get_close_matches(term.name.casefold(), names, n=1)
    if close:
        return f'did you mean {close[0]}? To find it as text: "{term.text}"'
    listed = list(names)
    more = ", …" if len(listed) > _LISTED else ""
    return f"there are {', '.join(listed[:_LISTED])}{more}"
