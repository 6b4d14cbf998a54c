"""How long to wait after each failure: backoff, and schedules as people write them. Pure."""

import re
from datetime import timedelta
from typing import Final

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.measures import parse_duration, typed_duration


class Backoff(Struct, frozen=True):
    """``first``, ``factor`` times as long with each failure in a row, up to ``longest``.

    Attributes:
        first: Seconds after the first failure.
        longest: Seconds at most.
        factor: By how much each pause is longer than the one before.
    """

    first: float
    longest: float
    factor: float = 2.0

    def pause(self, failures: int, chance: float = 1.0) -> float:
        """Seconds to wait after this many failures in a row, from 1 on.

        Args:
            failures: How many.
            chance: A random number of [0, 1): half of the pause is left to it, so that many who failed at once do not
                come back at once.
        """
        try:
            plain = min(self.first * self.factor ** (failures - 1), self.longest)
        except OverflowError:
            plain = self.longest
        return plain * (1 + chance) / 2


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
_LINEAR: Final = re.compile(rf"({_NUMBER})n ?\+ ?({_NUMBER}) ?(d|h|m|minutes?|s|seconds?|ms)")


class LinearSchedule(Struct, frozen=True):
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
        plain = timedelta(
            seconds=Backoff(self.base.total_seconds(), self.cap.total_seconds()).pause(failures)
        )
        return plain * chance if self.jitter else plain

    @property
    def text(self) -> str:
        """As it is written."""
        return f"exponential {typed_duration(self.base)} {typed_duration(self.cap)}{' jitter' if self.jitter else ''}"


class DelayList(Struct, frozen=True):
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
        return ", ".join(map(typed_duration, self.delays))


Schedule = LinearSchedule | Growing | DelayList
MINUTES_2N_1: Final = LinearSchedule(timedelta(minutes=2), timedelta(minutes=1))
"""1, 3, 5 ... minutes."""


def parse_schedule(text: str) -> Schedule:
    """Read a schedule; raises ``ValueError`` if it is none."""
    written = " ".join(text.split())
    if match := _LINEAR.fullmatch(written):
        unit = _UNITS["ms" if match[3] == "ms" else match[3][0]]
        return LinearSchedule(_bounded(float(match[1]) * unit), _bounded(float(match[2]) * unit))
    if written.startswith("exponential"):
        return _parse_growing(written.split(" ")[1:])
    delays = tuple(_parse_delay(part.strip()) for part in written.split(","))
    if len(delays) > MOST_DELAYS:
        raise ValueError(f"more than {MOST_DELAYS} delays")
    return DelayList(delays)


def _parse_growing(words: list[str]) -> Schedule:
    jitter = words[-1:] == ["jitter"]
    spans = words[:-1] if jitter else words
    if len(spans) != 2:  # noqa: PLR2004 - the base and the cap
        raise ValueError("exponential needs its first delay and its longest")
    base, cap = map(_parse_delay, spans)
    if base > cap:
        raise ValueError("exponential begins above its longest delay")
    return Growing(base, cap, jitter)


def _parse_delay(text: str) -> timedelta:
    """Read one delay; a number without a unit is none."""
    try:
        delay = parse_duration(text)
    except SettingsError:
        delay = None
    if delay is None or not text[-1:].isalpha():
        raise ValueError("not a delay, nor a schedule of delays")
    return _bounded(delay)


def _bounded(span: timedelta) -> timedelta:
    if span > LONGEST:
        raise ValueError("a delay of more than a year")
    return span // _UNITS["ms"] * _UNITS["ms"]
