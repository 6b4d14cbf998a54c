"""How long to wait after each failure, as text that people write: ``2n+1 m``, ``1m, 5m, 1h``, ``exponential 10s 1h``.

A schedule is called like those of handlers: with the number of failures so far, from 1 on, and a random number of
[0, 1).
"""

import re
from datetime import timedelta
from typing import Final

from msgspec import Struct

LONGEST: Final = timedelta(days=365)
MOST_DELAYS: Final = 100
HINT: Final = (
    'Write "2n+1 m" (1, 3, 5 minutes), "1m, 5m, 1h", or "exponential 10s 1h", with "jitter" behind it or not.'
)

_UNITS: Final = {
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
}
_NUMBER: Final = r"[0-9]{1,9}(?:\.[0-9]{1,3})?"
_SPAN: Final = re.compile("".join(rf"(?:({_NUMBER}){unit})?" for unit in _UNITS))
_LINEAR: Final = re.compile(rf"({_NUMBER})n ?\+ ?({_NUMBER}) ?(d|h|m|minutes?|s|seconds?|ms)")


class Linear(Struct, frozen=True):
    """``step * n + first``, n counted from nought.

    Attributes:
        step: By how much each delay is longer than the one before.
        first: The first delay.
    """

    step: timedelta
    first: timedelta

    def __call__(self, failures: int, chance: float) -> timedelta:  # noqa: ARG002 - a schedule's signature
        """How long to wait after that many failures."""
        return min(self.first + self.step * (failures - 1), LONGEST)

    @property
    def text(self) -> str:
        """As it is written."""
        unit = next(name for name, size in _UNITS.items() if not self.first % size and not self.step % size)
        return f"{self.step // _UNITS[unit]}n+{self.first // _UNITS[unit]} {unit}"


class Growing(Struct, frozen=True):
    """``base``, doubled after each failure, up to ``cap``.

    Attributes:
        base: The first delay.
        cap: The longest.
        jitter: Whether anything from nothing to the delay is waited, so that many failures do not come back as a herd.
    """

    base: timedelta
    cap: timedelta
    jitter: bool = False

    def __call__(self, failures: int, chance: float) -> timedelta:
        """How long to wait after that many failures."""
        # The exponent is bounded: a thousand failures must not overflow.
        grown = self.base.total_seconds() * 2.0 ** min(failures - 1, _DOUBLINGS)
        plain = timedelta(seconds=min(grown, self.cap.total_seconds()))
        return plain * chance if self.jitter else plain

    @property
    def text(self) -> str:
        """As it is written."""
        return f"exponential {_render(self.base)} {_render(self.cap)}{' jitter' if self.jitter else ''}"


class Listed(Struct, frozen=True):
    """A list of delays; the last of them again and again.

    Attributes:
        delays: At least one.
    """

    delays: tuple[timedelta, ...]

    def __call__(self, failures: int, chance: float) -> timedelta:  # noqa: ARG002 - a schedule's signature
        """How long to wait after that many failures."""
        return self.delays[min(failures, len(self.delays)) - 1]

    @property
    def text(self) -> str:
        """As it is written."""
        return ", ".join(map(_render, self.delays))


Schedule = Linear | Growing | Listed
MINUTES_2N_1: Final = Linear(timedelta(minutes=2), timedelta(minutes=1))
"""1, 3, 5 ... minutes."""

_DOUBLINGS: Final = 40
"""After so many, a millisecond is more than the longest delay."""


def parse_schedule(text: str) -> Schedule:
    """Read a schedule; raises ``ValueError`` where it is none."""
    written = " ".join(text.split())
    if match := _LINEAR.fullmatch(written):
        unit = _UNITS["ms" if match[3] == "ms" else match[3][0]]
        return Linear(_bounded(float(match[1]) * unit), _bounded(float(match[2]) * unit))
    if written.startswith("exponential"):
        return _parse_growing(written.split(" ")[1:])
    delays = tuple(parse_span(part.strip()) for part in written.split(","))
    if len(delays) > MOST_DELAYS:
        raise ValueError(f"more than {MOST_DELAYS} delays")
    return Listed(delays)


def _parse_growing(words: list[str]) -> Schedule:
    jitter = words[-1:] == ["jitter"]
    spans = words[:-1] if jitter else words
    if len(spans) != 2:  # noqa: PLR2004 - the base and the cap
        raise ValueError("exponential needs its first delay and its longest")
    base, cap = map(parse_span, spans)
    if base > cap:
        raise ValueError("exponential begins above its longest delay")
    return Growing(base, cap, jitter)


def parse_span(text: str) -> timedelta:
    """Read a span such as ``1h30m``; raises ``ValueError`` where it is none, or longer than a year."""
    match = _SPAN.fullmatch(text)
    if not text or match is None:
        raise ValueError("not a delay, nor a schedule of delays")
    parts = zip(match.groups(), _UNITS.values(), strict=True)
    return _bounded(sum((float(number) * size for number, size in parts if number), timedelta()))


def _bounded(span: timedelta) -> timedelta:
    if span > LONGEST:
        raise ValueError("a delay of more than a year")
    return span // _UNITS["ms"] * _UNITS["ms"]


def _render(span: timedelta) -> str:
    written, rest = "", span
    for name, size in _UNITS.items():
        number, rest = divmod(rest, size)
        written += f"{number}{name}" if number else ""
    return written or "0s"
