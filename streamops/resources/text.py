"""Text for terminals: cut, shortened, in ASCII where need be. What makes it safe stands in ``model.safe_text``."""

from typing import Final

from streamops.model.text import INVISIBLE, is_safe, safe, safe_lines

__all__ = [
    "ASCII_GLYPHS",
    "ELLIPSIS",
    "INVISIBLE",
    "cut_bytes",
    "in_ascii",
    "is_safe",
    "safe",
    "safe_bytes",
    "safe_lines",
    "shorten",
]

ELLIPSIS: Final = "…"
TAIL_BYTES: Final = 3

ASCII_GLYPHS: Final = str.maketrans(
    {
        "✓": "+",
        "▲": "!",
        "✗": "x",
        "‖": "=",
        "·": ".",
        "≤": "<=",
        "≥": ">=",
        "\N{EN DASH}": "-",
        "…": "...",
        "▸": ">",
        "▁": "_",
        "▂": ".",
        "▃": "-",
        "▄": "-",
        "▅": "=",
        "▆": "=",
        "▇": "*",
        "█": "#",
    }
)


def safe_bytes(value: bytes, limit: int) -> str:
    """Show at most ``limit`` bytes of a payload on one line, and how many more there are.

    The cut comes before the decoding, so that a value of megabytes costs what its shown part costs.
    """
    shown, rest = cut_bytes(value, limit)
    text = safe(shown.decode("utf-8", "backslashreplace"))
    return f"{text}{ELLIPSIS} +{rest:,} bytes" if rest else text


def cut_bytes(value: bytes, limit: int) -> tuple[bytes, int]:
    """Cut after at most ``limit`` bytes, not inside a UTF-8 character; return the head and the bytes left out."""
    if len(value) <= limit:
        return value, 0
    end = limit
    while end > limit - TAIL_BYTES and end > 0 and value[end] & 0xC0 == 0x80:  # noqa: PLR2004 - UTF-8 continuation
        end -= 1
    return value[:end], len(value) - end


def in_ascii(text: str) -> str:
    """Replace the glyphs that streamops itself draws by ASCII, for terminals and logs without Unicode."""
    return text if text.isascii() else text.translate(ASCII_GLYPHS)


def shorten(text: str, width: int) -> str:
    """Cut safe text to ``width`` characters, with an ellipsis where something is missing."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + ELLIPSIS
