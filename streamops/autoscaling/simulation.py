"""A pool of workers under a load, second by second. Law: the same chance gives the same run; no clock, no chance of its own.

A queue of (second of arrival, count) is served in order by workers that are pools of slots, each a renewal process.
Waits are exact to a second, and every entry counts. Whoever simulates faults overrides the parts of a second.
"""

from collections import deque
from datetime import timedelta
from functools import cached_property
from itertools import accumulate
from math import ceil, cos, log, pi, sqrt
from random import Random
from typing import Protocol

from msgspec import Struct

from streamops.autoscaling.policy.config import ScalingConfig
from streamops.autoscaling.policy.rules import decide
from streamops.autoscaling.policy.state import ScalingState
from streamops.model.lag import Lag, LagBasis
from streamops.model.pools import Demand

REVERSAL = 600
"""Seconds within which a change in the other direction is a reversal."""
FIRST = 60
"""Seconds whose arrivals decide how many workers a run begins with."""


def normal(chance: Random, mean: float = 0.0, deviation: float = 1.0) -> float:
    """Draw from a normal distribution, by Box and Muller's transform: two numbers each, whatever the version of Python."""
    radius = sqrt(-2 * log(1 - chance.random()))
    return mean + deviation * radius * cos(2 * pi * chance.random())


class SimulatedWorkers(Struct, frozen=True, kw_only=True, dict=True):
    """The simulated workers, the objective and the limits. Times are seconds.

    Attributes:
        slots: Entries that a worker handles at once.
        handler_mean: Mean time of a handler.
        handler_deviation: Its standard deviation.
        objective: Target lag age: the longest that an entry should wait.
        minimum: Minimum workers.
        maximum: Maximum workers.
        start_up: From ordering a worker to its first entry, give or take a fifth.
    """

    slots: int = 16
    handler_mean: float
    handler_deviation: float
    objective: float = 30.0
    minimum: int = 1
    maximum: int = 20
    start_up: float = 20.0

    @cached_property
    def rate(self) -> float:
        """Entries a second that one worker handles."""
        return self.slots / self.handler_mean

    @cached_property
    def spread(self) -> float:
        """Standard deviation of what one worker handles in a second, by the central limit theorem for renewals.

        Each slot counts renewals, whose variance grows by the variance of one over the cube of its mean (Feller II,
        XI.6). It holds over many handlings, and whatever tail the times have as long as their variance is finite.
        """
        return sqrt(self.slots * self.handler_deviation**2 / self.handler_mean**3)

    def clamp(self, count: int) -> int:
        """Bring a number of workers within the limits."""
        return min(self.maximum, max(self.minimum, count))


class Policy(Protocol):
    """What decides about workers.

    Attributes:
        interval: Seconds between its readings.
    """

    interval: int

    def decide(self, demand: Demand) -> tuple[int, str]:
        """Return how many workers there should be, and why."""


class OurPolicy:
    """``decide`` with its state; its start-up time is the default and has to be learned."""

    def __init__(self, workers: SimulatedWorkers, interval: int = 5) -> None:
        """The policy of a pool with these limits, read every ``interval`` seconds."""
        self.config = ScalingConfig(
            minimum=workers.minimum, maximum=workers.maximum, objective=timedelta(seconds=workers.objective)
        )
        self.interval = interval
        self.state = ScalingState()

    def decide(self, demand: Demand) -> tuple[int, str]:
        """Return what the policy says, with its code before the text."""
        self.state, decision = decide(self.config, self.state, demand)
        return decision.target, f"{decision.code}: {decision.text}"


class FixedPolicy:
    """Always the same number."""

    interval = 60

    def __init__(self, workers: int) -> None:
        """This many workers."""
        self.workers = workers

    def decide(self, demand: Demand) -> tuple[int, str]:  # noqa: ARG002 - whatever the demand
        """Return the same as ever."""
        return self.workers, ""


class SimulationStep(Struct, frozen=True):
    """What happened at one reading.

    Attributes:
        second: When.
        ordered: Workers asked for before it.
        ready: Workers that worked.
        queue: Entries not handled.
        wanted: What the policy decided.
        why: Its reason.
    """

    second: int
    ordered: int
    ready: int
    queue: int
    wanted: int
    why: str


class Result(Struct, frozen=True, kw_only=True):
    """What a run came to.

    Attributes:
        entries: Entries that came.
        late_entries: Those of them that waited longer than the objective.
        p50: The wait that half of the entries stay under, in seconds.
        p99: The wait that 99 of 100 entries stay under, in seconds.
        worker_seconds: Workers paid for, starting ones too.
        changes: Changes of the number of workers.
        reversals: Changes in the other direction within ten minutes.
        most: The most workers there were.
        steps: Every reading.
    """

    entries: int
    late_entries: int
    p50: int
    p99: int
    worker_seconds: int
    changes: int
    reversals: int
    most: int
    steps: tuple[SimulationStep, ...]

    @property
    def late(self) -> float:
        """Share of entries that waited longer than the objective."""
        return self.late_entries / max(1, self.entries)


class Simulation:
    """One run of a policy over a load."""

    def __init__(
        self, workers: SimulatedWorkers, counts: tuple[int, ...], policy: Policy, chance: Random
    ) -> None:
        """A pool just large enough for the first minute.

        Args:
            workers: The workers.
            counts: Entries added in each second.
            policy: What decides.
            chance: For handling and start-up times.
        """
        self.workers, self.counts, self.policy, self.chance = workers, counts, policy, chance
        first = counts[:FIRST]
        self.ready = workers.clamp(ceil(sum(first) / len(first) / (0.8 * workers.rate)))
        self.starting: list[float] = []
        self.line: deque[list[int]] = deque()
        self.queue = self.added = self.acked = self.paid = self.changes = self.reversals = 0
        self.most = self.ready
        self.waits = [0] * (len(counts) + 2)
        self.busy: deque[float] = deque(maxlen=policy.interval)
        self.direction, self.changed = 0, -1e9
        self.steps: list[SimulationStep] = []

    def run(self) -> Result:
        """Let every second pass."""
        for now in range(len(self.counts)):
            self.start(now)
            self.arrive(now)
            served = self.serve(now, self.capacity(now))
            ordered = self.ready + len(self.starting)
            self.paid += ordered
            self.most = max(self.most, ordered)
            if now and now % self.policy.interval == 0:
                self.scale(now, self.demand(now, served))
        return self._result()

    def start(self, now: int) -> None:
        """Workers whose start-up is over become ready."""
        before = len(self.starting)
        self.starting = [at for at in self.starting if at > now]
        self.ready += before - len(self.starting)

    def arrive(self, now: int) -> None:
        """Entries of this second join the queue."""
        if count := self.counts[now]:
            self.line.append([now, count])
            self.queue += count
            self.added += count

    def capacity(self, now: int) -> float:  # noqa: ARG002 - faults depend on it
        """Draw how many entries the workers can handle in this second."""
        mean, spread = self.ready * self.workers.rate, self.workers.spread * sqrt(self.ready)
        return max(0.0, normal(self.chance, mean, spread))

    def serve(self, now: int, capacity: float) -> int:
        """Handle the oldest entries."""
        served = int(min(self.queue, capacity))
        self.busy.append(self.busy_share(now, served))
        for arrived, count in self.take(served):
            self.waits[now - arrived] += count
        self.acked += served
        return served

    def busy_share(self, now: int, served: int) -> float:  # noqa: ARG002 - faults depend on it
        """How busy slots are: all of them while anything waits."""
        return 1.0 if self.queue > served else min(1.0, served / (self.ready * self.workers.rate))

    def take(self, count: int) -> list[tuple[int, int]]:
        """Take entries off the head of the queue, by second of arrival."""
        taken = []
        while count > 0 and self.line:
            head = self.line[0]
            part = min(count, head[1])
            head[1] -= part
            count -= part
            self.queue -= part
            taken.append((head[0], part))
            if not head[1]:
                self.line.popleft()
        return taken

    def demand(self, now: int, served: int) -> Demand:
        """What a controller would read."""
        pending = self.pending(served)
        lag = max(0, self.queue - pending)
        return Demand(
            at=float(now),
            added=self.added,
            lag=Lag(lag, lag, lag, LagBasis.EXACT, ""),
            head_age=float(now - self.line[0][0]) if lag else 0.0,
            pending=pending,
            acked=self.acked,
            ordered=self.ready + len(self.starting),
            ready=self.ready,
            busy=sum(self.busy) / len(self.busy) * self.chance.uniform(0.97, 1.03),
        )

    def pending(self, served: int) -> int:
        """Entries in flight."""
        if not self.queue:
            return int(served * self.workers.handler_mean)
        return min(self.queue, self.ready * self.workers.slots)

    def scale(self, now: int, demand: Demand) -> None:
        """Have the policy decide, and do it."""
        ordered = demand.ordered
        wanted, why = self.policy.decide(demand)
        wanted = self.workers.clamp(wanted)
        self.steps.append(SimulationStep(now, ordered, self.ready, self.queue, wanted, why))
        if wanted == ordered:
            return
        direction = 1 if wanted > ordered else -1
        reverses = self.direction and direction != self.direction
        self.reversals += bool(reverses and now - self.changed < REVERSAL)
        self.direction, self.changed = direction, now
        self.changes += 1
        if direction > 0:
            self.order(now, wanted - ordered)
            return
        # Those that start latest go first.
        unborn = min(ordered - wanted, len(self.starting))
        self.starting = sorted(self.starting)[: len(self.starting) - unborn]
        self.ready -= ordered - wanted - unborn

    def order(self, now: int, workers: int) -> None:
        """Have more workers start."""
        mean = self.workers.start_up
        self.starting += [now + mean * self.chance.uniform(0.8, 1.2) for _ in range(workers)]

    def _result(self) -> Result:
        waits = list(self.waits)
        for arrived, count in self.line:  # what is unfinished counts with its age
            waits[len(self.counts) - arrived] += count
        total = sum(waits)
        return Result(
            entries=total,
            late_entries=sum(waits[int(self.workers.objective) + 1 :]),
            p50=_quantile(waits, 0.5 * total),
            p99=_quantile(waits, 0.99 * total),
            worker_seconds=self.paid,
            changes=self.changes,
            reversals=self.reversals,
            most=self.most,
            steps=tuple(self.steps),
        )


def _quantile(waits: list[int], enough: float) -> int:
    """The shortest wait that so many entries did not exceed; 0 without entries."""
    return next((wait for wait, reached in enumerate(accumulate(waits)) if reached >= enough), 0)
