"""Text that a terminal only shows, whatever a server, a producer or a file says, and names of any bytes without loss."""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from shlex import quote
from typing import Any, Final

import msgspec

from streamops.model.entries import PendingEntry


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

Json = dict[str, Any]


def text_json(text: str) -> str | Json:
    """A name from the server; base64 of its bytes where they were not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return {"base64": b64encode(name_bytes(text)).decode()}
    return text


def payload_json(value: bytes) -> str | Json:
    """A field's name or value; base64 where it is not UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(value).decode()}


def encode(document: Mapping[str, Any], *, indent: int = 0) -> str:
    r"""Write a document as JSON that is safe to print: what a terminal would obey or hide is ``\uNNNN``.

    Args:
        document: Plain values.
        indent: Spaces a level; 0 writes one line.
    """
    encoded = msgspec.json.encode(document)
    return safe_json((msgspec.json.format(encoded, indent=indent) if indent else encoded).decode())


DAY = 86_400
UNITS = ((DAY, "d"), (3_600, "h"), (60, "min"), (1, "s"))
"""Units of spans, in seconds."""
FINE_UNITS = ("d", "h")
"""Units large enough that the next smaller one is told too."""

FEW = 5
"""Names that are told of many."""


def counted(number: int, one: str, many: str) -> str:
    """``1 entry`` or ``1,200 entries``."""
    return f"{number:,} {one if number == 1 else many}"


def first_few(names: Sequence[str]) -> str:
    """The first few names of many, as they are given: ``a, b, c, d, e and 1,200 more``."""
    more = len(names) - FEW
    return ", ".join(names[:FEW]) + (f" and {more:,} more" if more > 0 else "")


def span(duration: timedelta) -> str:
    """A span in one or two units, rounded down: ``45 s``, ``12 min``, ``3 h 20 min``; ``0 s`` for none."""
    # In whole seconds, since an incident has thousands of these: spans divide slowly.
    seconds = duration.days * DAY + duration.seconds
    for place, (size, unit) in enumerate(UNITS):
        if seconds < size:
            continue
        whole, rest = divmod(seconds, size)
        if unit not in FINE_UNITS:
            return f"{whole} {unit}"
        smaller, name = UNITS[place + 1]
        more = rest // smaller
        return f"{whole} {unit} {more} {name}" if more else f"{whole} {unit}"
    return "0 s"


def idleness(row: PendingEntry) -> str:
    """``idle for 12 min``, or ``free for any consumer`` of one that was given back."""
    return "free for any consumer" if row.free else f"idle for {span(row.idle)}"


def instant(moment: datetime) -> str:
    """An instant in UTC, to the millisecond: ``2026-03-01T14:00:00.000Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def quoted(name: str) -> str:
    """A name as one word of a shell: itself where it is plain, else quoted.

    What a terminal could not show is written as the escapes of ``$'...'``, which bash, zsh and ksh read
    back as the very bytes of the name.
    """
    if name.isprintable():
        return quote(name)
    return "$'" + "".join(map(_escaped, name)) + "'"


def _escaped(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in name_bytes(character))


def command(verb: str, *names: str, options: str = "") -> str:
    """A line of shell: ``streamops``, the verb, its names quoted, its options as they stand."""
    words = [quoted(name) for name in names]
    given = [options] if options else []
    if any(name.startswith("-") for name in names):
        # After ``--`` a leading hyphen is a name's own.
        return " ".join(["streamops", verb, *given, "--", *words])
    return " ".join(["streamops", verb, *words, *given])
