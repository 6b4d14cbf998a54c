"""What the simulated workers are."""

from functools import cached_property

from msgspec import Struct

from streamops.scaling.simulator.handling import Handling, between

NOMINAL = 20.0
"""The start-up of the shapes that have no other, in seconds."""


class World(Struct, frozen=True, kw_only=True, dict=True):
    """The workers, the objective and the limits of a run. Times are seconds.

    Attributes:
        slots: How many entries a worker handles at once.
        handling: How long each of them takes.
        objective: The longest an entry should wait.
        minimum: Workers there are at least.
        maximum: Workers there are at most.
        late: Multiplies the start-up times of the shapes.
        claim_idle: How long an entry of a lost worker lies idle before another one takes it.
    """

    slots: int = 16
    handling: Handling = between(0.05, 0.10)
    objective: float = 30.0
    minimum: int = 1
    maximum: int = 20
    late: float = 1.0
    claim_idle: int = 60

    @cached_property
    def rate(self) -> float:
        """Entries a second that one worker handles."""
        return self.handling.rate(self.slots)

    @cached_property
    def spread(self) -> float:
        """Standard deviation of what one worker handles in a second."""
        return self.handling.spread(self.slots)

    def clamp(self, workers: int) -> int:
        """A number of workers brought within the limits."""
        return min(self.maximum, max(self.minimum, workers))
