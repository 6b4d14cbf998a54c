"""Autoscalers in use, re-expressed from their published formulas. Tuned ones know the true rate."""

from collections import deque
from math import ceil

from streamops.autoscaling.simulation import Policy
from streamops.model.pools import Demand
from tests.benchmarks.scaling.worlds import World

PENDING = "pending"
LAG = "lag"


class Hpa:
    """KEDA's external metric as an average, on Kubernetes' default behaviour.

    A band of 10 %, up by the greater of 100 % and 4 in 15 s, down to the highest of 300 s.
    """

    interval = 15

    def __init__(self, world: World, target: float, signal: str = LAG, window: float = 300) -> None:
        """One replica for each ``target`` of the signal."""
        self.world, self.target, self.signal, self.window = world, target, signal, window
        self.wanted: deque[tuple[float, int]] = deque()

    def metric(self, demand: Demand) -> int:
        """The signal; the Redis client that KEDA uses gives -1 for an unknown lag."""
        if self.signal == PENDING:
            return demand.pending
        return -1 if demand.lag.entries is None else demand.lag.entries

    def decide(self, demand: Demand) -> tuple[int, str]:
        """The recommendation after the band, the window and the step."""
        return self.follow(demand, self.metric(demand)), f"{self.signal} over {self.target}"

    def follow(self, demand: Demand, value: float) -> int:
        """What the horizontal pod autoscaler makes of a metric."""
        workers = demand.ordered
        inside = abs(value / (self.target * workers) - 1) <= 0.1
        wanted = workers if inside else max(0, ceil(value / self.target))
        self.wanted.append((demand.at, wanted))
        while self.wanted[0][0] <= demand.at - self.window:
            self.wanted.popleft()
        return self.world.clamp(self._step(workers, wanted))

    def _step(self, workers: int, wanted: int) -> int:
        if wanted > workers:
            return min(wanted, max(2 * workers, workers + 4))
        return min(workers, max(past for _, past in self.wanted))


class Aws:
    """Backlog per instance: one look a minute, three above the target, fifteen below nine tenths of it."""

    interval = 60

    def __init__(self, target: float) -> None:
        """One instance for each ``target`` of lag."""
        self.target, self.high, self.low = target, 0, 0

    def decide(self, demand: Demand) -> tuple[int, str]:
        """Tracks the target; missing data is no reason to act."""
        if demand.lag.entries is None:
            return demand.ordered, "no data"
        each = demand.lag.entries / max(1, demand.ready)
        self.high = self.high + 1 if each > self.target else 0
        self.low = self.low + 1 if each < 0.9 * self.target else 0
        if self.high >= 3 and demand.ready == demand.ordered:
            return ceil(demand.ordered * each / self.target), f"{each:.0f} each"
        return demand.ordered - (self.low >= 15), f"{each:.0f} each"


class Celery:
    """The pool follows reserved requests, shrinks 30 s after it last grew, looks every second."""

    interval = 1

    def __init__(self, world: World) -> None:
        """Requests reserved by at most all slots, four times over."""
        self.world, self.grown = world, 0.0

    def decide(self, demand: Demand) -> tuple[int, str]:
        """As many slots as requests."""
        slots = self.world.slots
        reserved = min(demand.pending + (demand.lag.entries or 0), 4 * self.world.maximum * slots)
        wanted = self.world.clamp(ceil(reserved / slots))
        if wanted > demand.ordered:
            self.grown = demand.at
        shrinks = demand.at - self.grown > 30
        return (wanted if wanted > demand.ordered or shrinks else demand.ordered), f"{reserved} reserved"


class Dask:
    """Work over a duration of 5 s; grows at once, shrinks after three looks a second apart."""

    interval = 1

    def __init__(self, world: World) -> None:
        """Knows the true duration of tasks."""
        self.world, self.votes = world, 0

    def decide(self, demand: Demand) -> tuple[int, str]:
        """As many as would finish what is there in 5 s."""
        work = (demand.pending + (demand.lag.entries or 0)) / self.world.rate
        wanted = max(self.world.minimum, ceil(work / 5))
        self.votes = self.votes + 1 if wanted < demand.ordered else 0
        if wanted > demand.ordered:
            return wanted, "occupancy"
        if self.votes >= 3:
            self.votes = 0
            return wanted, "occupancy"
        return demand.ordered, "hold"


class Judoscale:
    """A band of queue latency, one worker at a time: 60 s between ups, 600 s of calm before a down."""

    interval = 10

    def __init__(self, world: World, low: float = 2.0) -> None:
        """Up above half the objective; calm below ``low`` seconds."""
        self.high, self.low, self.risen, self.busy = world.objective / 2, low, -1e9, 0.0

    def decide(self, demand: Demand) -> tuple[int, str]:
        """One more, one fewer, or none."""
        if demand.head_age is None:
            return demand.ordered, "no data"
        if demand.head_age > self.low:
            self.busy = demand.at
        if demand.head_age > self.high and demand.at - self.risen >= 60:
            self.risen = demand.at
            return demand.ordered + 1, f"latency {demand.head_age:.0f} s"
        if demand.at - self.busy >= 600:
            self.busy = demand.at
            return demand.ordered - 1, "calm for 10 minutes"
        return demand.ordered, "hold"


class Flink:
    """Arrivals over 0.7 and lag over the catch-up time; a dead band, 180 s of rest, downs after 600 s."""

    interval = 15

    def __init__(self, world: World) -> None:
        """Knows the true rate."""
        self.world = world
        self.window: deque[tuple[float, int]] = deque()
        self.changed = -1e9
        self.since: float | None = None

    def decide(self, demand: Demand) -> tuple[int, str]:
        """By the utilisation that catching up in 120 s would need."""
        self.window.append((demand.at, demand.added))
        while self.window[0][0] < demand.at - 180:
            self.window.popleft()
        lag = demand.lag.entries
        if lag is None or len(self.window) < 5:
            return demand.ordered, "window"
        (begin, before), (end, after) = self.window[0], self.window[-1]
        return self._band(demand, lag, (after - before) / max(1, end - begin))

    def _band(self, demand: Demand, lag: int, rate: float) -> tuple[int, str]:
        wanted = ceil((rate / 0.7 + lag / 120) / self.world.rate)
        use = (rate + lag / 120) / (demand.ordered * self.world.rate)
        if demand.at - self.changed < 180:
            return demand.ordered, "stabilising"
        if use > 1.0 and wanted > demand.ordered:
            self.changed, self.since = demand.at, None
            return wanted, f"use {use:.2f}"
        if use >= 0.4 or lag / max(rate, 1) >= self.world.objective:
            self.since = None
            return demand.ordered, "in band"
        return self._shrink(demand, wanted, use)

    def _shrink(self, demand: Demand, wanted: int, use: float) -> tuple[int, str]:
        self.since = demand.at if self.since is None else self.since
        if demand.at - self.since <= 600:
            return demand.ordered, "in band"
        self.changed, self.since = demand.at, None
        return max(wanted, ceil(0.4 * demand.ordered)), f"use {use:.2f}"


def all_baselines(world: World) -> dict[str, Policy]:
    """The baselines by name, ready to run."""
    return {
        "flink": Flink(world),
        "judoscale": Judoscale(world),
        "aws": Aws(round(world.rate * world.objective / 2)),
        "keda_lag": Hpa(world, round(world.rate * world.objective / 6)),
        "keda_lag_100": Hpa(world, 100),
        "keda_pending": Hpa(world, world.slots * 0.6, PENDING),
        "dask": Dask(world),
        "celery": Celery(world),
    }
