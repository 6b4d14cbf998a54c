"""Numbers as people read them. Unknown is ``?``, not applicable or not there yet is a dash; neither is ever 0."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from streamops.model.lag import Lag, LagBasis
from streamops.model.observation import Health
from streamops.model.wording import instant
from streamops.resources.table import Cell, Tone

UNKNOWN: Final = "?"
ABSENT: Final = "\N{EN DASH}"

_SUFFIXES: Final = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
_SIZES: Final = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
_COMPACT_FROM: Final = 10_000
_TEN: Final = 10
_HUNDRED: Final = 100
_MILLISECONDS: Final = timedelta(milliseconds=1)
_BRIEF_UNITS: Final = (
    (timedelta(days=1), "d", 2),
    (timedelta(hours=1), "h", 1),
    (timedelta(minutes=1), "m", 1),
    (timedelta(seconds=1), "s", 1),
)
"""Each with how many of it there are at least: hours tell more of a day than one day does."""
_WHOLE_UNITS: Final = (
    (timedelta(days=1), "d"),
    (timedelta(hours=1), "h"),
    (timedelta(minutes=1), "m"),
    (timedelta(seconds=1), "s"),
)
_SMALLEST_RATE: Final = 0.01

_HEALTH_CELLS: Final = {
    Health.OK: Cell("✓ ok", Tone.OK),
    Health.UNKNOWN: Cell("? unknown", Tone.UNKNOWN),
    Health.WARN: Cell("▲ warn", Tone.WARN),
    Health.CRITICAL: Cell("✗ crit", Tone.CRITICAL),
}
_BOUND_SIGNS: Final = {LagBasis.UPPER: "≤", LagBasis.LOWER: "≥", LagBasis.ESTIMATED: "~"}


def count(number: int | None) -> str:
    """Every digit, grouped: ``1,234,567``; ``?`` where unknown."""
    return UNKNOWN if number is None else f"{number:,}"


def compact(number: int | None) -> str:
    """At most five characters (six below zero): ``9,999``, ``12.3k``, ``4.5M``; digits are cut, not rounded up."""
    if number is None:
        return UNKNOWN
    sign, size = ("-", -number) if number < 0 else ("", number)
    if size < _COMPACT_FROM:
        return f"{sign}{size:,}"
    factor, suffix = next((factor, suffix) for factor, suffix in _SUFFIXES if size >= factor)
    whole, rest = divmod(size, factor)
    if whole < _HUNDRED:
        return f"{sign}{whole}.{rest * 10 // factor}{suffix}"
    return f"{sign}{whole:,}{suffix}"


def duration(span: timedelta | None) -> str:
    """Two units at most, six characters up to three years: ``850ms``, ``4.2s``, ``12s``, ``4m10s``, ``3h02m``, ``2d4h``."""
    if span is None:
        return UNKNOWN
    if span < timedelta(0):
        return f"-{duration(-span)}"
    if span < timedelta(seconds=1):
        return _short_duration(span)
    seconds = span // timedelta(seconds=1)
    if seconds < _TEN:
        return f"{span // timedelta(milliseconds=100) / 10:.1f}s"
    return _long_duration(seconds)


def _short_duration(span: timedelta) -> str:
    if not span:
        return "0s"
    milliseconds = span // _MILLISECONDS
    return f"{milliseconds}ms" if milliseconds else "<1ms"


def _long_duration(seconds: int) -> str:
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    if days >= _HUNDRED:
        return f"{days}d"
    if days:
        return f"{days}d{hour}h"
    if hours:
        return f"{hours}h{minute:02}m"
    return f"{minute}m{second:02}s" if minute else f"{second}s"


def terse(span: timedelta) -> str:
    """A round span without its zeros, for limits: ``10s``, ``5m``, ``1h``; otherwise as ``duration`` has it."""
    for unit, letter in _WHOLE_UNITS:
        if span and span % unit == timedelta(0):
            return f"{span // unit}{letter}"
    return duration(span)


def brief(span: timedelta | None) -> str:
    """The largest unit alone, for ages that change seldom: ``12s``, ``4m``, ``27h``, ``12d``; ``?`` where unknown."""
    if span is None:
        return UNKNOWN
    for unit, letter, least in _BRIEF_UNITS:
        if span >= unit * least:
            return f"{span // unit}{letter}"
    return "0s"


def rate(per_second: float | None) -> str:
    """A second's worth: ``0/s``, ``0.52/s``, ``12.3/s``, ``1,234/s``, ``12.3k/s``; a dash before there are two readings."""
    if per_second is None:
        return ABSENT
    sign = "-" if per_second < 0 else ""
    return f"{sign}{_speed(abs(per_second))}/s"


def _speed(number: float) -> str:
    if number == 0:
        return "0"
    if number < _SMALLEST_RATE:
        return f"<{_SMALLEST_RATE}"
    if number < _TEN:
        return f"{number:.2f}"
    return f"{number:.1f}" if number < _HUNDRED else compact(int(number))


def size(number: int | None) -> str:
    """Bytes in binary units: ``512 B``, ``1.5 KiB``, ``64.0 KiB``; ``?`` where unknown."""
    if number is None:
        return UNKNOWN
    for factor, suffix in _SIZES:
        if number >= factor:
            return f"{number / factor:.1f} {suffix}"
    return f"{number} B"


def percent(share: float | None, *, rounded: bool = False) -> str:
    """A share of 0 to 1 as ``37 %``; never rounded up to ``100 %`` nor down to ``0 %``; ``?`` where unknown.

    Args:
        share: The share.
        rounded: Whether to take the nearest number, as for shares that make up a whole; else the one below.
    """
    if share is None:
        return UNKNOWN
    if 0 < share < _SMALLEST_RATE:
        return "<1 %"
    whole = round(share * 100) if rounded else int(share * 100)
    return f"{whole if share >= 1 else min(whole, 99)} %"


def timestamp(moment: datetime | None) -> str:
    """To the second, in UTC: ``2026-03-01 14:05:09Z``; ``?`` where unknown."""
    return UNKNOWN if moment is None else instant(moment)


def rfc3339(moment: datetime) -> str:
    """To the millisecond, in UTC, for machines: ``2026-03-01T14:05:09.250Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def lag_text(lag: Lag) -> Cell:
    """The lag with the sign of its basis: ``1,204`` exact or reported, ``≤5,000``, ``≥10,000``, ``~5,000``, ``?``."""
    if lag.known:
        return Cell(count(lag.entries), Tone.PLAIN if lag.entries else Tone.DIM)
    number = _bound(lag)
    if number is None:
        return Cell(UNKNOWN, Tone.UNKNOWN)
    return Cell(_BOUND_SIGNS[lag.basis] + count(number), Tone.UNKNOWN)


def _bound(lag: Lag) -> int | None:
    match lag.basis:
        case LagBasis.UPPER:
            return lag.upper
        case LagBasis.LOWER:
            return lag.lower
        case LagBasis.ESTIMATED:
            return lag.entries
        case _:
            return None


def health_text(health: Health) -> Cell:
    """The health as glyph and word, coloured: ``✓ ok``, ``▲ warn``, ``✗ crit``, ``? unknown``."""
    return _HEALTH_CELLS[health]


BLOCKS: Final = "▁▂▃▄▅▆▇█"
LEAST_LAG: Final = 10
"""The lag of a full block, at least: a lag of 1 is a low bar, whatever was there before it."""
_ROUND: Final = (1, 2, 5, 10)


def spark(trend: Sequence[int | None], width: int, top: int = 1) -> str:
    """Draw the last ``width`` readings, oldest left; none is a blank, and the scale runs from 0 on.

    Zero is always the lowest block and anything above zero is at least the second: a backlog of one
    entry must not look like none.

    Args:
        trend: The readings.
        width: Cells there are.
        top: The reading of a full block, unless one is greater: lines with one top can be compared.
    """
    shown = trend[-width:] if width > 0 else ()
    most = max(top, greatest(shown))
    return "".join(_block(reading, most) for reading in shown).rjust(max(width, 0))


def greatest(trend: Sequence[int | None]) -> int:
    """The greatest reading; 0 if none is known."""
    return max((reading for reading in trend if reading is not None), default=0)


def common_top(number: int) -> int:
    """The least 1, 2 or 5 times a power of ten that is not below a number: a scale that seldom changes."""
    magnitude = int("1" + "0" * (len(str(max(number, 1))) - 1))
    return next(factor * magnitude for factor in _ROUND if factor * magnitude >= number)


def _block(reading: int | None, top: int) -> str:
    if reading is None:
        return " "
    if reading <= 0:
        return BLOCKS[0]
    steps = len(BLOCKS) - 1
    return BLOCKS[-(-reading * steps // top)]
