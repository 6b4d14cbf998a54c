"""Leaving alone what fails: longer and longer, and as long as it asks for."""

from collections.abc import Callable
from typing import Final

from streamops.errors import StreamopsError, TargetError

FIRST: Final = 5.0


class Backoff:
    """How long something that failed is left alone.

    Args:
        longest: Seconds, unless it asks for more.
        clock: Seconds, ever rising.

    Attributes:
        failures: How often it has failed since it last worked.
        problem: What was wrong then; empty while all is well.
    """

    def __init__(self, longest: float, clock: Callable[[], float]) -> None:
        self._longest = longest
        self._clock = clock
        self._until = 0.0
        self.failures = 0
        self.problem = ""

    @property
    def rests(self) -> bool:
        """Whether it is left alone now."""
        return bool(self.failures) and self._clock() < self._until

    def succeed(self) -> None:
        """It works."""
        self.failures, self.problem = 0, ""

    def fail(self, problem: str, error: StreamopsError | None = None) -> None:
        """It failed; ``error`` may say how long it wants to be left alone."""
        self.problem = problem
        self.failures += 1
        # Twice as long each time; more doublings than these are of no use.
        pause = min(self._longest, FIRST * 2.0 ** min(self.failures - 1, 32))
        if isinstance(error, TargetError) and error.retry_after is not None:
            pause = max(pause, error.retry_after.total_seconds())
        self._until = self._clock() + pause
