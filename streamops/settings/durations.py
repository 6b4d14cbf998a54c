"""Spans of time as people write them in flags and files: ``30s``, ``5m``, ``1h30m``, ``250ms``, or plain seconds."""

import re
from datetime import timedelta
from typing import Final

from streamops.errors import SettingsError

LONGEST: Final = timedelta(days=3650)

_UNITS: Final = {
    "w": timedelta(weeks=1),
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
}
_NUMBER: Final = r"[0-9]{1,12}(?:\.[0-9]{1,6})?"
_PLAIN: Final = re.compile(_NUMBER)
_WRITTEN: Final = re.compile("".join(rf"(?:({_NUMBER}){unit})?" for unit in _UNITS))
_HINT: Final = "Write 250ms, 30s, 5m, 1h30m, 2d, or a number of seconds."


def parse_duration(written: str | float) -> timedelta:
    """Read a span of time, zero included.

    Args:
        written: Numbers with the units w, d, h, m, s and ms, longest first and each once; or seconds.

    Returns:
        The span, to the microsecond.

    Raises:
        SettingsError: It is none, or is longer than ten years.
    """
    text = written.strip() if isinstance(written, str) else f"{written:.6f}"
    if _PLAIN.fullmatch(text):
        return _bounded(float(text))
    match = _WRITTEN.fullmatch(text)
    if not text or match is None:
        raise SettingsError("not a duration", _HINT)
    numbers = zip(match.groups(), _UNITS.values(), strict=True)
    return _bounded(sum(float(number) * unit.total_seconds() for number, unit in numbers if number))


def _bounded(seconds: float) -> timedelta:
    if seconds > LONGEST.total_seconds():
        raise SettingsError("a duration of more than ten years", _HINT)
    return timedelta(seconds=seconds)
