"""The text of lines, and the characters in it that no terminal should be given."""

import unicodedata
from collections.abc import Iterable

from streamops.resources.table import Cell
from streamops.resources.text import INVISIBLE

FORBIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def unsafe_characters(text: str) -> list[str]:
    return [
        character
        for character in text
        if unicodedata.category(character) in FORBIDDEN_CATEGORIES or ord(character) in INVISIBLE
    ]


def text(line: Iterable[Cell]) -> str:
    """What a line says."""
    return "".join(cell.text for cell in line)
