"""One history: everybody watches one server, one fault after the other strikes, and what was shown is judged."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final, NamedTuple

from msgspec import Struct
from structlog.testing import capture_logs

from streamops.autoscaling.decisions import LEASE
from tests.chaos.watchers.consoles import ConsoleWatch, ScreenWatch
from tests.chaos.watchers.controllers import LEAST, MOST, ControllerWatch, wrong_in, wrong_in_log
from tests.chaos.watchers.exporting import ExporterWatch, exporter_on
from tests.chaos.watchers.faults import GENTLE, RunningOperation
from tests.chaos.watchers.lines import line
from tests.chaos.watchers.stage import ARGUMENTS, Stage, Start, Struck
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer

HEALS_WITHIN: Final = LEASE.total_seconds() + 10
"""Seconds after a fault until everything shows what is so: what controllers take by themselves, and ten."""

MOST_CONNECTIONS: Final = 40
"""Connections of all watchers together, whatever happened before."""

MOST_MEMORY: Final = 64 << 20
"""Bytes by which the exporter's memory may grow."""

BETWEEN: Final = 0.5

PROMPT, SLOW = timedelta(seconds=1), timedelta(seconds=6)
"""How long watchers wait for a reply: less than some faults last; and longer than a busy machine keeps them waiting."""


class Watched(Struct, frozen=True):
    """What came of a history.

    Attributes:
        seed: What it was made from.
        server: The server's version.
        struck: The faults, in order.
        judged: How many snapshots and pages were held against the truth, by watcher.
        asked: How often workers were asked for.
        connections: Connections of all watchers in the end.
        descriptors: Files that the exporter had open, after the first fault and in the end.
        resident: Bytes of memory that it had, at the same times.
    """

    seed: int
    server: str
    struck: tuple[Struck, ...]
    judged: dict[str, int]
    asked: int
    connections: int
    descriptors: tuple[int, int]
    resident: tuple[int, int]

    @property
    def slowest(self) -> float:
        """Seconds of the longest recovery."""
        return max((seconds for one in self.struck for seconds in one.recovered.values()), default=0.0)


async def play(
    program: ServerProgram, seed: int, faults: Sequence[RunningOperation], *, promptly: bool = False
) -> Watched:
    """Play a history of these faults in this order.

    Args:
        program: The server.
        seed: What makes it random.
        faults: The faults.
        promptly: Whether watchers wait a second for replies, and a recovery that takes longer than was promised is wrong,
            not only one that never comes: for a machine that has nothing else to do.

    Raises:
        AssertionError: Something was shown that was not so, or did not recover, or was done that must not be.
    """
    random = Random(seed)
    exactly = set(faults) <= set(GENTLE) and _counts(program, faults)
    with capture_logs() as logs:
        async with _staged(program, random, PROMPT if promptly else SLOW, exactly=exactly) as (
            stage,
            exporter,
        ):
            await stage.recover("the beginning", monotonic())
            stage.struck.clear()
            sizes = [await _strike(stage, exporter, deed, random) for deed in faults]
            watched = Watched(
                seed=seed,
                server=program.label,
                struck=tuple(stage.struck),
                judged={one.name: one.judged for one in stage.watchers},
                asked=len(stage.fleet.asked),
                connections=await _connections(stage),
                descriptors=(sizes[0].descriptors, sizes[-1].descriptors),
                resident=(sizes[0].resident, sizes[-1].resident),
            )
            exporter.finish()
            stage.judge()
            problems = [*wrong_in(stage.fleet), *wrong_in_log(stage.fleet), *_leaks(watched)]
            problems += _late(stage.struck) if promptly else []
    problems += [str(one) for one in logs if "a bug in streamops" in str(one) or "Traceback" in str(one)]
    assert not problems, "\n".join(problems)
    return watched


class _Size(NamedTuple):
    """What the exporter takes: files that it has open, and bytes of memory."""

    descriptors: int
    resident: int


async def _strike(stage: Stage, exporter: ExporterWatch, deed: RunningOperation, random: Random) -> _Size:
    """Have one fault strike while a person steers the controllers, and all recover."""
    await asyncio.sleep(random.uniform(0.1, BETWEEN))
    workers = random.choice((None, *range(LEAST, MOST + 1)))
    await asyncio.to_thread(stage.fleet.steer, workers)
    began = monotonic()
    await deed(stage, random)
    await stage.recover(deed.__name__, began)
    return _Size(exporter.descriptors, exporter.resident)


def _leaks(watched: Watched) -> list[str]:
    """What piled up from the first fault to the last."""
    (files, more_files), (memory, more_memory) = watched.descriptors, watched.resident
    problems = []
    if watched.connections > MOST_CONNECTIONS:
        problems.append(f"{watched.connections} connections of watchers")
    if more_files > files + MOST_CONNECTIONS:
        problems.append(f"the exporter had {files} files open, and then {more_files}")
    if more_memory > memory + MOST_MEMORY:
        problems.append(f"the exporter had {memory:,} bytes, and then {more_memory:,}")
    return problems


def _late(struck: Sequence[Struck]) -> list[str]:
    """Recoveries that took too long; a machine that stood still is excused."""
    return [
        f"after {one.kind} {name} recovered in {seconds} s"
        for one in struck
        for name, seconds in one.recovered.items()
        if seconds > HEALS_WITHIN + 2 * one.stalled
    ]


async def _connections(stage: Stage) -> int:
    rows = (await stage.command("CLIENT", "LIST")).decode().splitlines()
    return sum(" user=default " in row for row in rows)


@asynccontextmanager
async def _staged(
    program: ServerProgram, random: Random, patience: timedelta, *, exactly: bool
) -> AsyncIterator[tuple[Stage, ExporterWatch]]:
    """A stage on which everybody watches, until the block ends."""
    async with AsyncExitStack() as stack:
        # Paths of sockets must be short.
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="so-")))
        stage = Stage(_starting(program, stack), directory, random)
        lines = {
            name: await stack.enter_async_context(line(directory, name, stage.server, patience))
            for name in ("exporter", "console", "screen", "first", "second")
        }
        exporter = await stack.enter_async_context(exporter_on(lines["exporter"], directory, exactly=exactly))
        stage.watchers = [
            exporter,
            ConsoleWatch(lines["console"]),
            ScreenWatch(lines["screen"]),
            ControllerWatch("first", lines["first"], stage.fleet),
            ControllerWatch("second", lines["second"], stage.fleet),
        ]
        stage.tasks = [asyncio.create_task(one.run(), name=one.name) for one in stage.watchers]
        stage.tasks += [
            asyncio.create_task(stage.write(), name="writer"),
            asyncio.create_task(stage.count_stalls(), name="stalls"),
        ]
        try:
            yield stage, exporter
        finally:
            for task in stage.tasks:
                task.cancel()
            await asyncio.gather(*stage.tasks, return_exceptions=True)


def _starting(program: ServerProgram, stack: AsyncExitStack) -> Start:
    def start(data: Path) -> RunningServer:
        return stack.enter_context(RunningServer(program, "--dir", str(data), *ARGUMENTS))

    return start


def _counts(program: ServerProgram, faults: Sequence[RunningOperation]) -> bool:
    """Whether the server knows in the end what was read: 6.2 counts nothing, and 7.0 forgets it where it starts again."""
    restarted = {"restart", "load"} & {deed.__name__ for deed in faults}
    return not program.label.startswith("redis-6") and not (program.label.startswith("redis-7") and restarted)
