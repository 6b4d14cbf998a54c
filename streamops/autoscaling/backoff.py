"""Leaving alone what fails, longer and longer; and problems, reported once until another one comes or there is none."""

from collections.abc import Callable
from typing import Any, Final

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


class Troubles:
    """Tells a log of troubles as they begin, change and end.

    Args:
        log: Where to; a logger of structlog.
    """

    def __init__(self, log: Any) -> None:  # noqa: ANN401 - structlog's loggers have no type of their own
        self._log = log
        self._known: dict[str, str] = {}

    def tell(self, what: str, why: str) -> None:
        """That something is wrong."""
        if self._known.get(what) != why:
            self._known[what] = why
            self._log.warning(what, why=why)

    def clear(self, what: str) -> None:
        """That it is not any more."""
        if self._known and self._known.pop(what, None) is not None:
            self._log.info(f"over: {what}")
