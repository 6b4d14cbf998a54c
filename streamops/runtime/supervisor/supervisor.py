"""The parent of worker processes: starts, watches, restarts, reloads and drains them.

It imports nothing of the application: what a handler leaks or breaks ends with its process, and a reload gets the
code that is there now.
"""

import asyncio
import os
import signal
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import structlog
from msgspec.structs import replace

from streamops.errors import ExitCode, StreamopsError
from streamops.runtime.handler_counts import HandlerCounts
from streamops.runtime.supervisor import restart_policy
from streamops.runtime.supervisor.place import Place
from streamops.runtime.supervisor.pool import PoolSync
from streamops.runtime.supervisor.process import WorkerProcess
from streamops.runtime.supervisor.process_table import ProcessTable
from streamops.runtime.supervisor.reloading import Reloading
from streamops.runtime.supervisor.spec import Failure, WorkerSpec, grace_of
from streamops.runtime.supervisor.systemd import notify
from streamops.runtime.supervisor.watching import end_stalled, reap, tell_systemd


class CannotStart(StreamopsError):
    """No worker process can begin: what the first one said."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message, failure.hint)
        self.exit_code = ExitCode(failure.exit_code)


class Supervisor:
    """Keeps worker processes running.

    Args:
        orders: What each of them is to do.
        workers: How many; as many as their pool is told, where none is given.
        unless_told: How many where nobody has told the pool a number.
        environment: Environment variables that they have besides ours.
    """

    def __init__(
        self,
        spec: WorkerSpec,
        workers: int | None,
        *,
        unless_told: int = 1,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._follows = workers is None
        spec = replace(spec, tell_connection=self._follows and spec.connection is None)
        # Before the pool could be asked, one is enough to say where.
        begin = workers if workers is not None else int(spec.connection is None)
        self._table = ProcessTable(spec, begin, environment)
        self._reloading = Reloading(self._table)
        self._unless_told = unless_told
        self._tasks: asyncio.TaskGroup | None = None
        self._forced = asyncio.Event()
        self._failure: Failure | None = None
        self._hopeless = False
        self._log = structlog.get_logger("streamops")

    @property
    def figures(self) -> tuple[HandlerCounts, ...]:
        """What all processes did, those included that have ended."""
        return self._table.figures

    @property
    def ready(self) -> bool:
        """Whether a process works in every place."""
        return self._table.ready

    @property
    def healthy(self) -> bool:
        """Whether all processes have reported of late, and not every one has fallen."""
        return self._table.healthy

    @property
    def at_work(self) -> Sequence[WorkerProcess]:
        """Processes that work and were not told to end, the eldest first."""
        return self._table.at_work

    async def run(self) -> ExitCode:
        """Keep them running until told to stop; what the program should end with.

        SIGTERM and SIGINT drain, a second one ends everything at once; SIGHUP replaces one process after another.

        Raises:
            CannotStart: The first process could not begin: no such application, no permission, and so on.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        loop.add_signal_handler(signal.SIGHUP, self._reloading.tell)
        try:
            return await self.keep()
        finally:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                loop.remove_signal_handler(number)

    async def keep(self) -> ExitCode:
        """The same without an ear for signals, for who has a use of its own for them.

        Raises:
            CannotStart: The first process could not begin.
        """
        helpers = [asyncio.create_task(work) for work in self._helpers()]
        try:
            async with asyncio.TaskGroup() as self._tasks:
                # A reload under way sees to it that nobody whom it started is forgotten.
                self._tasks.create_task(self._reloading.run())
                for place in self._table.places:
                    self._tasks.create_task(self._keep(place))
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.gather(*helpers, return_exceptions=True)
        if self._failure is not None:
            raise CannotStart(self._failure)
        if self._hopeless:
            return ExitCode.FAILED
        return ExitCode.INTERRUPTED if self._forced.is_set() else ExitCode.DONE

    def stop(self) -> None:
        """Drain all processes and end; told again, end at once."""
        if self._table.ending.is_set():
            self._forced.set()
            return
        self._log.info("draining", grace_seconds=self._table.spec.worker.grace.total_seconds())
        self._begin_end()

    async def resize(self, workers: int) -> None:
        """Have another number of processes; who is not needed is drained, the idle before the busy."""
        places = self._table.places
        if len(places) > workers:
            await self._table.ask_all()
        if self._table.ending.is_set() or self._tasks is None:
            return
        while len(places) > workers:
            self._close(min(reversed(places), key=lambda place: place.rank))
        while len(places) < workers:
            place = Place()
            places.append(place)
            self._tasks.create_task(self._keep(place))

    def _close(self, place: Place) -> None:
        """Do without a place: whoever is there finishes what it has begun."""
        self._table.places.remove(place)
        self._table.closing.append(place)
        place.closing = True
        place.hurry.set()
        assert self._tasks is not None  # noqa: S101 - only while it runs
        for process in (place.current, place.successor):
            if process is not None:
                self._tasks.create_task(self._table.see_off(process))

    def _helpers(self) -> Iterable[Any]:
        yield self._end()
        if self._follows:
            yield PoolSync(
                self._table.spec.worker.pool,
                size=lambda: self._table.size,
                resize=self.resize,
                connection=self._table.find_connection,
                unless_told=self._unless_told,
            ).run()
        yield end_stalled(self._table)
        yield tell_systemd(self._table)
        if os.getpid() == 1:
            yield reap(self._table)

    def _begin_end(self) -> None:
        self._table.ending.set()
        self._reloading.tell()
        for place in (*self._table.places, *self._table.closing):
            place.hurry.set()

    async def _end(self) -> None:
        """Once told to stop: drain, then end what has not drained in time, or at once where told again."""
        await self._table.ending.wait()
        notify("STOPPING=1")
        self._table.drain()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace_of(self._table.spec).total_seconds()):
                await self._forced.wait()
        self._table.kill()

    async def _keep(self, place: Place) -> None:
        """Have a process in a place, for as long as there is to be one."""
        while place.successor is not None or not (self._table.ending.is_set() or place.closing):
            process = place.current = await self._next(place)
            if process is None:
                await self._pause(place, self._fallen(place))
                continue
            code = await process.wait()
            self._table.retire(process)
            place.current = None
            if not process.told and not self._table.ending.is_set():
                await self._after(place, process, code)
        if place.closing:
            self._table.closing.remove(place)

    async def _next(self, place: Place) -> WorkerProcess | None:
        """Who is to be there: the successor where there is one, else a fresh one; none where none can be started."""
        process = None if place.successor is not None else await self._table.start(place)
        if process is None:
            process, place.successor = place.successor, None
        return process

    async def _after(self, place: Place, process: WorkerProcess, code: int) -> None:
        """A process ended that was not told to."""
        failure, recycled = process.report.failure, process.report.recycled
        if failure is not None and not self._table.was_ready and not process.ready.is_set():
            self._failure = self._failure or failure
            self._begin_end()
            return
        idle = not any(one.handled for one in process.report.figures)
        if recycled is not None and code == 0 and not idle:
            self._log.info("worker recycled", pid=process.pid, reason=recycled.value)
            place.falls = 0
            return
        if process.lived > restart_policy.STEADY:
            place.falls = 0
        pause = self._fallen(place)
        if recycled is not None and code == 0:
            how = f"recycled before it did anything: {recycled.value}"
        else:
            how = failure.message if failure else restart_policy.code_in_words(code)
        self._log.error(
            "worker fell",
            pid=process.pid,
            how=how,
            worker_id=process.report.worker_id,
            restart_in_seconds=pause,
        )
        await self._pause(place, pause)

    def _fallen(self, place: Place) -> float:
        """Count a fall; how long to pause after it."""
        place.falls += 1
        return restart_policy.PAUSES.pause(place.falls)

    async def _pause(self, place: Place, seconds: float) -> None:
        """Wait before a process is started anew, unless there is no sense in it, or another is there already."""
        places = self._table.places
        if places and all(each.falls >= restart_policy.HOPELESS for each in places):
            self._log.error("every worker keeps falling", falls=restart_policy.HOPELESS)
            self._hopeless = True
            self._begin_end()
        if place.successor is None and not (self._table.ending.is_set() or place.closing):
            place.hurry.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await place.hurry.wait()
