"""What the simulator asks of a policy."""

from typing import Protocol

from streamops.model.scaling import Demand


class Policy(Protocol):
    """What decides about workers.

    Attributes:
        interval: Seconds between its looks.
    """

    interval: int

    def reset(self, workers: int) -> None:
        """Begin a run with this many workers."""

    def decide(self, demand: Demand) -> tuple[int, str]:
        """How many workers there should be, and why."""
