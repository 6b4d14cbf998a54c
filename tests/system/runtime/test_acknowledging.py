"""Acknowledgements that may come too late: whoever has the entry by now keeps it."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import Unreachable
from streamops.wire import primary as primary_module
from streamops.wire.server import Server
from tests.support.deployments import RunningCluster, SlotMove, StartSentinel, settle
from tests.support.runtime.acknowledging import acknowledging, deliver, flush
from tests.support.runtime.former_primary import replace_primary
from tests.support.runtime.working import LONGEST_WAIT, until
from tests.support.servers import RunningServer, StartServer
from tests.support.streams import pending_count
from tests.support.wire.sentinel import behind


def clients(running: RunningServer, command: str) -> list[str]:
    """The connections whose last command was this one."""
    rows = [line.split() for line in running.command("CLIENT", "LIST").decode().splitlines()]
    return [row[0].removeprefix("id=") for row in rows if f"cmd={command}" in row]


async def lose_connection(running: RunningServer, server: Server) -> None:
    """Let a command of this server fail, after it was sent."""
    waiting = asyncio.create_task(server.single("none", "BLPOP", "none", 0))
    await until(lambda: clients(running, "blpop"))
    running.command("CLIENT", "KILL", "ID", clients(running, "blpop")[0])
    with pytest.raises(Unreachable):
        await waiting


@pytest.mark.parametrize("heard", ["from others, after a failure", "with a connection that is made anew"])
async def test_what_a_former_primary_delivered_is_looked_at_on_the_new_one(
    start_server: StartServer, start_sentinel: StartSentinel, monkeypatch: pytest.MonkeyPatch, heard: str
) -> None:
    """Whoever acknowledges is not told of the new one by an error: another command failed, or none did."""
    monkeypatch.setattr(primary_module, "LOOK_EVERY", 3600.0)
    former, primary = start_server(), start_server()
    sentinel = start_sentinel(former)
    options = replace(behind(sentinel.port), timeout=timedelta(seconds=LONGEST_WAIT))
    async with acknowledging(former, options) as (stream, entry, server):
        await server.ping()
        deliver(primary, "ben", entry.raw_id)
        await lose_connection(former, server)
        replace_primary(sentinel, primary)
        if heard.startswith("from others"):
            other = Server(options, tracker=server.tracker)
            await other.ping()
            await other.close()
        stream.finish(entry)
        await flush(stream)
    assert stream.acknowledged == 0
    assert (pending_count(former, "s", "g"), pending_count(primary, "s", "g")) == (1, 1)


def lose_entries(move: SlotMove) -> None:
    """What a failover looks like from outside: another node serves the slot, and does not know what was there."""
    move.begin()
    move.source.command("DEL", "s")
    move.end()


@pytest.mark.parametrize("heard", ["from the former one", "from the map"])
async def test_what_another_node_of_a_cluster_delivered_is_looked_at(
    cluster: RunningCluster, heard: str
) -> None:
    with cluster.moving("s") as move:
        async with acknowledging(move.source, cluster.options) as (stream, entry, server):
            await server.ping()
            lose_entries(move)
            deliver(move.target, "ben", entry.raw_id)
            if heard == "from the map":
                await lose_connection(cluster.node_of("none"), server)
            stream.finish(entry)
            await flush(stream)
        assert stream.acknowledged == 0
        assert pending_count(move.target, "s", "g") == 1


async def test_a_slot_that_went_and_came_back_is_noticed_by_whoever_reads(cluster: RunningCluster) -> None:
    """Whoever acknowledges has asked nobody meanwhile, and finds everything where it was."""
    with cluster.moving("s") as move:
        async with acknowledging(move.source, cluster.options) as (stream, entry, server):
            await server.ping()
            reader = Server(cluster.options, tracker=server.tracker)
            await reader.ping()
            lose_entries(move)
            assert await reader.single("s", "EXISTS", "s") == 0
            settle(move.nodes)
            SlotMove(move.nodes, move.slot, move.target, move.source).all()
            settle(move.nodes)
            deliver(move.source, "ben", entry.raw_id)
            stream.finish(entry)
            await flush(stream)
            await reader.close()
        assert stream.acknowledged == 0
        assert pending_count(move.source, "s", "g") == 1


async def test_a_stream_that_was_carried_to_another_node_is_acknowledged_there(
    cluster: RunningCluster,
) -> None:
    """Before its whole slot has arrived no script can be run on it: nobody is kept waiting for that."""
    with cluster.moving("s") as move:
        async with acknowledging(move.source, cluster.options) as (stream, entry, server):
            await server.ping()
            move.begin()
            move.carry()
            stream.finish(entry)
            await stream.flush()
            assert (stream.acknowledged, server.handovers) == (1, 0)
            move.end()
        assert pending_count(move.target, "s", "g") == 0


async def test_a_map_that_is_learned_anew_is_a_handover_only_where_it_is_another_one(
    cluster: RunningCluster,
) -> None:
    """Whoever heeds Sentinels alone, as jobs do, goes on in either case."""

    async def learn() -> tuple[int, int]:
        await lose_connection(cluster.node_of("none"), server)
        await server.ping()
        return server.handovers, server.changes

    with cluster.moving("s") as move:
        server = await Server.connect(cluster.options)
        assert await learn() == (0, 0)
        move.all()
        settle(cluster.nodes)
        assert await learn() == (1, 0)
        await server.close()
