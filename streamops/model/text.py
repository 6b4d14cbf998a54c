"""Text that a terminal only shows, whatever a server, a producer or a file says, and names of any bytes without loss."""

import re
from collections.abc import Callable
from typing import Final


def name_bytes(name: str) -> bytes:
    """The bytes of a name, as a server has it."""
    return name.encode("utf-8", "surrogateescape")


def name_text(raw: bytes) -> str:
    """A name as text; bytes that are no UTF-8 become surrogates."""
    return raw.decode("utf-8", "surrogateescape")


CACHED_CODES: Final = 4096
BYTE_SURROGATES: Final = range(0xDC80, 0xDD00)
WIDE_SPACE: Final = 0x3000
ASTRAL: Final = 0x10000
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
NAMED: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

# Letters and marks by category, and yet nothing to see: fillers, joiners, variation selectors, the blank
# Braille pattern. What ``str.isprintable`` refuses (all of Cc, Cf, Cs, Co, Cn, Zl, Zp, odd spaces) is not listed.
INVISIBLE: Final = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
    | set(range(0x180B, 0x1810))
    | set(range(0xFE00, 0xFE10))
    | set(range(0xE0100, 0xE01F0))
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


def safe_json(encoded: str) -> str:
    r"""Return encoded JSON, unchanged in what it says, with ``\uNNNN`` for what a terminal would obey, reorder by or hide."""
    if encoded.isascii() and encoded.isprintable():
        return encoded
    return encoded.translate(_JSON_ESCAPES)


def encodable(text: str) -> str:
    r"""Return ``text`` as it can be sent: bytes that were not UTF-8 (lone surrogates) show as ``\xNN``."""
    return text if text.isascii() else _SURROGATES.sub(lambda found: _escape(found[0]), text)


def is_safe(character: str) -> bool:
    """Whether one character may stand in text for a terminal as it is."""
    code = ord(character)
    return (character.isprintable() or code == WIDE_SPACE) and code not in INVISIBLE


def _escape(character: str) -> str:
    code = ord(character)
    if character in NAMED:
        return NAMED[character]
    if code in BYTE_SURROGATES:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:  # noqa: PLR2004 - the end of ASCII; C1 is written \u00NN to differ from a stray byte
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - the end of the first plane


def _json_escape(character: str) -> str:
    code = ord(character)
    if character == "\n":
        # Between values: within a text it is escaped already.
        return character
    if code < ASTRAL:
        return f"\\u{code:04x}"
    high, low = divmod(code - ASTRAL, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


class _Escapes(dict[int, str]):
    """A table for ``str.translate`` that fills itself, up to a size that hostile text cannot push."""

    def __init__(self, escape: Callable[[str], str]) -> None:
        super().__init__()
        self._escape = escape

    def __missing__(self, code: int) -> str:
        character = chr(code)
        shown = character if is_safe(character) else self._escape(character)
        if len(self) < CACHED_CODES:
            self[code] = shown
        return shown


_ESCAPES = _Escapes(_escape)
_JSON_ESCAPES = _Escapes(_json_escape)
