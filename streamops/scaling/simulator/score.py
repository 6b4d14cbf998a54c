"""One number for a run: what it cost, whom it kept waiting, how restless it was."""

from streamops.scaling.simulator.oracle import Bound
from streamops.scaling.simulator.result import Result

LATE = 10.0
ACTION = 0.005
FLAP = 0.05


def score(result: Result, bound: Bound) -> float:
    """The score J; 1 is what a clairvoyant reaches, lower is better.

    Worker-seconds over the clairvoyant's, and 10 for the avoidable share of late entries, 0.005 an action and
    0.05 a reversal.
    """
    return (
        result.worker_seconds / bound.worker_seconds
        + LATE * max(0.0, result.late - bound.late)
        + ACTION * result.actions
        + FLAP * result.flaps
    )
