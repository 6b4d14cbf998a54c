"""One number for a run: what it cost, whom it kept waiting, how restless it was, against what a clairvoyant would need."""

from itertools import accumulate

from msgspec import Struct

from streamops.autoscaling.simulation import Result
from tests.benchmarks.scaling.shapes import Shape
from tests.benchmarks.scaling.worlds import World

LATE = 10.0
CHANGE = 0.005
REVERSAL = 0.05


class Bound(Struct, frozen=True):
    """The clairvoyant's figures.

    Attributes:
        late: Share of entries that nobody could have served in time.
        worker_seconds: Fractional workers, without start-up.
    """

    late: float
    worker_seconds: float


def score(result: Result, bound: Bound) -> float:
    """The score J; 1 is what a clairvoyant reaches, lower is better.

    Worker-seconds over the clairvoyant's, and 10 for the avoidable share of late entries, 0.005 a change and
    0.05 a reversal.
    """
    return (
        result.worker_seconds / bound.worker_seconds
        + LATE * max(0.0, result.late - bound.late)
        + CHANGE * result.changes
        + REVERSAL * result.reversals
    )


def clairvoyant(shape: Shape, world: World, counts: tuple[int, ...]) -> Bound:
    """A fluid lower bound: the smallest pool works while anything waits, more only when a deadline forces it."""
    span = range(shape.seconds)
    rates = [world.rate * shape.speed(t) for t in span]
    most = [min(world.maximum * rates[t], shape.downstream(t)) for t in span]
    arrived = [0.0, *map(float, accumulate(counts))]
    due = [arrived[max(0, t - int(world.objective))] for t in range(shape.seconds + 1)]
    required = _required(due, most, _fastest(arrived, most))
    done, paid = _serve(world, rates, most, arrived, required)
    late = sum(max(0.0, due[t + 1] - max(done[t + 1], due[t])) for t in span)
    return Bound(late / arrived[-1], paid)


def _fastest(arrived: list[float], most: list[float]) -> list[float]:
    served = [0.0]
    for t, limit in enumerate(most):
        served.append(min(arrived[t + 1], served[-1] + limit))
    return served


def _required(due: list[float], most: list[float], fastest: list[float]) -> list[float]:
    """The least that must be served by each second, deadlines to come considered."""
    required = list(due)
    for t in range(len(most) - 1, -1, -1):
        required[t] = max(due[t], required[t + 1] - most[t])
    return [min(least, limit) for least, limit in zip(required, fastest, strict=True)]


def _serve(
    world: World, rates: list[float], most: list[float], arrived: list[float], required: list[float]
) -> tuple[list[float], float]:
    served, paid, done = 0.0, 0.0, [0.0]
    for t, limit in enumerate(most):
        free = min(world.minimum * rates[t], limit)
        wanted = max(min(served + free, arrived[t + 1]), required[t + 1])
        after = min(wanted, served + limit, arrived[t + 1])
        paid += max(world.minimum, (after - served) / rates[t]) if rates[t] else world.minimum
        served = after
        done.append(served)
    return done, paid
