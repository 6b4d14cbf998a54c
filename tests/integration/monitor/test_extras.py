"""What is read beside snapshots, on every server: queues, memory, workers, and what happens without permission."""

import asyncio
from contextlib import suppress

from msgspec.structs import replace

from streamops.model.delayed import DelayedBody
from streamops.model.observation import QueueCount, QueueMetrics
from streamops.model.retention import RetentionPolicy
from streamops.model.secret import Secret
from streamops.monitor.queue_metrics import max_lengths
from streamops.monitor.watch import Watch
from streamops.wire.consuming.heartbeats import write_heartbeat
from streamops.wire.delayed import encode_body
from tests.support.eventually import eventually
from tests.support.invented import minutes, seconds
from tests.support.monitor.extras import at, extras_of, heart
from tests.support.servers import RunningServer
from tests.support.written_pools import UP, write_pool


def delay(server: RunningServer, queue: str, **due: int) -> None:
    """Messages of a queue, by their IDs."""
    body = encode_body(DelayedBody("orders", ((b"n", b"1"),)))
    for ident, ms in due.items():
        server.command("ZADD", queue, ms, ident)
        server.command("HSET", f"{queue}:jobs", ident, body)


async def test_queues_are_counted_by_the_clock_that_is_given(server: RunningServer) -> None:
    delay(server, "{orders}:delayed", a=1000, b=2000, c=3000)
    server.command("ZADD", "not-a-queue", 1, "a")
    async with extras_of(server.options) as (extras, _):
        assert (await extras.read(at(2000))).queues == ()
        await extras.find_queues()
        assert (await extras.read(at(2000))).queues == (QueueCount("{orders}:delayed", 3, 2, at(1000), 3),)
        server.command("DEL", "{orders}:delayed", "{orders}:delayed:jobs")
        # Empty until it is looked for again, and then gone.
        assert (await extras.read(at(2000))).queues == (QueueCount("{orders}:delayed", 0, 0, None),)
        await extras.find_queues()
        assert (await extras.read(at(2000))).queues == ()
        assert not extras.problems


async def test_reading_costs_one_command_a_queue(server: RunningServer) -> None:
    for number in range(5):
        server.command("ZADD", f"{{s{number}}}:delayed", 1, "a")
    async with extras_of(server.options) as (extras, console):
        await extras.find_queues()
        sent = console.place.server.commands_sent
        assert len((await extras.read(at(2))).queues) == 5
        assert console.place.server.commands_sent - sent == 5


async def test_queues_that_the_configuration_names_need_not_be_found(server: RunningServer) -> None:
    delay(server, "later", a=5)
    watch = Watch(delayed={"orders": "later"})
    async with extras_of(server.options, watch) as (extras, _):
        assert (await extras.read(at(9))).queues == (QueueCount("later", 1, 1, at(5), 1),)


async def test_where_streams_are_named_only_their_queues_are_read(server: RunningServer) -> None:
    for name in ("orders", "pay"):
        server.command("ZADD", f"{{{name}}}:delayed", 5, "a")
    async with extras_of(server.options, Watch(streams=("orders",))) as (extras, _):
        await extras.find_queues()
        assert [one.queue for one in (await extras.read(at(9))).queues] == ["{orders}:delayed"]


async def test_a_key_that_is_no_queue_is_left_out(server: RunningServer) -> None:
    server.command("ZADD", "{orders}:delayed", 5, "a")
    async with extras_of(server.options) as (extras, _):
        await extras.find_queues()
        server.command("DEL", "{orders}:delayed")
        server.command("SET", "{orders}:delayed", "x")
        assert (await extras.read(at(9))).queues == ()


async def test_memory_is_what_the_server_says(server: RunningServer) -> None:
    for name in ("orders", "pay"):
        for _ in range(50):
            server.command("XADD", name, "*", "n", "x" * 100)
    async with extras_of(server.options) as (extras, console):
        assert (await extras.read(at(0))).memory == {}
        await extras.measure()
        told = (await extras.read(at(0))).memory
        assert told == {name: server.command("MEMORY", "USAGE", name) for name in ("orders", "pay")}
        server.command("DEL", "pay")
        await extras.measure()
        assert set((await extras.read(at(0))).memory) == {"orders"}
        await console.discover()
        assert not extras.failures


async def test_without_permission_memory_is_told_once_and_asked_for_again(server: RunningServer) -> None:
    server.command("XADD", "orders", "*", "n", "1")
    server.command("ACL", "SETUSER", "narrow", "on", ">right", "~*", "+@all", "-memory")
    try:
        options = replace(server.options, username="narrow", password=Secret("right"))
        async with extras_of(options) as (extras, console):
            await extras.measure()
            sent = console.place.server.commands_sent
            await extras.measure()
            assert console.place.server.commands_sent == sent + 1
            assert (await extras.read(at(0))).memory == {}
            assert extras.failures == {"memory": 1}
            assert "memory" in extras.problems["memory"].lower()
            server.command("ACL", "SETUSER", "narrow", "+memory")
            await extras.measure()
            assert set((await extras.read(at(0))).memory) == {"orders"}
    finally:
        server.command("ACL", "DELUSER", "narrow")


async def test_a_key_that_may_not_be_measured_does_not_keep_others_from_it(server: RunningServer) -> None:
    for name in ("open", "shut"):
        server.command("XADD", name, "*", "n", "1")
    server.command("ACL", "SETUSER", "narrow", "on", ">right", "~open", "+@all")
    try:
        options = replace(server.options, username="narrow", password=Secret("right"))
        async with extras_of(options) as (extras, _):
            await extras.measure()
            assert set((await extras.read(at(0))).memory) == {"open"}
    finally:
        server.command("ACL", "DELUSER", "narrow")


async def test_workers_and_what_their_pools_were_told(server: RunningServer) -> None:
    server.command("HSET", "streamops:pool:shop", "mode", "paused")
    server.command("HSET", "streamops:pool:till", "mode", "running")
    async with extras_of(server.options) as (extras, console):
        for one in (heart("so-1", "shop"), heart("so-2", "till"), heart("so-3", "quiet")):
            await write_heartbeat(console.place.server, one, minutes(1))
        await extras.find_workers()
        found = await extras.read(at(0))
        assert [(one.id, one.pool) for one in found.workers] == [
            ("so-3", "quiet"),
            ("so-1", "shop"),
            ("so-2", "till"),
        ]
        assert found.paused == {"shop": True, "till": False}
        server.command("DEL", "streamops:worker:so-1", "streamops:worker:so-2", "streamops:worker:so-3")
        await extras.find_workers()
        assert ((await extras.read(at(0))).workers, (await extras.read(at(0))).paused) == ((), {})


async def test_pools_are_read_with_the_clock_and_go_with_their_names(server: RunningServer) -> None:
    write_pool(server, "shop", UP, errors=2)
    write_pool(server, "unlisted", desired=3)
    async with extras_of(server.options) as (extras, _):
        assert ((await extras.read(at(9))).pools, (await extras.read(at(9))).pools_at) == ((), None)
        await extras.read_pools()
        found = await extras.read(at(9))
        (pool,) = found.pools
        assert (pool.name, pool.errors, pool.last and pool.last.target) == ("shop", 2, 4)
        assert pool.lead is not None
        assert found.pools_at is not None
        assert found.pools_at < pool.lead.until
        server.command("HDEL", "streamops:pools", "shop")
        await extras.read_pools()
        assert (await extras.read(at(9))).pools == ()


async def test_whoever_may_not_see_pools_is_told_of_none(server: RunningServer) -> None:
    write_pool(server, "shop", UP)
    server.command("ACL", "SETUSER", "narrow", "on", ">right", "+@all", "~orders*")
    options = replace(server.options, username="narrow", password=Secret("right"))
    async with extras_of(options) as (extras, _):
        await extras.read_pools()
        assert ((await extras.read(at(9))).pools, extras.problems) == ((), {})
    server.command("ACL", "DELUSER", "narrow")


async def test_pools_that_cannot_be_read_are_a_problem_and_stay(server: RunningServer) -> None:
    write_pool(server, "shop", UP)
    async with extras_of(server.options) as (extras, _):
        await extras.read_pools()
        server.command("SET", "streamops:pools", "x")
        running = asyncio.create_task(extras.run())
        await eventually(lambda: "pools" in extras.failures)
        found = await extras.read(at(9))
        assert "pools" in found.unread
        assert [pool.name for pool in found.pools] == ["shop"]
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def test_a_pool_that_is_spoilt_is_a_problem_and_hides_no_other(server: RunningServer) -> None:
    write_pool(server, "shop", UP)
    server.command("HSET", "streamops:pools", "spoilt", "x")
    server.command("SET", "streamops:pool:spoilt", "x")
    async with extras_of(server.options) as (extras, _):
        running = asyncio.create_task(extras.run())
        await eventually(lambda: "pools" in extras.failures)
        found = await extras.read(at(9))
        assert "pools" in found.unread
        assert [pool.name for pool in found.pools] == ["shop"]
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def test_the_lanes_run_by_themselves_and_end_when_told(server: RunningServer) -> None:
    server.command("XADD", "orders", "*", "n", "1")
    server.command("ZADD", "{orders}:delayed", 5, "a")
    async with extras_of(server.options) as (extras, console):
        await write_heartbeat(console.place.server, heart("so-1", "shop"), minutes(1))
        running = asyncio.create_task(extras.run())
        found: list[QueueMetrics] = []

        async def look() -> None:
            while not (found and found[-1].queues and found[-1].memory and found[-1].workers):
                found.append(await extras.read(at(9)))
                await asyncio.sleep(0.01)

        async with asyncio.timeout(20):
            await look()
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        assert running.cancelled()


async def test_a_server_that_is_gone_is_counted_and_the_lanes_go_on(server: RunningServer) -> None:
    server.command("ZADD", "{orders}:delayed", 5, "a")
    async with extras_of(server.options) as (extras, console):
        await extras.find_queues()
        await console.place.server.close()
        running = asyncio.create_task(extras.run())
        assert (await extras.read(at(9))).queues == ()
        await eventually(lambda: extras.failures.get("delayed", 0) >= 2 and "workers" in extras.failures)
        assert not running.done()
        assert extras.problems["delayed"]
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


def test_what_retention_policies_keep() -> None:
    policies = (
        RetentionPolicy(streams=("orders",), max_age=seconds(5)),
        RetentionPolicy(streams=("p*", "orders", "orders:dlq"), maxlen=7),
        RetentionPolicy(streams=("*",), maxlen=9),
    )
    names = ["orders", "pay", "other", "orders:dlq", "pay:dlq"]
    # The first policy that names a stream counts; dead letters are meant by their whole names alone.
    assert max_lengths(policies, names, {}) == {"pay": 7, "other": 9, "orders:dlq": 7}
