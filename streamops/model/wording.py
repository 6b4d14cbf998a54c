"""Numbers, spans and names in the sentences of findings. Every text from here is safe on a terminal."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from shlex import quote

from streamops.model.entries import PendingEntry
from streamops.model.text import name_bytes

DAY = 86_400


UNITS = ((DAY, "d"), (3_600, "h"), (60, "min"), (1, "s"))
"""Units of spans, in seconds."""


FINE_UNITS = ("d", "h")
"""Units large enough that the next smaller one is told too."""


FEW = 5
"""Names that are listed of many."""


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
    """An instant in UTC, as tables and lists write it: ``2026-03-01 14:00:00Z``."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%SZ}"


def quoted(name: str) -> str:
    """A name as one word of a shell: itself if it is plain, else quoted.

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
