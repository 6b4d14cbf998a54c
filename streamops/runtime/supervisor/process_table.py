"""The worker processes of a supervisor by their places: who there is, starting one, and seeing one off."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import structlog

from streamops.runtime.handler_counts import HandlerCounts, at_rest, total
from streamops.runtime.supervisor.place import Place
from streamops.runtime.supervisor.process import WorkerProcess
from streamops.runtime.supervisor.spec import WorkerSpec, grace_of
from streamops.wire.options import ConnectionOptions

SILENT: Final = 10.0
"""Seconds without a report after which a process is not healthy."""
ANSWER_IN: Final = 0.5
SOON: Final = 0.05


class ProcessTable:
    """All places and whoever is there; iterating gives the processes that have not ended.

    Attributes:
        orders: What each of them is to do.
        places: Where there is to be a process.
        closing: Where nobody is to follow who is there.
        ending: Set once all are told to end.
        starting: How many processes are being started, whose numbers are not known yet.
        was_ready: Whether all places have been at work at once.

    Args:
        orders: What each of them is to do.
        places: How many there are to be.
        environment: Environment variables that they have besides ours.
    """

    def __init__(self, spec: WorkerSpec, places: int, environment: Mapping[str, str] | None = None) -> None:
        self.spec = spec
        self.places = [Place() for _ in range(places)]
        self.closing: list[Place] = []
        self.ending = asyncio.Event()
        self.starting = 0
        self.was_ready = False
        self._environment = environment
        self._retired: tuple[HandlerCounts, ...] = ()
        self._out_of_time = False
        self._log = structlog.get_logger("streamops")

    def __iter__(self) -> Iterator[WorkerProcess]:
        for place in (*self.places, *self.closing):
            for process in (place.current, place.successor):
                if process is not None and not process.exited.is_set():
                    yield process

    @property
    def figures(self) -> tuple[HandlerCounts, ...]:
        """What all processes did, those included that have ended."""
        return total([*self._retired, *(one for process in self for one in process.report.figures)])

    @property
    def ready(self) -> bool:
        """Whether a process works in every place."""
        return all(place.current is not None and place.current.works for place in self.places)

    @property
    def healthy(self) -> bool:
        """Whether all processes have reported of late, and not every one has fallen."""
        processes = list(self)
        return (bool(processes) or not self.places) and all(one.silence <= SILENT for one in processes)

    @property
    def at_work(self) -> Sequence[WorkerProcess]:
        """Processes that work and were not told to end, the eldest first."""
        working = (one for one in self if one.works and not one.told)
        return sorted(working, key=lambda one: one.began)

    @property
    def size(self) -> tuple[int, int, int]:
        """How many processes there are to be, how many there are, and how many of them work."""
        return len(self.places), len(list(self)), len(self.at_work)

    async def ask_all(self) -> None:
        """Hear from all who is busy now; who does not answer at once has no time for it."""
        asking = [asyncio.create_task(process.asked()) for process in self]
        if asking:
            _, silent = await asyncio.wait(asking, timeout=ANSWER_IN)
            for task in silent:
                task.cancel()

    async def start(self, place: Place) -> WorkerProcess | None:
        """Start a process for a place; none where the system starts none."""
        self.starting += 1
        try:
            process = await WorkerProcess.start(self.spec, self._environment)
        except OSError as error:
            self._log.error("worker cannot be started", why=str(error))
            return None
        finally:
            self.starting -= 1
        if self._out_of_time:
            process.kill()
        elif self.ending.is_set() or place.closing:
            # It was being started when the others were told.
            process.drain()
        return process

    async def find_connection(self) -> ConnectionOptions:
        """The server that is named on the command line, or the one that a worker says its application names."""
        while self.spec.connection is None:
            for process in self:
                if process.connection is not None:
                    return process.connection
            await asyncio.sleep(SOON)
        return self.spec.connection

    def retire(self, process: WorkerProcess) -> None:
        """Keep what a process counted that has ended, so that no counter falls."""
        self._retired = total([*self._retired, *at_rest(process.report.figures)])

    async def see_off(self, old: WorkerProcess) -> None:
        """Have a process drained, and ended where it takes too long."""
        old.drain()
        try:
            async with asyncio.timeout(grace_of(self.spec).total_seconds()):
                await old.wait()
        except TimeoutError:
            self._end_by_force(old)
            await old.wait()

    def drain(self) -> None:
        """Tell all to finish what they have begun, and end."""
        for process in self:
            process.drain()

    def kill(self) -> None:
        """End all at once, and whoever is being started."""
        self._out_of_time = True
        for process in self:
            self._end_by_force(process)

    def _end_by_force(self, process: WorkerProcess) -> None:
        self._log.warning("worker ended by force", pid=process.pid, worker_id=process.report.worker_id)
        process.kill()
