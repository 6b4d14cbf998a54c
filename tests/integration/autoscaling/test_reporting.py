"""What a controller leaves in Redis for those who look: sizes, counts of decisions, and how often its target failed."""

import pytest

from streamops.autoscaling.controller import Controller
from streamops.autoscaling.decisions import Assignment, ControllerOptions
from streamops.autoscaling.policy.config import ScalingConfig
from streamops.errors import TargetError
from streamops.model.entries import EPOCH
from streamops.model.pools import Applied, Pool, PoolSize, PoolSupervisor, ScaleCode
from streamops.operations.console import Console
from streamops.resources.acl import AclRole
from streamops.wire.pools.registry import register_supervisor
from tests.support.operations.engine.acl import NARROW, USER, as_role
from tests.support.operations.engine.examples import WORKSHOP
from tests.support.servers import RunningServer

STREAM, GROUP, POOL = "payments", "billing", "p"
LEAST_THREE = ScalingConfig(minimum=3, maximum=8)
OPTIONS = ControllerOptions(
    holder="web-1", assignments=(Assignment(pool=POOL, stream=STREAM, group=GROUP, config=LEAST_THREE),)
)


class BrokenTarget:
    """Tells a size, and refuses another one."""

    kind = "command"
    label = "command broken"

    async def read(self) -> PoolSize:
        return PoolSize(ordered=1, ready=1)

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:  # noqa: ARG002 - refused
        raise TargetError(f"{self.label}: refuses {workers}", "Ask it.")

    async def close(self) -> None:
        pass


def add_group_with_nothing_to_do(server: RunningServer) -> None:
    """A group with nothing to do."""
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
    server.command("XADD", STREAM, "1-1", "n", "1")


async def looked_at(console: Console) -> Pool:
    (pool,) = await console.pools.all()
    return pool


@pytest.mark.parametrize("keys", [(), NARROW], ids=["all", "narrow"])
async def test_the_printed_rules_are_enough(server: RunningServer, keys: tuple[str, ...]) -> None:
    add_group_with_nothing_to_do(server)
    async with await Console.open(server.options) as theirs:
        told = PoolSupervisor(id="s", at=EPOCH, host="desk", pid=1, aim=1, alive=1, ready=1)
        await register_supervisor(theirs.place.server, POOL, told)
    async with await Console.open(as_role(server, AclRole.OPERATOR, keys=keys), actor=WORKSHOP) as console:
        controller = Controller(console, OPTIONS)
        reports = [await controller.round() for _ in range(2)]
        assert [report.decisions[POOL].outcome for report in reports] == [Applied.DONE, Applied.KEPT]
        pool = await looked_at(console)
        assert (pool.order and pool.order.workers, pool.minimum, pool.maximum, pool.stream, pool.group) == (
            *(3, 3, 8),
            *(STREAM, GROUP),
        )
        assert sum(pool.decisions.values()) == len(await console.pools.decisions(POOL)) == 2
        await controller.leave()
        assert (await looked_at(console)).lead is None
        assert server.command("PTTL", f"streamops:learned:{POOL}") > 0
    server.command("ACL", "DELUSER", USER)


async def test_failures_of_a_target_are_counted_once_each(server: RunningServer) -> None:
    add_group_with_nothing_to_do(server)
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        console.place.targets.use(POOL, BrokenTarget())
        controller = Controller(console, OPTIONS)
        outcomes = [(await controller.round()).decisions[POOL].outcome for _ in range(4)]
        assert outcomes == [Applied.FAILED, *[Applied.WAITING] * 3]
        pool = await looked_at(console)
        assert pool.errors == 1
        assert sum(pool.decisions.values()) == 4
        assert pool.last is not None
        assert pool.last.problem == "command broken: refuses 3"
        # Nothing is wanted any more: what went wrong once is no problem of a decision that asks for nothing.
        server.command("HSET", f"streamops:pool:{POOL}", "scaling", "paused")
        quiet = [(await controller.round()).decisions[POOL] for _ in range(2)]
        assert [(one.outcome, one.problem) for one in quiet] == [(Applied.KEPT, "")] * 2
        assert (await looked_at(console)).errors == 1


class SilentTarget(BrokenTarget):
    """Does not even tell a size."""

    async def read(self) -> PoolSize:
        raise TargetError(f"{self.label}: no answer", "Ask it.")


async def test_what_could_not_be_read_has_no_numbers(server: RunningServer) -> None:
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        console.place.targets.use(POOL, SilentTarget())
        decision = (await Controller(console, OPTIONS).round()).decisions[POOL]
        assert decision.code is ScaleCode.UNREADABLE
        # It stands for the number that KEDA would begin with: never for none.
        assert (decision.was_read, decision.target, decision.direction) == (False, 3, "hold")


async def test_a_lease_that_is_none_does_not_keep_others_out(server: RunningServer) -> None:
    add_group_with_nothing_to_do(server)
    async with await Console.open(server.options, actor=WORKSHOP) as console:
        console.place.targets.use(POOL, BrokenTarget())
        server.command("HSET", f"streamops:pool:{POOL}", "leader", "somebody")
        assert (await Controller(console, OPTIONS).round()).decisions[POOL].by == "web-1"
        server.command("HSET", f"streamops:pool:{POOL}", "leader", "x", "leader_until", "soon")
        assert (await Controller(console, OPTIONS).round()).decisions[POOL].by == "web-1"
