"""Run a policy through a shape."""

from itertools import accumulate

from streamops.scaling.simulator.chance import Chance
from streamops.scaling.simulator.policy import Policy
from streamops.scaling.simulator.result import Result
from streamops.scaling.simulator.run import Run
from streamops.scaling.simulator.shapes import Shape
from streamops.scaling.simulator.world import World


def simulate(shape: Shape, world: World, counts: tuple[int, ...], policy: Policy, chance: Chance) -> Result:
    """What becomes of a load under a policy.

    Args:
        shape: What goes wrong.
        world: The workers.
        counts: Entries added in each second, as ``arrivals`` draws them.
        policy: What decides.
        chance: For handling and start-up times and crashes.
    """
    run = Run(shape, world, counts, policy, chance)
    for now in range(shape.seconds):
        run.second(now)
    return _result(run)


def _result(run: Run) -> Result:
    waits = list(run.waits)
    for arrived, count in run.line:  # what is unfinished counts with its age
        waits[run.shape.seconds - arrived] += count
    total = max(sum(waits), 1)
    return Result(
        late=sum(waits[int(run.world.objective) + 1 :]) / total,
        p50=_quantile(waits, 0.5 * total),
        p99=_quantile(waits, 0.99 * total),
        worker_seconds=run.paid,
        actions=run.actions,
        flaps=run.flaps,
        drained=run.drained,
        most=run.most,
        steps=tuple(run.steps),
    )


def _quantile(waits: list[int], enough: float) -> int:
    """The shortest wait that so many entries did not exceed; 0 where there were none at all."""
    return next((wait for wait, reached in enumerate(accumulate(waits)) if reached >= enough), 0)
