"""The simulated workers: the nominal ones, and perturbed ones that a policy fitted to those alone would fail with."""

from math import exp, expm1, log, sqrt
from random import Random

from streamops.autoscaling.simulation import SimulatedWorkers

OBJECTIVE = (20.0, 120.0)
START_UP = (2.0, 60.0)
SLOTS = (4.0, 64.0)
MAXIMUM = (3.0, 100.0)
MEAN = 0.075
"""Of handler times, as everywhere else: slots change the rate of a worker."""
LOG_DEVIATION = (0.5, 1.5)
TAIL = (2.1, 3.0)
NOMINAL = 20.0
"""The start-up of the shapes that have no other, in seconds."""


def between(fastest: float, slowest: float) -> tuple[float, float]:
    """Mean and standard deviation of uniform times."""
    return (fastest + slowest) / 2, (slowest - fastest) / sqrt(12)


def lognormal(mean: float, sigma: float) -> tuple[float, float]:
    """The same of times whose logarithm is normal with this standard deviation."""
    return mean, mean * sqrt(expm1(sigma**2))


def pareto(mean: float, tail: float) -> tuple[float, float]:
    """The same of times of which the share longer than ``t`` falls like a power of ``t``, greater than 2."""
    return mean, mean / sqrt(tail * (tail - 2))


class World(SimulatedWorkers, frozen=True, kw_only=True, dict=True):
    """The workers under shapes, whose start-up is the shape's.

    Attributes:
        late: Multiplies the start-up times of the shapes.
        claim_idle: How long an entry of a lost worker lies idle before another one takes it.
    """

    handler_mean: float = between(0.05, 0.10)[0]
    handler_deviation: float = between(0.05, 0.10)[1]
    late: float = 1.0
    claim_idle: int = 60


def perturbed(chance: Random) -> World:
    """A world of changed parameters: each between its two ends, evenly by its logarithm, start-up within the objective.

    A third of handlers each have uniform, lognormal and Pareto times. Loads stay what they are, so that a small pool
    of small workers cannot do the work at all, and one large worker does it alone; and the shape of slow start-ups
    still has six times the start-up of the others.
    """
    objective = _even(chance, *OBJECTIVE)
    start_up = _even(chance, START_UP[0], min(START_UP[1], objective))
    slots = round(_even(chance, *SLOTS))
    mean, deviation = _handling(chance)
    return World(
        slots=slots,
        handler_mean=mean,
        handler_deviation=deviation,
        objective=float(round(objective)),
        maximum=round(_even(chance, *MAXIMUM)),
        late=start_up / NOMINAL,
    )


def _handling(chance: Random) -> tuple[float, float]:
    kind, place = chance.random(), chance.random()
    if kind < 1 / 3:
        return between(MEAN * place, MEAN * (2 - place))
    if kind < 2 / 3:
        return lognormal(MEAN, LOG_DEVIATION[0] + place * (LOG_DEVIATION[1] - LOG_DEVIATION[0]))
    return pareto(MEAN, TAIL[0] + place * (TAIL[1] - TAIL[0]))


def _even(chance: Random, low: float, high: float) -> float:
    """A number between the two, evenly by its logarithm."""
    return exp(chance.uniform(log(low), log(high)))
