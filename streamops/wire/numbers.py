"""Numbers and instants as anybody may have written them: what cannot be one is none, and what is beyond all bounds is at them."""

from datetime import datetime, timedelta
from typing import Final

from streamops.model.entries import EPOCH

LARGEST: Final = 2**63 - 1
"""The largest number that a server knows."""

MOST_DIGITS: Final = 18
"""Of a number that is taken for one."""

_MILLISECOND: Final = timedelta(milliseconds=1)
_LONGEST_MS: Final = timedelta.max // _MILLISECOND


def number(text: str | bytes | None) -> int | None:
    """A count; none where it is none."""
    plain = text is not None and len(text) <= MOST_DIGITS and text.isascii() and text.isdigit()
    return int(text) if plain and text is not None else None


def instant_of_ms(text: str | bytes | None) -> datetime | None:
    """An instant from its milliseconds; none where they are no plausible ones."""
    try:
        return None if text is None else EPOCH + timedelta(milliseconds=int(text))
    except (ValueError, OverflowError):
        return None


def span(milliseconds: int) -> timedelta:
    """A span of time; the longest there is where it is beyond that."""
    return min(milliseconds, _LONGEST_MS) * _MILLISECOND


def whole(told: int | bytes) -> int:
    """A count from a script, which writes in digits what it cannot tell as a number."""
    return told if isinstance(told, int) else min(int(told), LARGEST)
