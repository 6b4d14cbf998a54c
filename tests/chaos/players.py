"""Plays many runs in parallel, in processes that are ended where one of them hangs."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from streamops.service.processes import module_command, module_environment
from tests.chaos.results import CRASHES, Job, Result

HANGS = 240.0
"""Seconds without an answer after which a process is ended: it should have noticed by itself long before."""

SIDE_BY_SIDE = 10
"""How many runs that crash by themselves one process plays at once; of those with processes, one."""

MOST_OF_AN_ANSWER = 1 << 26


class Company:
    """Processes that play."""

    def __init__(self, size: int, log: Path) -> None:
        self._size = size
        self._log = log

    async def play(self, jobs: Sequence[Job], told: Callable[[Result], None]) -> None:
        """Play runs, and tell of each as it ends."""
        queue: asyncio.Queue[Job] = asyncio.Queue()
        for job in jobs:
            queue.put_nowait(job)
        async with asyncio.TaskGroup() as tasks:
            for _ in range(min(self._size, len(jobs))):
                tasks.create_task(self._keep_one(queue, told))

    async def _keep_one(self, queue: asyncio.Queue[Job], told: Callable[[Result], None]) -> None:
        """One process, and another where it had to be ended, until nothing is left."""
        while not queue.empty():
            with self._log.open("ab") as log:
                process = await asyncio.create_subprocess_exec(
                    *module_command("tests.chaos", "--player"),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=log,
                    env=module_environment(),
                    limit=MOST_OF_AN_ANSWER,
                )
            try:
                await self._feed(process, queue, told)
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()

    async def _feed(
        self, process: asyncio.subprocess.Process, queue: asyncio.Queue[Job], told: Callable[[Result], None]
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        under_way: set[Job] = set()
        while under_way or not queue.empty():
            while not queue.empty() and len(under_way) < _at_once(queue):
                job = queue.get_nowait()
                under_way.add(job)
                process.stdin.write(msgspec.json.encode(job) + b"\n")
            try:
                async with asyncio.timeout(HANGS):
                    line = await process.stdout.readline()
            except TimeoutError:
                line = b""
            if not line:
                for job in under_way:
                    told(Result(job=job, problem="its process hung, or ended", hung=True))
                return
            result = msgspec.json.decode(line, type=Result)
            under_way.discard(result.job)
            told(result)
        process.stdin.close()
        await process.wait()


def _at_once(queue: asyncio.Queue[Job]) -> int:
    """How many runs of the kind that comes next a process plays at once."""
    following: Job = queue._queue[0]  # type: ignore[attr-defined] # a look without taking it
    return SIDE_BY_SIDE if following.kind == CRASHES else 1


def progress(done: int, of: int, result: Result) -> None:
    """Say on standard error what has just ended."""
    word = "hung" if result.hung else "FAILED" if result.problem else "ok"
    job = result.job
    sys.stderr.write(
        f"{done}/{of} {job.kind} {job.label} {job.seed} {word} {result.seconds:.1f} s {result.scene}\n"
    )
