"""Other workers under the same loads: what a policy that fits one world alone would fail in."""

from math import exp, log

from streamops.scaling.simulator.chance import Chance, uniform
from streamops.scaling.simulator.handling import Handling, between, lognormal, pareto
from streamops.scaling.simulator.world import NOMINAL, World

OBJECTIVE = (20.0, 120.0)
START_UP = (2.0, 60.0)
SLOTS = (4.0, 64.0)
MAXIMUM = (3.0, 100.0)
MEAN = 0.075
"""Of handler times, as everywhere else: slots change the rate of a worker."""
LOG_DEVIATION = (0.5, 1.5)
TAIL = (2.1, 3.0)


def changed(chance: Chance) -> World:
    """A world of changed parameters: each between its two ends, evenly by its logarithm, start-up within the objective.

    A third of handlers each have uniform, lognormal and Pareto times. Loads stay what they are, so that a small pool
    of small workers cannot do the work at all, and one large worker does it alone; and the shape of slow start-ups
    still has six times the start-up of the others.
    """
    objective = _even(chance, *OBJECTIVE)
    start_up = _even(chance, START_UP[0], min(START_UP[1], objective))
    return World(
        slots=round(_even(chance, *SLOTS)),
        handling=_handling(chance),
        objective=float(round(objective)),
        maximum=round(_even(chance, *MAXIMUM)),
        late=start_up / NOMINAL,
    )


def _handling(chance: Chance) -> Handling:
    kind, place = chance.random(), chance.random()
    if kind < 1 / 3:
        return between(MEAN * place, MEAN * (2 - place))
    if kind < 2 / 3:
        return lognormal(MEAN, LOG_DEVIATION[0] + place * (LOG_DEVIATION[1] - LOG_DEVIATION[0]))
    return pareto(MEAN, TAIL[0] + place * (TAIL[1] - TAIL[0]))


def _even(chance: Chance, low: float, high: float) -> float:
    """A number between the two, evenly by its logarithm."""
    return exp(uniform(chance, log(low), log(high)))
