r"""The one sanitiser: whatever a server, a producer or a file says becomes text that a terminal only shows.

A terminal obeys some characters (ESC, C0, C1), reorders by others (bidi controls) and hides others again
(zero-width ones). All of those leave here as visible escapes such as ``\x1b`` or ``\u202e``. Backslashes
that were there before stay as they are: the aim is safety and legibility, not a reversible coding.
"""

from typing import Final

ELLIPSIS: Final = "…"
TAIL_BYTES: Final = 3
CACHED_CODES: Final = 4096
BYTE_SURROGATES: Final = range(0xDC80, 0xDD00)
WIDE_SPACE: Final = 0x3000
NAMED: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

# Letters and marks by category, and yet nothing to see: fillers, joiners, variation selectors, the blank
# Braille pattern. What ``str.isprintable`` refuses (all of Cc, Cf, Cs, Co, Cn, Zl, Zp, odd spaces) is not listed.
INVISIBLE: Final = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
    | set(range(0x180B, 0x1810))
    | set(range(0xFE00, 0xFE10))
    | set(range(0xE0100, 0xE01F0))
)

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


def safe(text: str) -> str:
    r"""Return ``text`` as one line without any character that a terminal obeys, reorders by or hides.

    Bytes that were not UTF-8 (lone surrogates of ``surrogateescape``) show as ``\xNN``.
    """
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_ESCAPES)


def safe_lines(text: str) -> str:
    """Return ``text`` with its line breaks (LF, CRLF) kept and everything else as ``safe`` has it."""
    if text.isascii() and text.isprintable():
        return text
    return "\n".join(safe(line) for line in text.replace("\r\n", "\n").split("\n"))


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


def is_safe(character: str) -> bool:
    """Whether one character may stand in text for a terminal as it is."""
    code = ord(character)
    return (character.isprintable() or code == WIDE_SPACE) and code not in INVISIBLE


def in_ascii(text: str) -> str:
    """Replace the glyphs that streamops itself draws by ASCII, for terminals and logs without Unicode."""
    return text if text.isascii() else text.translate(ASCII_GLYPHS)


def shorten(text: str, width: int) -> str:
    """Cut safe text to ``width`` characters, with an ellipsis where something is missing."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + ELLIPSIS


def _escape(character: str) -> str:
    code = ord(character)
    if character in NAMED:
        return NAMED[character]
    if code in BYTE_SURROGATES:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:  # noqa: PLR2004 - the end of ASCII; C1 is written \u00NN to differ from a stray byte
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - the end of the first plane


class _Escapes(dict[int, str]):
    """A table for ``str.translate`` that fills itself, up to a size that hostile text cannot push."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        shown = character if is_safe(character) else _escape(character)
        if len(self) < CACHED_CODES:
            self[code] = shown
        return shown


_ESCAPES = _Escapes()
