"""Characters that no terminal should be given."""

import unicodedata

from streamops.present.text import (
    INVISIBLE,
)

FORBIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def unsafe_characters(text: str) -> list[str]:
    return [
        character
        for character in text
        if unicodedata.category(character) in FORBIDDEN_CATEGORIES or ord(character) in INVISIBLE
    ]
