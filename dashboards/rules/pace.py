"""How fast time passes for the rules: real spans, or all of them divided, for tests that cannot wait."""

from datetime import timedelta
from typing import Final

from msgspec import Struct

SECOND: Final = timedelta(seconds=1)
MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)
MILLISECOND: Final = timedelta(milliseconds=1)

UNITS: Final = ((HOUR, "h", "hour"), (MINUTE, "m", "minute"), (SECOND, "s", "second"))


class Pace(Struct, frozen=True):
    """What every span of the rules is divided by.

    Attributes:
        faster: The divisor.
    """

    faster: float = 1

    def range(self, span: timedelta) -> str:
        """The span as PromQL writes it in ``[...]``, ``offset`` and ``for``: ``10m``."""
        span /= self.faster
        for unit, letter, _ in UNITS:
            if span >= unit and span % unit == timedelta(0):
                return f"{span // unit}{letter}"
        return f"{max(1, round(span / MILLISECOND))}ms"

    def seconds(self, span: timedelta) -> str:
        """The span as a number of seconds, to compare with: ``600``."""
        return f"{(span / self.faster).total_seconds():g}"

    def words(self, span: timedelta) -> str:
        """The span for a person: ``10 minutes``."""
        span /= self.faster
        for unit, _, word in UNITS:
            if span >= unit and span % unit == timedelta(0):
                return f"{span // unit} {word}{'s' if span != unit else ''}"
        return f"{span.total_seconds():g} seconds"
