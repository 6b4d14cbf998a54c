"""What goes wrong with a server itself: what it forgets by that is told by its cause, and nothing else may be missing."""

import asyncio
import resource
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

from tests.chaos.history import History
from tests.chaos.looking import BODIES, DELAYED, LETTERS, RETRIES, hearts, ids_of
from tests.chaos.worker import GROUP, STREAM
from tests.support.servers import RunningServer

NOWHERE = ("127.0.0.1", 1)
UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
FOLLOWS_WITHIN = 40.0
POLICIES = ("allkeys-lru", "allkeys-random", "volatile-ttl")
MOST_EVICTING = 200


async def lose_power(history: History, random: Random) -> None:
    """The machine goes down: of what was written since its log last reached the disk, a second ago at most, some is gone."""
    log = _log(history)
    async with history.serving:
        since, safe = time.monotonic(), log.stat().st_size
        await asyncio.sleep(random.uniform(0.1, 0.9))
        async with history.fault("power lost"):
            history.server.kill()
            with log.open("r+b") as file:
                file.truncate(random.randint(safe, log.stat().st_size))
            await asyncio.to_thread(history.server.restart)
            history.find_missing("the last second of its log", since)


async def fill_disk(history: History, random: Random) -> None:
    """No write to the log succeeds any more: the server refuses writes, or ends, until there is room again."""
    log = _log(history)
    async with history.serving, history.fault("disk full"):
        resource.prlimit(
            history.server.pid, resource.RLIMIT_FSIZE, (log.stat().st_size, resource.RLIM_INFINITY)
        )
        ended = await _ends(history.server, random.uniform(0.2, 1.0))
        if ended:
            # It will not confirm what it cannot keep. Somebody makes room, and starts it again.
            history.server._end()
            await asyncio.to_thread(history.server.restart)
        else:
            resource.prlimit(history.server.pid, resource.RLIMIT_FSIZE, UNLIMITED)


async def fill_memory(history: History, random: Random) -> None:
    """The server is out of memory, and refuses whatever needs more."""
    async with history.serving, history.fault("out of memory"):
        history.server.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
        history.server.command("CONFIG", "SET", "maxmemory", "1")
        await asyncio.sleep(random.uniform(0.2, 0.8))
        history.server.command("CONFIG", "SET", "maxmemory", "0")


async def evict(history: History, random: Random) -> None:
    """The server is out of memory, and drops keys, whatever they are."""
    server = history.server
    async with history.serving, history.fault("evicted"):
        server.command("CONFIG", "SET", "maxmemory-policy", random.choice(POLICIES))
        keys, before = _keys(server), _figure(server, "stats", b"evicted_keys")
        room = _figure(server, "memory", b"used_memory") - random.choice((1, 2_000, 20_000))
        server.command("CONFIG", "SET", "maxmemory", room)
        for _ in range(MOST_EVICTING):
            if _figure(server, "stats", b"evicted_keys") > before:
                break
        gone = keys - _keys(server)
        server.command("CONFIG", "SET", "maxmemory", "0")
        # Guards, marks and heartbeats may be gone too: what they keep from happening twice may.
        history.repeatable |= history.published.keys()
        if not history.published.keys() <= ids_of(server):
            gone.add(STREAM)
        for key in sorted(gone & {STREAM, RETRIES, DELAYED, BODIES, LETTERS}):
            history.excuse(f"evicted: {key}", history.published)


async def flush(history: History, _: Random) -> None:
    """Somebody drops everything."""
    async with history.serving, history.fault("flushed"):
        history.server.flush()
        history.repeatable |= history.published.keys()
        history.excuse("FLUSHALL", history.published)


async def fail_over(history: History, random: Random) -> None:
    """The primary is gone, and its replica takes over without what had not reached it."""
    async with history.serving:
        standby = history.stage.standby
        if standby is None or history.server is standby:
            raise LookupError("nobody stands by")
        await _caught_up(history.server, standby)
        since = time.monotonic()
        standby.command("REPLICAOF", *NOWHERE)
        await asyncio.sleep(random.uniform(0, 0.6))
        async with history.fault("failed over"):
            history.server.kill()
            history.move(standby)
            await asyncio.sleep(random.uniform(0, 0.4))
            standby.command("REPLICAOF", "NO", "ONE")
            history.find_missing("not replicated", since)


async def set_clock(history: History, random: Random) -> None:
    """The server's clock is set forward, or a little back."""
    if history.stage.clock is None:
        raise LookupError("nobody can set it")
    async with _sudden(history, "server's clock"):
        history.stage.clock.leap(random.choice((-2.0, -0.5, 2.0, 30.0, 600.0)))


async def recreate_group(history: History, random: Random) -> None:
    """An operator destroys the group and creates it again, where the stream begins, or where it ends."""
    start = random.choice(("0", "$"))
    async with _sudden(history, "recreated"):
        history.repeatable |= history.published.keys()
        given_up = history.server.command("EVAL", RECREATE, 1, STREAM, GROUP, start)
        ids = {row[0].decode() for row in given_up} if start == "$" else set()
        history.excuse(f"a group recreated at {start}", ids)


RECREATE = """
local last
for _, row in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
    local group = {}
    for at = 1, #row, 2 do group[row[at]] = row[at + 1] end
    if group.name == ARGV[1] then last = group['last-delivered-id'] end
end
local rows = redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 10000)
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '(' .. last, '+')) do rows[#rows + 1] = entry end
redis.call('XGROUP', 'DESTROY', KEYS[1], ARGV[1])
redis.call('XGROUP', 'CREATE', KEYS[1], ARGV[1], ARGV[2])
return rows
"""


@asynccontextmanager
async def _sudden(history: History, kind: str) -> AsyncIterator[None]:
    """What takes no time, but must not fall into a time without a server."""
    async with history.serving, history.fault(kind):
        hearts(history.server)
        yield


def _log(history: History) -> Path:
    if (log := history.stage.log) is None:
        raise LookupError("it keeps nothing")
    return log


async def _ends(server: RunningServer, seconds: float) -> bool:
    """Whether a server ends by itself within a while; its guard is waited for."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if server._guard.poll() is not None:
            return True
        await asyncio.sleep(0.01)
    return False


async def _caught_up(primary: RunningServer, replica: RunningServer) -> None:
    """Wait until the replica has been given all that there was."""
    deadline = time.monotonic() + FOLLOWS_WITHIN
    wanted = primary.command("ROLE")[1]
    while True:
        _, _, _, state, offset = replica.command("ROLE")
        if state == b"connected" and offset >= wanted:
            return
        assert time.monotonic() < deadline, f"the replica does not follow: {state} {offset} of {wanted}"
        await asyncio.sleep(0.005)


def _keys(server: RunningServer) -> set[str]:
    return {key.decode() for key in server.command("KEYS", "*")}


def _figure(server: RunningServer, section: str, name: bytes) -> int:
    rows = dict(row.split(b":", 1) for row in server.command("INFO", section).splitlines() if b":" in row)
    return int(rows[name])
