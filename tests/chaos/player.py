"""Plays runs that it is told on standard input, and tells what they came to on standard output.

A process of its own, so that a run that hangs can be ended without ending the others. It is no main module, because
every worker process that is forked for it would import that anew.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from streamops.operations.replay.intent import ReplayMode
from streamops.wire.options import ConnectionOptions
from tests.chaos.crashes import Crash, Run
from tests.chaos.histories.replays import History as Replays
from tests.chaos.histories.replays import hasten
from tests.chaos.history import History
from tests.chaos.ledger import Word, read
from tests.chaos.playing import play
from tests.chaos.results import CRASHES, HEALS, PROCESSES, TOPOLOGIES, Job, Result, tell_history
from tests.chaos.scenes import scene_of
from tests.chaos.stories import story
from tests.chaos.worker import SMALL, warm_up
from tests.support.programs import ServerProgram, find_programs
from tests.support.servers import RunningServer

LIMIT = 150.0
"""Seconds after which a run hangs."""

WIDER_LIMIT = 230.0
"""The same where a deployment of many servers is started, or many watch."""

PATIENCE = timedelta(seconds=30)

REPLAYS = 5
"""Every how-manieth crash is one of somebody who replays dead letters."""


class Player:
    """Plays runs, on servers that it starts as they are needed."""

    def __init__(self, running: ExitStack) -> None:
        self._programs = {program.label: program for program in find_programs()}
        self._running = running
        self._servers: dict[tuple[str, bool], RunningServer] = {}
        self._one_at_a_time = asyncio.Lock()

    async def play(self, job: Job) -> Result:
        """Play one run; whatever goes wrong with it is told, and not raised."""
        began = time.monotonic()
        if job.kind == CRASHES:
            result = await (self._replay(job) if job.seed % REPLAYS == REPLAYS - 1 else self._crash(job))
        elif job.kind == PROCESSES:
            result = await self._live(job)
        else:
            result = await self._wider(job)
        return replace(result, seconds=time.monotonic() - began)

    async def _live(self, job: Job) -> Result:
        with tempfile.TemporaryDirectory(prefix="streamops-chaos-") as directory:
            histories: list[History] = []
            problem, hung = "", False
            try:
                async with asyncio.timeout(LIMIT):
                    await play(self._program(job), Path(directory), job.seed, histories.append)
            except TimeoutError:
                problem, hung = "it came to no end", True
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the result
                problem = told(error)
            if not histories:
                return Result(job=job, problem=problem, hung=hung)
            history = histories[0]
            result = tell_history(job, scene_of(job.seed).name, history)
            late = [
                f"{kind}: {seconds:.1f} s until something new was done"
                for kind, seconds in result.recoveries
                if seconds > history.post.lease + HEALS
            ]
            problem = "\n".join(filter(None, (problem, *late)))
            faults = (*history.faults, *history.harmless)
            lines = read(history.post.ledger)
            return replace(result, problem=problem, hung=hung, story=story(lines, faults, history.published))

    async def _crash(self, job: Job) -> Result:
        run = Run(self._server(job), job.seed)
        problem, hung = "", False
        try:
            crash = await run.play()
            problem = "\n".join(crash.problems)
        except TimeoutError:
            problem, hung = "it came to no end", True
        except Exception as error:  # noqa: BLE001 - the same
            problem = told(error)
        result = tell_crash(job, run.crash)
        published = {line.origin: line.key for line in run.crash.lines}
        return replace(
            result,
            problem=problem,
            hung=hung,
            story=story(run.crash.lines, run.crash.faults, published),
        )

    async def _replay(self, job: Job) -> Result:
        modes = list(ReplayMode)
        result = Result(job=job, scene="a replay of dead letters")
        async with self._one_at_a_time:
            server = self._server(job, alone=True)
            history = _Patient(
                server,
                job.seed,
                modes[job.seed // REPLAYS % len(modes)],
                target="orders",
                queue="{orders}:dlq",
            )
            try:
                with pytest.MonkeyPatch.context() as patched:
                    hasten(patched)
                    async with asyncio.timeout(LIMIT):
                        await history.run()
            except TimeoutError:
                return replace(result, problem="it came to no end", hung=True)
            except Exception as error:  # noqa: BLE001 - the same
                return replace(result, problem=told(error))
        return replace(result, published=len(history.done), handled=history.done.total())

    async def _wider(self, job: Job) -> Result:
        # Clients, consoles and controllers are only imported where they are played.
        from tests.chaos.wider import fail_over, watch  # noqa: PLC0415

        try:
            async with asyncio.timeout(WIDER_LIMIT):
                return await (fail_over if job.kind == TOPOLOGIES else watch)(job, self._program(job))
        except TimeoutError:
            return Result(job=job, problem="it came to no end", hung=True)
        except Exception as error:  # noqa: BLE001 - the same
            return Result(job=job, problem=told(error))

    def _program(self, job: Job) -> ServerProgram:
        return self._programs[job.label]

    def _server(self, job: Job, *, alone: bool = False) -> RunningServer:
        """A server that all runs share, each with keys of its own, or one for runs that drop everything."""
        if (job.label, alone) not in self._servers:
            server = self._running.enter_context(RunningServer(self._program(job)))
            self._servers[job.label, alone] = server
        return self._servers[job.label, alone]


class _Patient(Replays):
    """Whoever replays waits for an answer for as long as it takes a busy machine."""

    @property
    def options(self) -> ConnectionOptions:
        return replace(super().options, timeout=PATIENCE)


def tell_crash(job: Job, crash: Crash) -> Result:
    """What a run came to that crashed at a step."""
    audit = crash.audit
    return Result(
        job=job,
        scene="a worker or a publisher",
        faults=dict(Counter(crash.met)),
        published=len(crash.published),
        handled=len({line.key for line in crash.lines if line.word is Word.DONE}),
        retried=sum(line.word is Word.START and line.attempt > 1 for line in crash.lines),
        buried=audit.buried if audit else 0,
        duplicates=audit.repeated if audit else 0,
        effects=sum(line.word is Word.EFFECT for line in crash.lines),
        recoveries=[] if crash.recovery is None else [("a crash", crash.recovery)],
        readings=crash.readings,
        wrong=crash.wrong,
    )


def told(error: BaseException) -> str:
    """What went wrong, without where."""
    if isinstance(error, BaseExceptionGroup):
        return "\n".join(map(told, error.exceptions))
    return f"{type(error).__name__}: {error}"


async def main() -> None:
    """Play what comes, at once, until the input ends."""
    for module, sizes in SMALL.items():
        for name, size in sizes.items():
            setattr(module, name, size)
    await asyncio.to_thread(warm_up)
    # Whatever else writes to standard output must not be taken for a result.
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    reader = asyncio.StreamReader(limit=1 << 24)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    with ExitStack() as running:
        player = Player(running)

        async def answer(job: Job) -> None:
            result = await player.play(job)
            answers.write(msgspec.json.encode(result) + b"\n")

        async with asyncio.TaskGroup() as tasks:
            while line := await reader.readline():
                tasks.create_task(answer(msgspec.json.decode(line, type=Job)))
