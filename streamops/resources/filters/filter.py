"""A filter made for a list: every term a question that a row answers with yes, no, or that nobody knows."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, Final, Generic, TypeVar

from streamops.errors import SettingsError
from streamops.resources.filters.conditions import Verdict, condition
from streamops.resources.filters.terms import ORDERINGS, SIGNS, Term, parse_terms
from streamops.resources.table import Column

Row = TypeVar("Row")
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
    """The column that a name means, by its title before its key; none where none is called so."""
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
        """Compile a text; raises ``SettingsError`` where a comparison cannot be made.

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
        """Whether a row passes; none where what is compared is not known of it, and nothing else shuts it out.

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
    """The column that a term compares; none for a word. Raises ``SettingsError`` where it must be one and is none."""
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
