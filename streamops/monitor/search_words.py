"""Words that a person looks for: how they are typed, and whether an entry holds them. Pure."""

import re
from collections.abc import Iterable
from itertools import chain
from typing import Final, Self

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.entries import Entry

NOT: Final = "!"
BETWEEN: Final = b"\0"
_PIECE: Final = re.compile(r'"(?P<quoted>(?:[^"\\]|\\.)*)(?:"|\\?\Z)|(?P<plain>[^\s"]+)')
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


class Piece(Struct, frozen=True):
    """A run of characters of a token, and whether it stood in quotes."""

    text: str
    quoted: bool = False


def split_quoted(text: str) -> list[tuple[Piece, ...]]:
    """The tokens of a line, each made of pieces without a space between them.

    What stands in quotes is one piece, whatever it holds; a quote that is not closed goes to the end of the line.
    """
    tokens: list[list[Piece]] = []
    end = -1
    for piece in _PIECE.finditer(text):
        if piece.start() != end:
            tokens.append([])
        quoted = piece["quoted"]
        tokens[-1].append(
            Piece(piece["plain"]) if quoted is None else Piece(_ESCAPED.sub(r"\1", quoted), quoted=True)
        )
        end = piece.end()
    return [tuple(token) for token in tokens]


def split_words(text: str) -> tuple[list[str], list[str]]:
    """The words of a line that are wanted, and those behind a ``!``, which are not."""
    words = [_word(token) for token in split_quoted(text)]
    return (
        [word for word, negated in words if word and not negated],
        [word for word, negated in words if word and negated],
    )


class EntryWords:
    """Words that an entry must hold somewhere in its ID, its names or its values; case is ignored.

    Values are searched as the bytes they are: what JSON escapes, or a packer compresses, is found as it stands there.

    Attributes:
        wanted: Words that must be there, case folded.
        unwanted: Words that must not.
    """

    def __init__(self, wanted: Iterable[str], unwanted: Iterable[str] = ()) -> None:
        """Look for these words; raises ``SettingsError`` where there is none."""
        self.wanted = tuple(word.casefold() for word in wanted if word)
        self.unwanted = tuple(word.casefold() for word in unwanted if word)
        if not (self.wanted or self.unwanted):
            raise SettingsError("no word to look for", "Write words, !word for one that must not be there.")
        self._plain = all(word.isascii() for word in (*self.wanted, *self.unwanted))
        self._wanted = [word.encode("utf-8", "surrogateescape") for word in self.wanted]
        self._unwanted = [word.encode("utf-8", "surrogateescape") for word in self.unwanted]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Take ``billing !retry "two words"`` apart; raises ``SettingsError`` where there is no word."""
        return cls(*split_words(text))

    def __repr__(self) -> str:
        return f"EntryWords(wanted={self.wanted!r}, unwanted={self.unwanted!r})"

    def matches(self, entry: Entry) -> bool:
        """Whether an entry holds all that is wanted, and nothing that is not."""
        # One text for all parts: nobody can type what stands between them.
        parts = chain.from_iterable(entry.fields)
        text = _folded(BETWEEN.join((str(entry.id).encode(), *parts)), plain=self._plain)
        return all(word in text for word in self._wanted) and not any(word in text for word in self._unwanted)


def _word(token: tuple[Piece, ...]) -> tuple[str, bool]:
    first = token[0]
    negated = not first.quoted and first.text.startswith(NOT)
    text = "".join(piece.text for piece in token)
    return (text.removeprefix(NOT) if negated else text), negated


def _folded(text: bytes, *, plain: bool) -> bytes:
    """Case folded as text; where only ASCII is looked for, or is there, no decoding is needed, which costs more."""
    if plain or text.isascii():
        return text.lower()
    return text.decode("utf-8", "surrogateescape").casefold().encode("utf-8", "surrogateescape")
