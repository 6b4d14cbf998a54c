"""A pool under a shape: the product's simulation, and what goes wrong in it."""

from collections import deque
from math import isfinite, sqrt
from random import Random

from msgspec.structs import replace

from streamops.autoscaling.simulation import Policy, Result, Simulation, normal
from streamops.model.lag import Lag, LagBasis
from streamops.model.pools import Demand
from tests.benchmarks.scaling.shapes import Shape, binomial
from tests.benchmarks.scaling.worlds import World

UNKNOWN = Lag(None, None, None, LagBasis.UNKNOWN, "the server does not know it")


def simulate(shape: Shape, world: World, counts: tuple[int, ...], policy: Policy, chance: Random) -> Result:
    """What becomes of a load under a policy.

    Args:
        shape: What goes wrong.
        world: The workers.
        counts: Entries added in each second, as ``arrivals`` draws them.
        policy: What decides.
        chance: For handling and start-up times and crashes.
    """
    return FaultySimulation(shape, world, counts, policy, chance).run()


class FaultySimulation(Simulation):
    """A simulation in which workers die or hang, handlers slow down, and the lag is unknown at times."""

    def __init__(
        self, shape: Shape, world: World, counts: tuple[int, ...], policy: Policy, chance: Random
    ) -> None:
        super().__init__(world, counts, policy, chance)
        self.shape, self.world = shape, world
        self.lost: deque[tuple[int, int, int]] = deque()

    def start(self, now: int) -> None:
        super().start(now)
        if self.shape.crash and self.ready:
            for _ in range(binomial(self.chance, self.ready, self.shape.crash)):
                self.ready -= 1
                self.order(now, 1)
                self._lose(now, min(2 * self.world.slots, self.queue))

    def _lose(self, now: int, count: int) -> None:
        """Entries in a dead worker's hands lie pending until they are claimed."""
        for arrived, taken in self.take(count):
            self.lost.append((now + self.world.claim_idle, arrived, taken))

    def order(self, now: int, workers: int) -> None:
        mean = self.world.late * self.shape.start_up
        self.starting += [now + mean * self.chance.uniform(0.8, 1.2) for _ in range(workers)]

    def arrive(self, now: int) -> None:
        while self.lost and self.lost[0][0] <= now:
            _, arrived, count = self.lost.popleft()
            self.line.appendleft([arrived, count])
            self.queue += count
        super().arrive(now)

    def capacity(self, now: int) -> float:
        effective = max(0, self.ready - self.shape.zombies(now))
        rate = self.world.rate * self.shape.speed(now)
        if rate <= 0:
            return 0.0
        spread = self.world.spread * sqrt(max(effective, 1e-9))
        capacity = max(0.0, normal(self.chance, effective * rate, spread))
        return min(capacity, self._knee(now, effective))

    def _knee(self, now: int, effective: int) -> float:
        """What lies behind the handlers takes; crowding it costs a little."""
        limit = self.shape.downstream(now)
        if not isfinite(limit):
            return limit
        return limit * max(0.7, 1 - 0.004 * max(0.0, effective - limit / self.world.rate))

    def busy_share(self, now: int, served: int) -> float:
        """All slots while anything waits, be it for what lies behind."""
        idle_hands = self.shape.zombies(now)
        effective = max(0, self.ready - idle_hands)
        possible = effective * self.world.rate * self.shape.speed(now)
        use = 1.0 if self.queue > served else (served / possible if possible else 0.0)
        share = min(1.0, use) * effective + min(self.ready, idle_hands)
        return share / self.ready if self.ready else 0.0

    def pending(self, served: int) -> int:
        lost = sum(count for _, _, count in self.lost) if self.queue else 0
        return super().pending(served) + lost

    def demand(self, now: int, served: int) -> Demand:
        demand = super().demand(now, served)
        return replace(demand, lag=UNKNOWN, head_age=None) if self.shape.unknown(now) else demand
