"""What goes wrong with the server itself: each a coroutine that does it, and undoes it after a while."""

import asyncio
import threading
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from random import Random
from time import monotonic, sleep
from typing import Final

import redis

from tests.chaos.watchers.stage import Stage
from tests.support.eventually import SETTLE_SECONDS
from tests.support.servers import RunningServer

DENIED: Final[Sequence[Sequence[str]]] = (
    ("-eval", "-eval_ro", "-evalsha", "-evalsha_ro"),
    ("-xinfo",),
    ("-eval", "-eval_ro", "-evalsha", "-evalsha_ro", "-xinfo|stream", "-xinfo"),
    ("-scan",),
    ("-time", "-info"),
    ("-hset", "-xpending"),
    ("-@all",),
    ("resetkeys",),
)


async def restart(stage: Stage, random: Random) -> None:
    """The server is killed, and comes back with what it had written; maybe it takes a while to load that."""
    # A consumer that was never given anything is not written to the file.
    async with stage.unknown():
        if random.random() < 0.5:
            await asyncio.to_thread(_write_much, stage.client())
        await asyncio.to_thread(stage.server.kill)
        await asyncio.sleep(random.uniform(0, 0.7))
        await asyncio.to_thread(stage.server.restart)


async def load(stage: Stage, _: Random) -> None:
    """The server is killed, and takes a while to load what it had."""
    async with stage.unknown():
        await asyncio.to_thread(_write_much, stage.client())
        await asyncio.to_thread(stage.server.kill)
        await asyncio.to_thread(stage.server.restart)


async def lose_all(stage: Stage, random: Random) -> None:
    """The server is killed, and comes back with nothing."""
    async with stage.unknown():
        await asyncio.to_thread(stage.server.kill)
        stage.forget_data()
        await asyncio.sleep(random.uniform(0, 0.5))
        await asyncio.to_thread(stage.server.restart)


async def pause(stage: Stage, random: Random) -> None:
    """The server stands still."""
    stage.server.pause()
    await asyncio.sleep(random.choice((0.3, 2.5)))
    stage.server.resume()


async def hang_up(stage: Stage, random: Random) -> None:
    """The server closes the connections of all watchers."""
    for _ in range(random.randint(1, 3)):
        await stage.command("CLIENT", "KILL", "USER", "default")
        await asyncio.sleep(random.uniform(0, 0.3))


async def flush_scripts(stage: Stage, _: Random) -> None:
    """The server forgets its scripts."""
    await stage.command("SCRIPT", "FLUSH")


async def run_out_of_memory(stage: Stage, _: Random) -> None:
    """The server refuses whatever takes memory."""
    await stage.command("CONFIG", "SET", "maxmemory", 1)
    await asyncio.sleep(0.8)
    await stage.command("CONFIG", "SET", "maxmemory", 0)


async def evict(stage: Stage, _: Random) -> None:
    """The server drops keys to have room."""
    async with stage.unknown():
        await stage.command("CONFIG", "SET", "maxmemory-policy", "allkeys-random")
        await stage.command("CONFIG", "SET", "maxmemory", 1)
        async with asyncio.timeout(SETTLE_SECONDS):
            while await stage.command("DBSIZE"):
                with suppress(redis.OutOfMemoryError):
                    await stage.command("SET", "more", "1")
        await asyncio.sleep(0.4)
        await stage.command("CONFIG", "SET", "maxmemory", 0)
        await stage.command("CONFIG", "SET", "maxmemory-policy", "noeviction")


async def flush(stage: Stage, random: Random) -> None:
    """Somebody drops all keys."""
    async with stage.unknown():
        await stage.command("FLUSHALL")
        await asyncio.sleep(random.choice((0.0, 0.5)))


async def fail_over(stage: Stage, random: Random) -> None:
    """A replica is promoted, which may not have got the last writes; the primary is gone for good."""
    primary, replica = stage.server, await asyncio.to_thread(stage.another)
    await asyncio.to_thread(replica.command, "REPLICAOF", "127.0.0.1", primary.port)
    await asyncio.to_thread(_wait_for_sync, replica)
    async with AsyncExitStack() as stack:
        if random.random() < 0.5:
            # What is written from now on is lost.
            await asyncio.to_thread(replica.command, "REPLICAOF", "NO", "ONE")
            await asyncio.sleep(0.2)
            await stack.enter_async_context(stage.unknown())
        else:
            await stack.enter_async_context(stage.unknown())
            await asyncio.to_thread(_wait_for_all, primary, replica)
            await asyncio.to_thread(replica.command, "REPLICAOF", "NO", "ONE")
        for line in stage.lines:
            line.proxy.refuse()
        await asyncio.to_thread(primary.kill)
        await asyncio.sleep(random.uniform(0, 0.5))
        stage.turn_to(replica)
        for line in stage.lines:
            line.proxy.resume()


async def deny(stage: Stage, random: Random) -> None:
    """The watchers' user is refused some commands, and allowed them again."""
    for word in random.choice(DENIED):
        # Servers before 7.0 know fewer commands.
        with suppress(redis.ResponseError):
            await stage.command("ACL", "SETUSER", "default", word)
    await asyncio.sleep(0.8)
    await stage.command("ACL", "SETUSER", "default", "~*", "+@all")


async def be_busy(stage: Stage, random: Random) -> None:
    """Somebody's script does not end, until it is killed."""
    await stage.command("CONFIG", "SET", "lua-time-limit", 50)
    client = stage.client()
    script = threading.Thread(target=_loop_for_ever, args=(client,))
    script.start()
    await asyncio.sleep(random.choice((0.3, 1.2)))
    async with asyncio.timeout(SETTLE_SECONDS):
        while script.is_alive():
            with suppress(redis.RedisError):
                await stage.command("SCRIPT", "KILL")
            await asyncio.sleep(0.02)


def _wait_for_all(primary: RunningServer, replica: RunningServer) -> None:
    """Until the replica has all that was written, by whomever: WAIT asks for the writes of its own connection alone."""
    deadline = monotonic() + SETTLE_SECONDS
    while _offset(replica) < _offset(primary):
        assert monotonic() < deadline, "the replica does not catch up"
        sleep(0.01)


def _offset(server: RunningServer) -> int:
    return int(server.client.info("replication")["master_repl_offset"])


def _wait_for_sync(replica: RunningServer) -> None:
    deadline = monotonic() + SETTLE_SECONDS
    while b"master_link_status:up" not in replica.command("INFO", "replication"):
        assert monotonic() < deadline, "the replica never caught up"
        sleep(0.05)


def _write_much(client: redis.Redis) -> None:
    """So much that loading it takes a while."""
    pipeline = client.pipeline(transaction=False)
    for number in range(5000):
        pipeline.set("much", number)
    pipeline.delete("much")
    pipeline.execute()


def _loop_for_ever(client: redis.Redis) -> None:
    with suppress(redis.RedisError):
        client.eval("while true do end", 0)
