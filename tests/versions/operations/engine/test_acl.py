"""What ``doctor --acl operator`` prints is enough for every operation, and whoever has less is refused in time."""

import pytest

from streamops.model.entries import EntryId
from streamops.operations.console import Console
from streamops.operations.delayed.intent import RunDelayedIntent
from streamops.resources.acl import AclRole
from tests.support.operations.engine.acl import NARROW, Stage, as_role, assert_done
from tests.support.operations.engine.examples import BODIES, EXAMPLES, STREAM, WORKSHOP
from tests.support.servers import RunningServer

pytestmark = pytest.mark.border_servers("what a server counts, permits and answers differs by version")


@pytest.mark.parametrize("name", EXAMPLES)
async def test_printed_operator_rules_are_enough_for_every_operation(stage: Stage, name: str) -> None:
    """With the keys of one stream alone: with all keys they are enough all the more."""
    assert_done(*await stage.play(EXAMPLES[name], keys=NARROW))


@pytest.mark.parametrize("role", [AclRole.OBSERVER, AclRole.OPERATOR])
async def test_printed_rules_are_enough_to_read_everything(
    server: RunningServer, stage: Stage, role: AclRole
) -> None:
    await stage.play(EXAMPLES["replay for all"])
    fill_again = RunDelayedIntent(stream=STREAM, ids=("due",))
    async with await Console.open(as_role(server, role), actor=WORKSHOP) as console:
        await console.discover()
        snapshot = await console.collect()
        assert (snapshot.gaps, len(snapshot.streams)) == ((), 3)
        assert (await console.delayed.queues(console.discovery.names)).gaps == ()
        server.command("HSET", BODIES, "stray", "x")
        page = await console.delayed.page(STREAM, 10)
        assert [one.id for one in (*page.messages, *page.strays)] == ["due", "later", "stray"]
        assert (await console.prepare(fill_again)).plan.count == 1
        (job,) = await console.read_jobs()
        assert job.operation == "replay"
        (action,) = (await console.read_actions()).actions
        assert len(await console.read_action(EntryId.parse(action.first.id))) >= 2


@pytest.mark.parametrize("role", [AclRole.OBSERVER, AclRole.OPERATOR])
async def test_printed_rules_are_enough_to_read_pools(
    server: RunningServer, stage: Stage, role: AclRole
) -> None:
    await stage.play(EXAMPLES["scale for the first time"])
    server.command("HSET", "streamops:pools", "p", "supervisors")
    async with await Console.open(as_role(server, role), actor=WORKSHOP) as console:
        (pool,) = await console.pools.all()
        assert (pool.name, pool.order and pool.order.workers) == ("p", 3)
        assert await console.pools.clock() is not None
        assert await console.pools.decisions("p") == []
        assert [one.id for one in (await console.pools.of_pool("p")).supervisors] == ["s"]
        assert (await console.pools.size("p")).ordered == 3
        with_pools = await console.workers.with_pools()
        assert [one.name for one in with_pools.pools] == ["p"]
