"""One round of a controller, and a lease that is over."""

from streamops.autoscaling.controller import Controller
from streamops.model.pools import PoolDecision
from tests.support.autoscaling.pools import KEY, POOL
from tests.support.servers import RunningServer


async def decided(controller: Controller) -> PoolDecision:
    """The decision of one round."""
    return (await controller.round()).decisions[POOL]


def age(server: RunningServer) -> None:
    """End the lease of whoever leads."""
    server.command("HSET", KEY, "leader_until", 1)
