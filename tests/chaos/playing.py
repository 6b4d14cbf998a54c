"""Plays a history: who works, what is published, what goes wrong, all of it decided by a seed."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from msgspec.structs import replace

from tests.chaos.clocks import can_be_set
from tests.chaos.faults import strike
from tests.chaos.history import REST, History
from tests.chaos.scenes import Scene, scene_of
from tests.chaos.stages import set_up
from tests.chaos.worker import HANGING, Post
from tests.support.programs import ServerProgram

COMMON = (
    "ok",
    "ok",
    "ok",
    "ok",
    "slow",
    "fail",
    "later",
    "uncounted",
    "skip",
    "reject",
    "block",
    "bad",
    "cancelled",
)
RARE = ("long", "die", "exit", "poison", "hang", "swallow")
UNFIT = {
    "inline": HANGING | {"long"},
    "threads": HANGING,
    # What ends a whole batch has the rest of it done again.
    "batch": HANGING | {"cancelled", "exit", "long"},
}
"""What handlers of some kinds cannot do, or cannot be cut off from."""

LOOKS = 0.1
"""Seconds between two looks of the console that looks on."""


async def play(
    program: ServerProgram, directory: Path, seed: int, begun: Callable[[History], None] = lambda _: None
) -> None:
    """Play the history of a seed to its end, on a server of its own, and audit it.

    Args:
        program: The server.
        directory: Where its files may be kept.
        seed: What decides all of it.
        begun: Told of the history at its beginning.
    """
    scene = scene_of(seed)
    clock = scene.clock and can_be_set()
    with set_up(program, directory, scene.args, standby=scene.standby, clock=clock) as (server, stage):
        post = a_post(Random(~seed))
        post = replace(post, guarded=post.guarded or scene.guarded, most=scene.most)
        async with History(server, directory, post, stage=stage) as history:
            begun(history)
            await live(history, Random(seed), scene)


async def live(history: History, random: Random, scene: Scene) -> None:
    """What happens in a history, and its audit."""
    for _ in range(random.randint(1, 3)):
        await history.join()
    await history.watch()
    looking = asyncio.create_task(look(history))
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(publish(history, random))
            tasks.create_task(misbehave(history, random, scene))
        await history.settle()
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


def a_post(random: Random) -> Post:
    kind = random.choice(("async", "async", "async", "batch", "threads", "inline"))
    return Post(
        kind=kind,
        # Inline handlers keep everybody waiting, acknowledgements too.
        concurrency=random.choice((1, 3) if kind == "inline" else (1, 3, 10)),
        prefetch=random.choice((1, 5, 50)),
        lease=random.choice((0.8, 1.2)),
        in_place=random.random() < 0.3,
        guarded=random.random() < 0.7,
        uvloop=random.random() < 0.5,
        clock=random.randrange(1 << 30),
    )


async def publish(history: History, random: Random) -> None:
    """Some dozens of entries, in bursts; some are about the same order."""
    most = (20, 40) if history.post.concurrency == 1 else (20, 60, 120)
    usual = COMMON if random.random() < 0.3 else ("ok", "ok", "slow", *random.sample(COMMON, 3))
    unusual = random.sample(RARE, random.choice((0, 1, 1, 2)))
    for number in range(random.choice(most)):
        do = random.choice(usual)
        if unusual and random.random() < 0.1:
            do = unusual.pop()
        if do in UNFIT.get(history.post.kind, ()):
            do = "ok"
        order = number if random.random() < 0.9 else max(0, number - random.randint(1, 5))
        history.publish(do, f"o{order}")
        if number % 5 == 0:
            history.intrude(due_in=(number % 3 - 1) * 2.0)
        if random.random() < 0.2:
            await asyncio.sleep(random.uniform(0, 0.1))


async def misbehave(history: History, random: Random, scene: Scene) -> None:
    """Some faults, one after the other or at once."""
    async with asyncio.TaskGroup() as tasks:
        for number in range(random.randint(1, 4)):
            await asyncio.sleep(random.uniform(0, 0.5))
            history.bury_the_dead()
            deed = random.choice(scene.deeds if number else scene.own)
            tasks.create_task(strike(history, deed, random))


async def look(history: History) -> None:
    """Have the console look on, for ever."""
    assert history.onlooker is not None
    while True:
        began = time.monotonic()
        await history.onlooker.look(lambda: history.losses)
        await asyncio.sleep(max(LOOKS, REST * (time.monotonic() - began)))
