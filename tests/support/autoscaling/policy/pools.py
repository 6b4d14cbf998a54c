"""Readings of an invented pool, and what the policy makes of a series of them."""

from collections.abc import Iterable
from datetime import timedelta
from random import Random

from msgspec.structs import replace

from streamops.autoscaling.policy.config import ScalingConfig
from streamops.autoscaling.policy.rules import decide
from streamops.autoscaling.policy.state import ScalingState
from streamops.autoscaling.simulation import SimulatedWorkers
from streamops.model.lag import Lag, LagBasis
from streamops.model.pools import Demand, ScaleDecision
from tests.support.invented import exact

CONFIG = ScalingConfig(minimum=1, maximum=20)
TO_ZERO = ScalingConfig(minimum=0, maximum=20)
UNKNOWN = Lag(None, None, None, LagBasis.UNKNOWN, "entries were deleted")
RATE = 200
"""Entries a second that a worker of these tests handles."""
STEP = 5.0
WORKERS = SimulatedWorkers(handler_mean=0.075, handler_deviation=0.0144)
"""Of the simulation."""


def demand(**changes: object) -> Demand:
    """Two workers, half busy, nothing waiting."""
    calm = Demand(
        at=0.0,
        added=0,
        lag=exact(0),
        head_age=0.0,
        pending=10,
        acked=0,
        ordered=2,
        ready=2,
        busy=0.5,
    )
    return replace(calm, **changes)


class Pool:
    """A pool whose readings are told one after the other; what it decides is done at once or not at all."""

    def __init__(self, config: ScalingConfig = CONFIG, workers: int = 2) -> None:
        self.config, self.state = config, ScalingState()
        self.reading = demand(ordered=workers, ready=workers)
        self.decisions: list[ScaleDecision] = []

    def tell(self, reading: Demand) -> ScaleDecision:
        self.reading = reading
        self.state, decision = decide(self.config, self.state, reading)
        self.decisions.append(decision)
        return decision

    def after(
        self, arrived: int = 0, handled: int = 0, step: float = STEP, **changes: object
    ) -> ScaleDecision:
        """The next reading, ``step`` seconds later."""
        last = self.reading
        counts = {"at": last.at + step, "added": last.added + arrived, "acked": last.acked + handled}
        return self.tell(replace(last, **counts, **changes))

    def settle(self, rate: int = 200, times: int = 4) -> "Pool":
        """A while in which this many entries a second come and are handled."""
        self.tell(self.reading)
        busy = rate / (RATE * max(1, self.reading.ready))
        for _ in range(times):
            self.after(int(rate * STEP), int(rate * STEP), busy=busy)
        return self

    def follow(self) -> None:
        """What was decided is there by the next reading."""
        target = self.decisions[-1].target
        self.reading = replace(self.reading, ordered=target, ready=target)


def targets(decisions: Iterable[ScaleDecision]) -> list[int]:
    return [decision.target for decision in decisions]


def seeded(seed: int, purpose: int) -> Random:
    """Generators for arrivals (1) and for all else (2) of a simulation."""
    return Random(f"{seed}:{purpose}")


def span(number: float) -> timedelta:
    return timedelta(seconds=number)
