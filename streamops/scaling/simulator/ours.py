"""The policy of this package, as the simulator asks policies."""

from datetime import timedelta

from streamops.model.scaling import Demand, ScaleDecision
from streamops.scaling.config import ScalingConfig
from streamops.scaling.decide import decide
from streamops.scaling.simulator.world import World
from streamops.scaling.state import ScalingState


class Ours:
    """``decide`` with its state."""

    def __init__(self, config: ScalingConfig, interval: int = 5) -> None:
        """A pool by its configuration, looked at every ``interval`` seconds."""
        self.config, self.interval = config, interval
        self.state = ScalingState()
        self.decisions: list[ScaleDecision] = []

    def reset(self, workers: int) -> None:  # noqa: ARG002 - it reads how many there are
        """Know nothing."""
        self.state, self.decisions = ScalingState(), []

    def decide(self, demand: Demand) -> tuple[int, str]:
        """What the policy says, with its code before the text."""
        self.state, decision = decide(self.config, self.state, demand)
        self.decisions.append(decision)
        return decision.target, f"{decision.code}: {decision.text}"


def configured(world: World) -> ScalingConfig:
    """The configuration that fits a world; its start-up is the default and has to be learned."""
    return ScalingConfig(
        minimum=world.minimum, maximum=world.maximum, objective=timedelta(seconds=world.objective)
    )
