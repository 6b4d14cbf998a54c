"""What was typed, as terms: ``billing !dlq lag>1000 "two words" health:crit``. Any text is some terms."""

import re
from typing import Final

from msgspec import Struct

from streamops.monitor.search import NOT, Piece, split_quoted

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
