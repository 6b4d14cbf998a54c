"""Waiting longer and longer after failures in a row. Pure: counting, clocks and chance are the caller's."""

from msgspec import Struct


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
        """Seconds to wait after so many failures in a row, from 1 on.

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
