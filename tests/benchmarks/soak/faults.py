"""What goes wrong in a soak, one thing a simulated minute: each a coroutine that does it, and undoes it."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping
from random import Random

import redis

from tests.benchmarks.soak.crew import Hand, PoolRegistry
from tests.chaos.proxy import BOTH, Way
from tests.support.servers import RunningServer


class Scene:
    """Where faults happen.

    Attributes:
        server: The server.
        crew: The workers.
        random: The seeded chance.
        pace: Simulated seconds in one second.
    """

    def __init__(self, server: RunningServer, crew: PoolRegistry, random: Random, pace: float) -> None:
        self.server = server
        self.crew = crew
        self.random = random
        self._pace = pace

    async def last(self, simulated: float) -> None:
        """Wait for so many simulated seconds."""
        await asyncio.sleep(simulated / self._pace)

    def anybody(self) -> Hand:
        """One of the workers."""
        return self.random.choice(self.crew.all)

    def another(self) -> Hand:
        """One of the workers that may die."""
        return self.random.choice(self.crew.others)


RunningOperation = Callable[[Scene], Awaitable[None]]


async def kill(scene: Scene) -> None:
    """A worker is killed, and another one comes."""
    await scene.crew.kill(scene.another())


async def drain(scene: Scene) -> None:
    """A worker is replaced, as in a rolling reload."""
    await scene.crew.drain(scene.another())


async def freeze(scene: Scene) -> None:
    """A worker is stopped, maybe for longer than its lease, and goes on as if nothing had happened."""
    hand = scene.anybody()
    hand.process.send_signal(signal.SIGSTOP)
    await scene.last(scene.random.choice((5, 30, 90)))
    hand.process.send_signal(signal.SIGCONT)


async def cut(scene: Scene) -> None:
    """A worker's connections are reset."""
    scene.anybody().proxy.cut()


async def hole(scene: Scene) -> None:
    """Nothing passes between a worker and the server, one way or both; later everything arrives."""
    proxy = scene.anybody().proxy
    ways = scene.random.choice((BOTH, frozenset({Way.UP}), frozenset({Way.DOWN})))
    proxy.hole(ways, new=scene.random.random() < 0.5)
    await scene.last(scene.random.choice((5, 30)))
    proxy.resume()


async def lose_replies(scene: Scene) -> None:
    """The server acts on what it is asked, and its replies are lost."""
    proxy = scene.anybody().proxy
    proxy.lose()
    await scene.last(5)
    proxy.cut()


async def slow_down(scene: Scene) -> None:
    """Everything that a worker asks takes longer."""
    proxy = scene.anybody().proxy
    proxy.slow_down(0.02)
    await scene.last(20)
    proxy.resume()


async def refuse(scene: Scene) -> None:
    """A worker gets no connection."""
    proxy = scene.anybody().proxy
    proxy.refuse()
    await scene.last(15)
    proxy.resume()


async def restart(scene: Scene) -> None:
    """The server is killed, and comes back with what it had written."""
    scene.server.kill()
    await scene.last(scene.random.uniform(0, 10))
    await asyncio.to_thread(scene.server.restart)


async def pause(scene: Scene) -> None:
    """The server stands still."""
    scene.server.pause()
    await scene.last(20)
    scene.server.resume()


async def hang_up(scene: Scene) -> None:
    """The server closes every connection."""
    await asyncio.to_thread(scene.server.command, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


async def flush_scripts(scene: Scene) -> None:
    """The server forgets its scripts."""
    await asyncio.to_thread(scene.server.command, "SCRIPT", "FLUSH")


DEEDS: Mapping[str, RunningOperation] = {
    "a worker killed": kill,
    "a worker drained and replaced": drain,
    "a worker stopped": freeze,
    "connections reset": cut,
    "a black hole": hole,
    "replies lost": lose_replies,
    "a slow network": slow_down,
    "connections refused": refuse,
    "the server killed and restarted": restart,
    "the server standing still": pause,
    "every client hung up on": hang_up,
    "scripts flushed": flush_scripts,
}


async def strike(scene: Scene) -> str:
    """Do one of them; its name."""
    name = scene.random.choice([*DEEDS])
    try:
        await DEEDS[name](scene)
    except redis.ConnectionError:
        return f"{name}, refused"
    return name
