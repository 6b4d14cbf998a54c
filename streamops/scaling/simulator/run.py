"""A pool of workers under a load, second by second.

A queue of (second of arrival, count) is served in order by workers that are pools of slots, each a
renewal process. Waits are exact to a second, and every entry counts.
"""

from collections import deque
from math import ceil, isfinite, sqrt

from streamops.model.lag import Lag, LagBasis
from streamops.model.scaling import Demand
from streamops.scaling.simulator.chance import Chance, binomial, normal, uniform
from streamops.scaling.simulator.policy import Policy
from streamops.scaling.simulator.result import Step
from streamops.scaling.simulator.shapes import Shape
from streamops.scaling.simulator.world import World

FLAP = 600
"""Seconds within which a change in the other direction is a reversal."""
FIRST = 60
"""Seconds whose arrivals decide how many workers a run begins with."""
CALM = 30
"""Seconds for which the backlog must be low for a disturbance to be over."""


class Run:
    """One run; ``simulate`` makes and finishes it."""

    def __init__(
        self, shape: Shape, world: World, counts: tuple[int, ...], policy: Policy, chance: Chance
    ) -> None:
        """A pool just large enough for the first minute."""
        self.shape, self.world, self.counts, self.policy, self.chance = shape, world, counts, policy, chance
        first = counts[:FIRST]
        self.ready = world.clamp(ceil(sum(first) / len(first) / (0.8 * world.rate)))
        self.starting: list[float] = []
        self.line: deque[list[int]] = deque()
        self.lost: deque[tuple[int, int, int]] = deque()
        self.queue = self.added = self.acked = self.paid = self.actions = self.flaps = 0
        self.most = self.ready
        self.waits = [0] * (shape.seconds + 2)
        self.busy: deque[float] = deque(maxlen=policy.interval)
        self.stalled: int | None = None
        self.direction, self.changed = 0, -1e9
        self.drained: int | None = None
        self.calm = 0
        self.steps: list[Step] = []
        policy.reset(self.ready)

    def second(self, now: int) -> None:
        """Let one second pass."""
        self._start(now)
        self._crash(now)
        self._arrive(now)
        served = self._serve(now, self._capacity(now))
        self._account(now, served)
        if now and now % self.policy.interval == 0:
            self._look(now, served)

    def _start(self, now: int) -> None:
        before = len(self.starting)
        self.starting = [at for at in self.starting if at > now]
        self.ready += before - len(self.starting)

    def _crash(self, now: int) -> None:
        if self.shape.crash and self.ready:
            for _ in range(binomial(self.chance, self.ready, self.shape.crash)):
                self.ready -= 1
                self._order(now, 1)
                self._lose(now, min(2 * self.world.slots, self.queue))

    def _order(self, now: int, workers: int) -> None:
        mean = self.world.late * self.shape.start_up
        self.starting += [now + mean * uniform(self.chance, 0.8, 1.2) for _ in range(workers)]

    def _lose(self, now: int, count: int) -> None:
        """Entries in a dead worker's hands lie pending until they are claimed."""
        for arrived, taken in self._take(count):
            self.lost.append((now + self.world.claim_idle, arrived, taken))

    def _take(self, count: int) -> list[tuple[int, int]]:
        """Take entries off the head of the line, by second of arrival."""
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

    def _arrive(self, now: int) -> None:
        while self.lost and self.lost[0][0] <= now:
            _, arrived, count = self.lost.popleft()
            self.line.appendleft([arrived, count])
            self.queue += count
        if count := self.counts[now]:
            self.line.append([now, count])
            self.queue += count
            self.added += count

    def _capacity(self, now: int) -> float:
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

    def _serve(self, now: int, capacity: float) -> int:
        served = int(min(self.queue, capacity))
        self._use(now, served)
        for arrived, count in self._take(served):
            self.waits[now - arrived] += count
        self.acked += served
        return served

    def _use(self, now: int, served: int) -> None:
        """How busy slots are: all of them while anything waits, be it for what lies behind."""
        idle_hands = self.shape.zombies(now)
        effective = max(0, self.ready - idle_hands)
        possible = effective * self.world.rate * self.shape.speed(now)
        use = 1.0 if self.queue > served else (served / possible if possible else 0.0)
        share = min(1.0, use) * effective + min(self.ready, idle_hands)
        self.busy.append(share / self.ready if self.ready else 0.0)

    def _account(self, now: int, served: int) -> None:
        standing = self.queue and not served
        self.stalled = (now if self.stalled is None else self.stalled) if standing else None
        ordered = self.ready + len(self.starting)
        self.paid += ordered
        self.most = max(self.most, ordered)
        if self.shape.event is not None and now > self.shape.event + CALM:
            self.calm = self.calm + 1 if self.queue <= max(2 * self.counts[now], 50) else 0
            if self.drained is None and self.calm >= CALM:
                self.drained = now - CALM - self.shape.event

    def _look(self, now: int, served: int) -> None:
        ordered = self.ready + len(self.starting)
        demand = self._demand(now, served, ordered)
        wanted, why = self.policy.decide(demand)
        wanted = self.world.clamp(wanted)
        self.steps.append(Step(now, ordered, self.ready, self.queue, wanted, why))
        if wanted != ordered:
            self._change(now, wanted, ordered)

    def _demand(self, now: int, served: int, ordered: int) -> Demand:
        lost = sum(count for _, _, count in self.lost)
        pending = min(self.queue, self.ready * self.world.slots) + lost
        if not self.queue:
            pending = int(served * self.world.handling.mean)
        lag = max(0, self.queue - pending)
        unknown = self.shape.unknown(now)
        age = float(now - self.line[0][0]) if lag else 0.0
        return Demand(
            at=float(now),
            added=self.added,
            lag=UNKNOWN if unknown else Lag(lag, lag, lag, LagBasis.EXACT, ""),
            head_age=None if unknown else age,
            pending=pending,
            oldest_idle=now - self.stalled if self.stalled is not None else 0.1,
            acked=self.acked,
            ordered=ordered,
            ready=self.ready,
            busy=sum(self.busy) / len(self.busy) * uniform(self.chance, 0.97, 1.03),
        )

    def _change(self, now: int, wanted: int, ordered: int) -> None:
        direction = 1 if wanted > ordered else -1
        reverses = self.direction and direction != self.direction
        self.flaps += bool(reverses and now - self.changed < FLAP)
        self.direction, self.changed = direction, now
        self.actions += 1
        if direction > 0:
            self._order(now, wanted - ordered)
        else:
            self._release(ordered - wanted)

    def _release(self, workers: int) -> None:
        """Those that start latest go first."""
        unborn = min(workers, len(self.starting))
        self.starting = sorted(self.starting)[: len(self.starting) - unborn]
        self.ready -= workers - unborn


UNKNOWN = Lag(None, None, None, LagBasis.UNKNOWN, "the server does not know it")
