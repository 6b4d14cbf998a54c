"""What the simulated workers are."""

from functools import cached_property
from math import sqrt

from msgspec import Struct


class World(Struct, frozen=True, kw_only=True, dict=True):
    """The workers, the objective and the limits of a run. Times are seconds.

    Attributes:
        slots: How many entries a worker handles at once.
        fastest: The shortest time an entry takes; times are uniform from here to ``slowest``.
        slowest: The longest time an entry takes.
        objective: The longest an entry should wait.
        minimum: Workers there are at least.
        maximum: Workers there are at most.
        late: Multiplies the start-up times of the shapes.
        claim_idle: How long an entry of a lost worker lies idle before another one takes it.
    """

    slots: int = 16
    fastest: float = 0.05
    slowest: float = 0.10
    objective: float = 30.0
    minimum: int = 1
    maximum: int = 20
    late: float = 1.0
    claim_idle: int = 60

    @cached_property
    def rate(self) -> float:
        """Entries a second that one worker handles."""
        return self.slots / ((self.fastest + self.slowest) / 2)

    @cached_property
    def spread(self) -> float:
        """Standard deviation of what one worker handles in a second, by the renewal theorem."""
        mean = (self.fastest + self.slowest) / 2
        return sqrt(self.slots * ((self.slowest - self.fastest) ** 2 / 12) / mean**3)

    def clamp(self, workers: int) -> int:
        """A number of workers brought within the limits."""
        return min(self.maximum, max(self.minimum, workers))
