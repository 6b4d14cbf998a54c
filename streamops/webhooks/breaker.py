"""A circuit breaker for one host: failures in a row open it, and one call tries it after a pause. Pure."""

from datetime import timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct

from streamops.model.schedules import Backoff

LONGEST_PAUSE: Final = timedelta(minutes=2)


class BreakerState(StrEnum):
    """Where a breaker stands."""

    CLOSED = "closed"
    """Calls go through."""
    OPEN = "open"
    """None does, until its pause is over."""
    HALF_OPEN = "half-open"
    """One does, and decides."""


class BreakerOptions(Struct, frozen=True):
    """When a breaker opens, and for how long.

    Attributes:
        failures: Failures in a row after which it opens.
        pause: How long it stays open the first time; doubled each time that the trial fails.
    """

    failures: int = 5
    pause: timedelta = timedelta(seconds=10)


class Breaker:
    """The breaker of one host; `now` is in seconds of a monotonic clock."""

    def __init__(self, options: BreakerOptions) -> None:
        self._options = options
        self._failures = 0
        self._openings = 0
        self._closed_until = 0.0
        self._state = BreakerState.CLOSED
        self._on_trial = False

    def state(self, now: float) -> BreakerState:
        """Where it stands."""
        if self._state is BreakerState.OPEN and now >= self._closed_until:
            return BreakerState.HALF_OPEN
        return self._state

    def admit(self, now: float) -> float:
        """Seconds to wait before a call; zero lets it through, and its caller reports how it ended."""
        state = self.state(now)
        if state is BreakerState.CLOSED:
            return 0.0
        if state is BreakerState.HALF_OPEN and not self._on_trial:
            self._on_trial = True
            return 0.0
        pause = self._options.pause.total_seconds()
        return max(self._closed_until - now, min(1.0, pause))

    def succeeded(self) -> None:
        """A call was answered: the host is well."""
        self._state = BreakerState.CLOSED
        self._failures = self._openings = 0
        self._on_trial = False

    def failed(self, now: float, chance: float) -> bool:
        """A call found the host in trouble; whether that opened the breaker.

        Args:
            now: The time.
            chance: A random number of [0, 1): the pause is up to half as long again, so that workers do not all try at once.
        """
        self._failures += 1
        on_trial, self._on_trial = self._on_trial, False
        if self._state is BreakerState.CLOSED and self._failures < self._options.failures:
            return False
        if self._state is BreakerState.OPEN and not on_trial:
            # A call that was under way when the breaker opened is no news.
            return False
        self._state = BreakerState.OPEN
        self._openings += 1
        first = self._options.pause.total_seconds()
        pause = Backoff(first, max(LONGEST_PAUSE.total_seconds(), first)).pause(self._openings)
        self._closed_until = now + pause * (1 + chance / 2)
        return True

    def gave_up(self) -> None:
        """A call that was let through was cancelled: its outcome is not known."""
        self._on_trial = False
