"""What goes wrong between watchers and the server: each a coroutine that does it, and undoes it after a while."""

import asyncio
from collections.abc import Sequence
from random import Random

from tests.chaos.proxy import BOTH, Way
from tests.chaos.watchers.lines import Halver, Line
from tests.chaos.watchers.stage import Stage


async def cut(stage: Stage, random: Random) -> None:
    """Connections are reset, again and again."""
    for _ in range(random.randint(1, 5)):
        for line in _some(stage, random):
            line.proxy.cut()
        await asyncio.sleep(random.uniform(0, 0.2))


async def hole(stage: Stage, random: Random) -> None:
    """Nothing passes, one way or both; later everything arrives."""
    lines = _some(stage, random)
    ways = random.choice((BOTH, BOTH, frozenset({Way.UP}), frozenset({Way.DOWN})))
    for line in lines:
        line.proxy.hole(ways, new=random.random() < 0.7)
    await asyncio.sleep(random.choice((0.3, 1.0, 3.0)))
    for line in lines:
        line.proxy.resume()


async def lose_replies(stage: Stage, random: Random) -> None:
    """The server acts on what it is asked, and its replies are lost."""
    lines = _some(stage, random)
    for line in lines:
        line.proxy.lose()
    await asyncio.sleep(random.choice((0.1, 0.9)))
    for line in lines:
        line.proxy.cut()


async def halve(stage: Stage, random: Random) -> None:
    """Replies end in the midst, and the connection with them."""
    lines = _some(stage, random)
    async with Halver(stage.server.socket_path, stage.directory / "halver", random) as halver:
        for line in lines:
            line.lead_to(halver.path)
            line.proxy.cut()
        await asyncio.sleep(1.0)
        for line in lines:
            line.lead_to(stage.server.socket_path)
            line.proxy.cut()


async def slow_down(stage: Stage, random: Random) -> None:
    """Everything takes longer."""
    lines = _some(stage, random)
    for line in lines:
        line.proxy.slow_down(random.choice((0.01, 0.1, 0.25)))
    await asyncio.sleep(1.0)
    for line in lines:
        line.proxy.resume()


async def refuse(stage: Stage, random: Random) -> None:
    """No connection to the server, for a while."""
    lines = _some(stage, random)
    for line in lines:
        line.proxy.refuse()
    await asyncio.sleep(random.uniform(0.1, 1.2))
    for line in lines:
        line.proxy.resume()


def _some(stage: Stage, random: Random) -> Sequence[Line]:
    """All lines, or one."""
    return stage.lines if random.random() < 0.6 else [random.choice(stage.lines)]
