"""What an operator sets for a pool."""

from datetime import timedelta
from typing import Annotated

from msgspec import Meta, Struct

from streamops.scaling.tuning import Tuning

Workers = Annotated[int, Meta(ge=0)]
Some = Annotated[int, Meta(ge=1)]


class ScalingConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits and objective of a pool. ``ValueError`` where they contradict each other.

    Attributes:
        minimum: Workers there are at least; 0 lets a pool go to zero.
        maximum: Workers there are at most.
        objective: The longest an entry should wait.
        start_up: From ordering a worker to its first entry, until that is learned.
        idle_for: A pool that may go to zero does so after this long without arrivals.
        prefetch: Entries that keep one worker busy; more workers than work has portions are of no use.
        lanes: Shards or ordering lanes, where work may only be split so far; none where it may be split at will.
        by_arrivals: Whether arrivals alone may call for workers while the lag is unknown.
        tuning: The policy's own numbers.
    """

    minimum: Workers = 1
    maximum: Some = 10
    objective: timedelta = timedelta(seconds=30)
    start_up: timedelta = timedelta(seconds=20)
    idle_for: timedelta = timedelta(minutes=5)
    prefetch: Some = 1
    lanes: Some | None = None
    by_arrivals: bool = True
    tuning: Tuning = Tuning()

    def __post_init__(self) -> None:
        if self.minimum > self.maximum:
            raise ValueError("minimum must not be above maximum")
        if self.objective <= timedelta(0) or self.start_up < timedelta(0) or self.idle_for < timedelta(0):
            raise ValueError("objective must be longer than zero, start_up and idle_for not negative")
