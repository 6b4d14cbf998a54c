"""A cluster: all primaries in one collection, through slot migrations, failures and failovers."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from msgspec.structs import replace
from redis.exceptions import ClusterDownError

from streamops.errors import Unreachable
from streamops.model.streams import Mode, Snapshot
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.wire.cluster import Cluster
from streamops.wire.options import ConnectionOptions, Secret
from streamops.wire.primary import PrimaryTracker
from streamops.wire.server import Server
from streamops.wire.stream_reader import Depth, StreamReader
from tests.support.deployments import RunningCluster
from tests.support.eventually import SETTLE_SECONDS, eventually
from tests.support.programs import newest_program
from tests.support.servers import RunningServer, choose_port

STREAMS = tuple(f"orders:{number}" for number in range(12))


@pytest.fixture(scope="module")
def own_cluster() -> Iterator[RunningCluster]:
    """A cluster whose slots and nodes a test may move."""
    with RunningCluster(newest_program()) as cluster:
        for node in cluster.nodes:
            node.command("CONFIG", "SET", "cluster-require-full-coverage", "no")
        yield cluster


def add_an_entry_a_stream(cluster: RunningCluster) -> None:
    cluster.flush()
    for stream in STREAMS:
        cluster.node_of(stream).command("XADD", stream, "1-1", "of", stream)
        cluster.node_of(stream).command("XGROUP", "CREATE", stream, "billing", "0")


def impatient(cluster: RunningCluster) -> ConnectionOptions:
    return replace(cluster.options, timeout=timedelta(seconds=0.5))


@asynccontextmanager
async def watching(options: ConnectionOptions) -> AsyncIterator[Console]:
    async with await Console.open(options, Watch(streams=STREAMS)) as console:
        yield console


def check_whole(snapshot: Snapshot) -> None:
    assert snapshot.gaps == ()
    assert [stream.name for stream in snapshot.streams] == list(STREAMS)
    assert all(stream.groups[0].lag.entries == 1 for stream in snapshot.streams)


def streams_on(cluster: RunningCluster, node: RunningServer) -> set[str]:
    return {stream for stream in STREAMS if cluster.node_of(stream) is node}


async def test_streams_on_all_nodes_in_one_collection(cluster: RunningCluster) -> None:
    add_an_entry_a_stream(cluster)
    assert all(streams_on(cluster, node) for node in cluster.nodes)
    one_seed = replace(cluster.options, addresses=cluster.options.addresses[-1:])
    async with await Console.open(one_seed) as console:
        await console.discover()
        snapshot = await console.collect()
        assert sorted(stream.name for stream in snapshot.streams) == sorted(STREAMS)
        assert snapshot.server.mode is Mode.CLUSTER
        assert len(snapshot.server.nodes) == 3
        page = await console.read_entries(STREAMS[0])
        assert page.entries[0].fields == ((b"of", STREAMS[0].encode()),)
        asked = slots_asked(cluster)
        await console.collect()
        assert slots_asked(cluster) == asked


def slots_asked(cluster: RunningCluster) -> int:
    """How often the nodes were asked for the map of slots."""
    statistics = [node.client.info("commandstats") for node in cluster.nodes]
    return sum(one.get("cmdstat_cluster|slots", {"calls": 0})["calls"] for one in statistics)


async def test_seeds_that_are_down_or_hang_do_not_hold_up_the_others(own_cluster: RunningCluster) -> None:
    add_an_entry_a_stream(own_cluster)
    hanging = own_cluster.nodes[0]
    dead = (("127.0.0.1", choose_port()), ("127.0.0.1", hanging.port))
    options = replace(own_cluster.options, timeout=timedelta(seconds=1.5))
    hanging.pause()
    try:
        started = time.monotonic()
        server = await Server.connect(
            replace(options, addresses=(*dead, ("127.0.0.1", own_cluster.nodes[1].port)))
        )
        assert time.monotonic() - started < 2 * options.timeout.total_seconds()
        await server.close()
    finally:
        hanging.resume()


async def test_node_that_hangs_is_a_gap_and_the_rest_is_shown(own_cluster: RunningCluster) -> None:
    add_an_entry_a_stream(own_cluster)
    hanging = own_cluster.nodes[1]
    async with watching(impatient(own_cluster)) as console:
        check_whole(await console.collect())
        hanging.pause()
        try:
            for _ in range(2):
                snapshot = await console.collect()
                lost = streams_on(own_cluster, hanging)
                assert {stream.name for stream in snapshot.streams} == set(STREAMS) - lost
                assert {gap.stream for gap in snapshot.gaps} == {None, *lost}
                assert {gap.reason for gap in snapshot.gaps} == {"no answer in time"}
                assert f"node 127.0.0.1:{hanging.port}" in {gap.part for gap in snapshot.gaps}
            with pytest.raises(Unreachable):
                await console.read_entries(next(iter(lost)))
        finally:
            hanging.resume()
        check_whole(await console.collect())


async def test_node_that_hangs_permits_nothing(
    own_cluster: RunningCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamops.wire.stream_reader.LOOK_AGAIN", 0.0)
    add_an_entry_a_stream(own_cluster)
    for node in own_cluster.nodes:
        node.command("ACL", "SETUSER", "plain", "reset", "on", "nopass", "~*", "+@all", "-@scripting")
    server = await Server.connect(
        replace(own_cluster.options, timeout=timedelta(seconds=1), username="plain", password=Secret("any"))
    )
    reader, hanging = StreamReader(server), own_cluster.nodes[1]
    try:
        await reader.read(STREAMS)
        assert reader.depth is Depth.TRANSACTION
        hanging.pause()
        await reader.read(sorted(streams_on(own_cluster, hanging)))
        assert reader.depth is Depth.TRANSACTION
    finally:
        hanging.resume()
        await server.close()
    for node in own_cluster.nodes:
        node.command("ACL", "DELUSER", "plain")


async def test_other_connections_last_while_a_node_hangs(own_cluster: RunningCluster) -> None:
    """The map is doubtful as long as a node fails; learning it anew must not cost the others their connections."""
    add_an_entry_a_stream(own_cluster)
    hanging, *healthy = own_cluster.nodes
    options = replace(own_cluster.options, timeout=timedelta(seconds=0.2))
    async with watching(options) as console:
        hanging.pause()
        try:
            for _ in range(2):
                await console.collect()
            before = [node.client.info("stats")["total_connections_received"] for node in healthy]
            for _ in range(3):
                await console.collect()
            after = [node.client.info("stats")["total_connections_received"] for node in healthy]
        finally:
            hanging.resume()
    assert after == before


async def test_a_cluster_whose_nodes_all_hang_is_unreachable(own_cluster: RunningCluster) -> None:
    async with watching(impatient(own_cluster)) as console:
        for node in own_cluster.nodes:
            node.pause()
        try:
            with pytest.raises(Unreachable):
                await console.collect()
        finally:
            for node in own_cluster.nodes:
                node.resume()
        await console.collect()


def node_id(node: RunningServer) -> bytes:
    reply: bytes = node.command("CLUSTER", "MYID")
    return reply


async def test_a_stream_is_read_while_its_slot_migrates_and_after(own_cluster: RunningCluster) -> None:
    """ASK while a slot is on its way, MOVED once it has arrived, and back again."""
    add_an_entry_a_stream(own_cluster)
    stream = STREAMS[0]
    source = own_cluster.node_of(stream)
    target = next(node for node in own_cluster.nodes if node is not source)
    slot = source.command("CLUSTER", "KEYSLOT", stream)
    async with watching(own_cluster.options) as console:
        before = await console.collect()
        check_whole(before)
        for giver, taker in ((source, target), (target, source)):
            taker.command("CLUSTER", "SETSLOT", slot, "IMPORTING", node_id(giver))
            giver.command("CLUSTER", "SETSLOT", slot, "MIGRATING", node_id(taker))
            check_whole(await console.collect())
            giver.command("MIGRATE", "127.0.0.1", taker.port, stream, 0, 5000)
            check_whole(await console.collect())
            assert len((await console.read_entries(stream)).entries) == 1
            for node in (taker, giver):
                node.command("CLUSTER", "SETSLOT", slot, "NODE", node_id(taker))
            check_whole(await console.collect())
            # From now on nothing is redirected any more.
            after = await console.collect()
            check_whole(after)
            assert after.commands == before.commands


async def test_a_slot_that_nobody_served_is_found_once_somebody_does(own_cluster: RunningCluster) -> None:
    """As for whoever connects while the cluster is being set up."""
    home = own_cluster.node_of("late")
    slot = home.command("CLUSTER", "KEYSLOT", "late")
    for node in own_cluster.nodes:
        node.command("CLUSTER", "DELSLOTS", slot)
    server = await Server.connect(own_cluster.options)
    try:
        assert isinstance(await server.single("late", "XLEN", "late"), ClusterDownError)
    finally:
        home.command("CLUSTER", "ADDSLOTS", slot)
        for node in own_cluster.nodes:
            if node is not home:
                node.command("CLUSTER", "SETSLOT", slot, "NODE", node_id(home))
    assert await server.single("late", "XLEN", "late") == 0
    await server.close()


async def test_redirections_that_never_end_become_a_gap(own_cluster: RunningCluster) -> None:
    """Two nodes that each say the other has the slot."""
    add_an_entry_a_stream(own_cluster)
    stream = STREAMS[0]
    source = own_cluster.node_of(stream)
    target = next(node for node in own_cluster.nodes if node is not source)
    slot = source.command("CLUSTER", "KEYSLOT", stream)
    async with watching(own_cluster.options) as console:
        check_whole(await console.collect())
        source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", node_id(target))
        source.command("DEL", stream)
        try:
            snapshot = await console.collect()
        finally:
            source.command("CLUSTER", "SETSLOT", slot, "STABLE")
        assert [(gap.stream, gap.reason) for gap in snapshot.gaps] == [
            (stream, "served by another node of the cluster")
        ]


async def test_primary_that_dies_and_its_replica_that_takes_over() -> None:
    program = newest_program()
    with (
        RunningCluster(program) as cluster,
        RunningServer(program, "--cluster-enabled", "yes", "--cluster-node-timeout", "5000") as replica,
    ):
        add_an_entry_a_stream(cluster)
        primary = cluster.nodes[0]
        lost = streams_on(cluster, primary)
        primary.command("CONFIG", "SET", "repl-diskless-sync-delay", "0")
        replica.command("CLUSTER", "MEET", "127.0.0.1", primary.port)
        await eventually(lambda: node_id(primary) in replica.command("CLUSTER", "NODES"))
        replica.command("CLUSTER", "REPLICATE", node_id(primary))
        await eventually(lambda: replica.command("DBSIZE") == len(lost))
        await eventually(
            lambda: all(node_id(replica) in node.command("CLUSTER", "NODES") for node in cluster.nodes)
        )
        another = replace(impatient(cluster), addresses=cluster.options.addresses[1:2])
        async with watching(another) as console:
            check_whole(await console.collect())
            primary.kill()
            snapshot = await console.collect()
            assert {stream.name for stream in snapshot.streams} == set(STREAMS) - lost
            assert {gap.stream for gap in snapshot.gaps} == {None, *lost}
            replica.command("CLUSTER", "FAILOVER", "TAKEOVER")
            deadline = time.monotonic() + SETTLE_SECONDS
            while (snapshot := await console.collect()).gaps:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.05)
            check_whole(snapshot)
            assert f"127.0.0.1:{primary.port}" not in {node.address for node in snapshot.server.nodes}


async def test_a_node_that_was_dropped_meanwhile_may_still_redirect(cluster: RunningCluster) -> None:
    """It names no host, which says that it is its own; its answer came after the map had been learned anew."""
    known = Cluster(cluster.options, PrimaryTracker())
    await known.prepare()
    stray = known.node_at("127.0.0.2", 7001, known.nodes[0])
    known.distrust()
    await known.prepare()
    assert stray not in known.nodes
    assert known.node_at("", 7002, stray).label == "127.0.0.2:7002"
    await known.close()


async def test_a_doubt_that_arises_while_the_map_is_read_is_not_settled_by_it(
    cluster: RunningCluster,
) -> None:
    known = Cluster(cluster.options, PrimaryTracker())
    preparing = asyncio.create_task(known.prepare())
    await asyncio.sleep(0)
    known.distrust()
    await preparing
    assert not known.ready
    await known.prepare()
    assert known.ready
    await known.close()
