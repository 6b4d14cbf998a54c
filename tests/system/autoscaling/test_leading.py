"""Who leads a pool: one at a time, whoever comes next goes on with what was learned."""

from streamops.autoscaling.controller import Controller
from streamops.autoscaling.decisions import Assignment
from streamops.model.pools import Applied
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from tests.support.autoscaling.pools import GROUP, Workers, at_least, options
from tests.support.deployments import RunningCluster
from tests.support.operations.engine.examples import WORKSHOP


async def test_pools_of_a_cluster_are_led_together(cluster: RunningCluster) -> None:
    names = [f"pool-{number}" for number in range(12)]
    async with await Console.open(cluster.options, Watch(details=False), actor=WORKSHOP) as console:
        for name in names:
            await console.place.server.single(name, "XGROUP", "CREATE", name, GROUP, "0", "MKSTREAM")
            console.place.targets.use(name, Workers(1))
        (assignment,) = at_least(2).assignments
        assignments = tuple(
            Assignment(pool=name, stream=name, group=GROUP, config=assignment.config) for name in names
        )
        controller = Controller(console, options(assignments=assignments))
        first, second = await controller.round(), await controller.round()
        assert {one.outcome for one in first.decisions.values()} == {Applied.DONE}
        assert [one.ordered for one in second.decisions.values()] == [2] * 12
        assert [one.name for one in await console.pools.all()] == sorted(names)
        await controller.leave()
