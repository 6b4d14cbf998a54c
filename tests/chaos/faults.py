"""What goes wrong in histories: each a coroutine that does it, and undoes it after a while."""

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random

import redis

from tests.chaos.clocks import LEAP
from tests.chaos.disasters import recreate_group
from tests.chaos.dooms import Doom, Moment
from tests.chaos.history import History
from tests.chaos.looking import hearts
from tests.chaos.member import Member
from tests.chaos.proxy import BOTH, Way
from tests.chaos.worker import GROUP, STREAM
from tests.support.servers import RunningServer

RunningOperation = Callable[[History, Random], Awaitable[None]]


async def kill(history: History, random: Random) -> None:
    """A worker is killed; another one comes after a while, which may be doomed itself."""
    member = _some(history, random)
    async with history.fault("kill", member):
        member.tell(signal.SIGKILL)
    await asyncio.sleep(random.uniform(0, 0.3))
    await history.join(_doom(random))


async def freeze(history: History, random: Random) -> None:
    """A worker is stopped, maybe for longer than its lease, and goes on as if nothing had happened."""
    member = _some(history, random)
    async with history.fault("freeze", member):
        member.tell(signal.SIGSTOP)
        await asyncio.sleep(random.choice((0.2, 0.7, history.post.lease * 1.5)))
        member.tell(signal.SIGCONT)


async def replace(history: History, random: Random) -> None:
    """A worker is told to end, as in a rolling reload."""
    await history.join()
    member = _some(history, random)
    async with history.fault("drain", member):
        member.tell(signal.SIGTERM)


async def cut(history: History, random: Random) -> None:
    """A worker's connections are reset."""
    member = _some(history, random)
    async with history.fault("cut", member):
        member.proxy.cut()


async def hole(history: History, random: Random) -> None:
    """Nothing passes between a worker and the server, one way or both; later everything arrives."""
    member = _some(history, random)
    ways = random.choice((BOTH, BOTH, frozenset({Way.UP}), frozenset({Way.DOWN})))
    async with history.fault("hole", member):
        member.proxy.hole(ways, new=random.random() < 0.5)
        await asyncio.sleep(random.choice((0.3, 0.8, 1.5)))
        member.proxy.resume()


async def lose_replies(history: History, random: Random) -> None:
    """The server acts on what it is asked, and its replies are lost."""
    member = _some(history, random)
    async with history.fault("lost replies", member):
        member.proxy.lose()
        await asyncio.sleep(random.choice((0.05, 0.2)))
        member.proxy.cut()


async def halve(history: History, random: Random) -> None:
    """A worker's connections end in the middle of a reply."""
    member = _some(history, random)
    async with history.fault("half a reply", member):
        member.proxy.halve(random.choice((0.0, 0.3, 0.7, 0.95)))


async def set_worker_clock(history: History, random: Random) -> None:
    """A worker's clock leaps, by seconds or by days, forward or back."""
    beating = {name.split("-")[-2] for name in hearts(history.server)}
    member = random.choice([one for one in history.members if str(one.pid) in beating])
    async with history.fault("worker's clock", member):
        member.tell(LEAP)


async def slow_down(history: History, random: Random) -> None:
    """Everything takes longer, or replies come a few bytes at a time."""
    member = _some(history, random)
    async with history.fault("slow", member):
        if delay := random.choice((0.005, 0.05, None)):
            member.proxy.slow_down(delay)
        else:
            member.proxy.narrow(2_000)
        await asyncio.sleep(0.5)
        member.proxy.resume()


async def refuse(history: History, random: Random) -> None:
    """No connection to the server, for a while."""
    member = _some(history, random)
    async with history.fault("refused", member):
        member.proxy.refuse()
        await asyncio.sleep(random.uniform(0.1, 0.8))
        member.proxy.resume()


async def restart(history: History, random: Random) -> None:
    """The server is killed, and comes back with what it had written."""
    async with history.serving, history.fault("restart"):
        history.server.kill()
        await asyncio.sleep(random.uniform(0, 0.5))
        await asyncio.to_thread(history.server.restart)


async def pause(history: History, random: Random) -> None:
    """The server stands still."""
    async with history.serving, history.fault("pause"):
        # In a thread: whoever asks the server meanwhile stands still too.
        await asyncio.to_thread(_pause, history.server, random.choice((0.2, 0.9)))


async def flush_scripts(history: History, _: Random) -> None:
    """The server forgets its scripts."""
    async with history.fault("scripts flushed"):
        history.server.command("SCRIPT", "FLUSH")


async def hang_up(history: History, _: Random) -> None:
    """The server closes every connection."""
    async with history.fault("hang up"):
        history.server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


async def read_history(history: History, random: Random) -> None:
    """Somebody reads the history of a consumer, as naive clients do: that counts deliveries, and renews idle times."""
    rows = history.server.command("XINFO", "CONSUMERS", STREAM, GROUP)
    history.note("history read")
    for row in rows:
        for _ in range(random.randint(1, 10)):
            history.server.command("XREADGROUP", "GROUP", GROUP, row[1], "COUNT", 50, "STREAMS", STREAM, "0")


async def remove_consumer(history: History, random: Random) -> None:
    """An operator deletes a consumer, and with it its list of pending entries."""
    names = [row[1] for row in history.server.command("XINFO", "CONSUMERS", STREAM, GROUP)]
    name = random.choice(names)
    async with history.fault("removed"):
        _take_away(history, "DELCONSUMER", name)


async def trim_pending(history: History, random: Random) -> None:
    """What is pending is trimmed, mostly a killed worker's; its events are published again, since they are gone."""
    await _until_pending(history)
    member = _some(history, random)
    killed = random.random() < 0.8
    async with history.fault("trimmed"):
        if killed:
            member.tell(signal.SIGKILL)
        rows = history.server.command("EVAL", TRIM_PENDING, 1, STREAM, GROUP)
        history.trim({row.decode() for row in rows})
    if killed:
        await history.join()


async def destroy_group(history: History, _: Random) -> None:
    """An operator destroys the group: what was acknowledged is known no more, and what was pending neither."""
    async with history.fault("destroyed"):
        history.repeatable |= history.published.keys()
        _take_away(history, "DESTROY")


TRIM_PENDING = """
local ids = {}
for _, row in ipairs(redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1000)) do
  if redis.call('XDEL', KEYS[1], row[1]) == 1 then ids[#ids + 1] = row[1] end
end
return ids
"""

TAKE_AWAY = """
local rows = redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1000, unpack(ARGV, 3))
redis.call('XGROUP', ARGV[2], KEYS[1], ARGV[1], unpack(ARGV, 3))
return rows
"""


def _take_away(history: History, subcommand: str, *consumer: bytes) -> None:
    """Delete something with its list of what is pending, and excuse exactly that."""
    rows = history.server.command("EVAL", TAKE_AWAY, 1, STREAM, GROUP, subcommand, *consumer)
    cause = "a consumer deleted" if consumer else "a group destroyed"
    history.excuse(cause, {row[0].decode() for row in rows})


GENTLE: tuple[RunningOperation, ...] = (
    kill,
    kill,
    kill,
    freeze,
    replace,
    cut,
    hole,
    hole,
    lose_replies,
    halve,
    set_worker_clock,
    slow_down,
    refuse,
    restart,
    pause,
    flush_scripts,
    hang_up,
    read_history,
)
"""What loses nothing."""

STABLE = tuple(deed for deed in GENTLE if deed is not restart)
"""The same on a server that keeps nothing."""

DRAINING: tuple[RunningOperation, ...] = (
    replace,
    replace,
    slow_down,
    pause,
    hang_up,
    flush_scripts,
    read_history,
)
"""What ends no worker before it has drained."""

ROUGH: tuple[RunningOperation, ...] = (remove_consumer, destroy_group, recreate_group)
"""What an operator may do, and what was pending then is excused."""


async def strike(history: History, deed: RunningOperation, random: Random) -> None:
    """Do it, unless the server is away, or nobody is there to do it to."""
    try:
        await deed(history, random)
    except (redis.ConnectionError, redis.ResponseError, LookupError):
        return
    if kind := history.struck:
        history.probe(kind)


def _pause(server: RunningServer, seconds: float) -> None:
    server.pause()
    time.sleep(seconds)
    server.resume()


async def _until_pending(history: History) -> None:
    """Wait a while until somebody has something in hand."""
    with suppress(TimeoutError):
        async with asyncio.timeout(2):
            while not history.server.command("XPENDING", STREAM, GROUP)[0]:  # noqa: ASYNC110 - the server's to know
                await asyncio.sleep(0.005)


def _some(history: History, random: Random) -> Member:
    return random.choice(history.members)


def _doom(random: Random) -> Doom | None:
    if random.random() < 0.6:
        return None
    return Doom(random.choice([*Moment]), random.choice((1, 2, 5)))
