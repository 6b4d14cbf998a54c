"""Numbers as people type them, in filters, options and files: ``1k``, ``10,000``, ``5m``, ``1h30m``, ``64kb``, ``50%``."""

import re
from datetime import timedelta
from typing import Final

from streamops.errors import SettingsError

LONGEST: Final = timedelta(days=3650)
LARGEST: Final = 1 << 50

_NUMBER: Final = r"[0-9][0-9,_]*(?:\.[0-9]+)?"
_PART: Final = re.compile(rf"({_NUMBER})\s*([A-Za-z%/]*)")

SPANS: Final = {
    "": 1.0,
    "ms": 0.001,
    "s": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3_600.0,
    "d": 86_400.0,
    "w": 604_800.0,
}
COUNTS: Final = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "/s": 1.0, "k/s": 1e3, "m/s": 1e6}
SIZES: Final = {"": 1.0, "b": 1.0} | {
    f"{letter}{unit}": float(base**power)
    for power, letter in enumerate("kmgt", 1)
    for unit, base in (("", 1000), ("b", 1024), ("ib", 1024))
}
"""As redis.conf has them: 1m is a million bytes, 1mb is 1,048,576."""
SHARES: Final = {"": 1.0, "%": 0.01}
_DURATION_HINT: Final = "Write 250ms, 30s, 5m, 1h30m, 2d, or a number of seconds."
_TYPED_UNITS: Final = {
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
}


def parse_measure(text: str, units: dict[str, float]) -> float | None:
    """The sum of the numbers of a text in their units; None if it is not made of such."""
    sign, text = (-1.0, text[1:]) if text.startswith("-") else (1.0, text)
    total, at = 0.0, 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or (factor := units.get(part[2].casefold())) is None:
            return None
        total += float(part[1].replace(",", "").replace("_", "")) * factor
        at = part.end()
    return sign * total if text else None


def parse_duration(written: str | float) -> timedelta:
    """Read a duration, zero included: numbers with the units w, d, h, m, s and ms; or seconds.

    Raises:
        SettingsError: It is none, or is longer than ten years.
    """
    text = written.strip() if isinstance(written, str) else f"{written:.6f}"
    seconds = parse_measure(text, SPANS)
    if seconds is None or seconds < 0:
        raise SettingsError("not a duration", _DURATION_HINT)
    if seconds > LONGEST.total_seconds():
        raise SettingsError("a duration of more than ten years", _DURATION_HINT)
    return timedelta(seconds=seconds)


def parse_size(written: str) -> int:
    """Read a number of bytes; with k, m, g or t it counts powers of 1000, with kb or kib and so on those of 1024.

    Raises:
        SettingsError: It is none.
    """
    number = parse_measure(written.strip(), SIZES)
    if number is None or not 0 <= number <= LARGEST:
        raise SettingsError("no number of bytes", "Write 500mb, 2gb, or a number of bytes.")
    return int(number)


def typed_duration(duration: timedelta) -> str:
    """A duration as one types it, to the microsecond: ``1h30m``, ``14d``, ``2s500ms``, ``0s``."""
    written, rest = "", duration
    for name, unit in _TYPED_UNITS.items():
        number, rest = divmod(rest, unit)
        written += f"{number}{name}" if number else ""
    if rest:
        written += f"{rest / timedelta(milliseconds=1):.3f}".rstrip("0").rstrip(".") + "ms"
    return written or "0s"
