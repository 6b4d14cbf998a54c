"""Nothing is lost, whatever fails: random histories, and an audit that knows nothing of how it works.

``STREAMOPS_HISTORIES`` says how many histories are played on each version, ``STREAMOPS_FIRST_HISTORY`` which is the
first; a failure names its seed.
"""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from tests.chaos.faults import GENTLE, ROUGH, Deed, strike
from tests.chaos.history import History
from tests.chaos.ledger import read
from tests.chaos.worker import HANGING, Post
from tests.programs import ServerProgram
from tests.servers import RunningServer, StartServer

HISTORIES = int(os.environ.get("STREAMOPS_HISTORIES", "2"))
FIRST = int(os.environ.get("STREAMOPS_FIRST_HISTORY", "0"))
SECONDS_EACH = 60
DURABLE = ("--appendonly", "yes", "--appendfsync", "always")

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

FAULTS = {"nothing is lost": (HISTORIES, GENTLE), "an operator loses something": (-(-HISTORIES // 4), ROUGH)}
"""How many histories are played with which faults."""


@pytest.fixture
def durable_server(program: ServerProgram, start_server: StartServer, tmp_path: Path) -> RunningServer:
    """A server that keeps what it confirmed."""
    kept = tmp_path / "kept"
    kept.mkdir()
    return start_server("--dir", str(kept), *DURABLE, program=program)


@pytest.mark.timeout(120 + SECONDS_EACH * HISTORIES)
@pytest.mark.parametrize(("histories", "faults"), FAULTS.values(), ids=[*FAULTS])
async def test_random_histories(
    durable_server: RunningServer, tmp_path: Path, histories: int, faults: Sequence[Deed]
) -> None:
    for seed in range(FIRST, FIRST + histories):
        durable_server.flush()
        directory = tmp_path / str(seed)
        directory.mkdir()
        try:
            await play(durable_server, directory, seed, faults)
        except Exception as error:
            raise AssertionError(f"history {seed} on {durable_server.label}") from error


async def test_whoever_flushes_the_server_stops_nobody(server: RunningServer, tmp_path: Path) -> None:
    async with History(server, tmp_path, Post(concurrency=2, prefetch=5, guarded=False)) as history:
        for _ in range(2):
            await history.join()
        for number in range(20):
            history.publish("slow", f"o{number}")
        await history.until("at work", lambda: read(history.post.ledger))
        async with history.fault("flushed"):
            history.excused |= history.published.keys()
            server.flush()
        for number in range(20):
            history.publish(("ok", "fail", "bad", "later")[number % 4], f"p{number}")
        await history.settle()


async def play(server: RunningServer, directory: Path, seed: int, faults: Sequence[Deed] = GENTLE) -> None:
    random = Random(seed)
    async with History(server, directory, a_post(random)) as history:
        for _ in range(random.randint(1, 3)):
            await history.join()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(publish(history, random))
            tasks.create_task(misbehave(history, random, faults))
        await history.settle()


def a_post(random: Random) -> Post:
    kind = random.choice(("async", "async", "async", "batch", "threads", "inline"))
    return Post(
        kind=kind,
        # Inline handlers keep everybody waiting, acknowledgements too.
        concurrency=random.choice((1, 3) if kind == "inline" else (1, 3, 10)),
        prefetch=random.choice((1, 5, 50)),
        lease=random.choice((0.8, 1.2)),
        passive=random.random() < 0.3,
        guarded=random.random() < 0.7,
        uvloop=random.random() < 0.5,
    )


async def publish(history: History, random: Random) -> None:
    """About a hundred entries, in bursts; some are about the same order."""
    usual = COMMON if random.random() < 0.3 else ("ok", "ok", "slow", *random.sample(COMMON, 3))
    unusual = random.sample(RARE, random.choice((0, 1, 1, 2)))
    for number in range(random.choice((20, 60, 120))):
        do = random.choice(usual)
        if unusual and random.random() < 0.1:
            do = unusual.pop()
        if do in UNFIT.get(history.post.kind, ()):
            do = "ok"
        order = number if random.random() < 0.9 else max(0, number - random.randint(1, 5))
        history.publish(do, f"o{order}")
        if random.random() < 0.2:
            await asyncio.sleep(random.uniform(0, 0.1))


async def misbehave(history: History, random: Random, faults: Sequence[Deed]) -> None:
    """Some faults, one after the other or at once."""
    async with asyncio.TaskGroup() as tasks:
        for _ in range(random.randint(1, 4)):
            await asyncio.sleep(random.uniform(0, 0.5))
            history.bury_the_dead()
            tasks.create_task(strike(history, random.choice(faults), random))
