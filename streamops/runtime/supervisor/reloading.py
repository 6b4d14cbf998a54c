"""Replacing worker processes one after another: each goes once its successor works."""

import asyncio
from typing import Final

import structlog

from streamops.runtime.supervisor.place import Place
from streamops.runtime.supervisor.process import WorkerProcess
from streamops.runtime.supervisor.process_table import ProcessTable
from streamops.runtime.supervisor.systemd import notify, reloading

READY_IN: Final = 60.0


class Reloading:
    """Replaces all processes whenever it is told to.

    Args:
        staff: The processes.
    """

    def __init__(self, staff: ProcessTable) -> None:
        self._table = staff
        self._told = asyncio.Event()
        self._log = structlog.get_logger("streamops")

    def tell(self) -> None:
        """Have them replaced; or notice that all are to end."""
        self._told.set()

    async def run(self) -> None:
        """Replace them whenever told to, until all are to end."""
        while not self._table.ending.is_set():
            await self._told.wait()
            self._told.clear()
            if not self._table.ending.is_set():
                await self._replace_all()

    async def _replace_all(self) -> None:
        """Replace one process after another."""
        reloading()
        for place in tuple(self._table.places):
            if not place.closing and not await self._replace(place):
                self._log.error("reload given up; the workers that run go on")
                break
        else:
            self._log.info("reloaded", workers=len(self._table.places))
        if not self._table.ending.is_set():
            notify("READY=1")

    async def _replace(self, place: Place) -> bool:
        """Start a successor, and drain who is there once that works; whether it does."""
        if self._table.ending.is_set() or (successor := await self._table.start(place)) is None:
            return False
        place.successor = successor
        place.hurry.set()
        works = await successor.begins(READY_IN)
        if self._table.ending.is_set():
            # All were told, and whoever is in its place is waited for there.
            return False
        if not works:
            await self._give_up(place, successor)
            return False
        place.falls = 0
        old = place.current
        if old is not None and old is not successor:
            await self._table.see_off(old)
        return True

    async def _give_up(self, place: Place, successor: WorkerProcess) -> None:
        """End a successor that does not begin to work."""
        failure = successor.report.failure
        why = failure.message if failure else "it is not ready in time"
        self._log.error("successor cannot begin", why=why)
        successor.kill()
        await successor.wait()
        # Where the one before it has ended meanwhile, it is in its place, and that goes on as after any fall.
        if place.successor is successor:
            place.successor = None
            self._table.retire(successor)
