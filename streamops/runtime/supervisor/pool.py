"""How many workers a supervisor runs for its pool: its share of the pool's desired count."""

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncGenerator, Sequence
from typing import Final

import structlog

from streamops.errors import Refused, StreamopsError
from streamops.model.entries import EPOCH
from streamops.model.pools import PoolSupervisor
from streamops.runtime.supervisor.process import ProcessTable
from streamops.wire.pools.records import list_pool
from streamops.wire.pools.registry import register_supervisor, unregister_supervisor
from streamops.wire.server import Server

EVERY: Final = 1.0
"""Seconds between two questions."""
MOST: Final = 1024
"""Workers that one supervisor runs at most, whatever it is told."""


def share(desired: int, supervisors: Sequence[str], mine: str) -> int:
    """The workers that are one supervisor's part: as many as any other's, and one of what is left, by its rank.

    Args:
        desired: How many the pool is to have.
        supervisors: The IDs of all, that one included.
        mine: Its ID.
    """
    each, left = divmod(desired, len(supervisors))
    return min(MOST, each + (sorted(supervisors).index(mine) < left))


class PoolSync:
    """Registers a supervisor with its pool every second, and says how many processes it should run.

    Args:
        processes: The supervisor's processes.
        default: Processes to run while the pool has no desired count.
    """

    def __init__(self, processes: ProcessTable, default: int) -> None:
        self._processes = processes
        self._pool = processes.spec.worker.pool
        self._default = default
        self._host, self._pid = socket.gethostname(), os.getpid()
        self._id = f"{self._host}-{self._pid}-{secrets.token_hex(3)}"
        self._trouble = ""
        self._begun = False
        self._log = structlog.get_logger("streamops")

    async def sizes(self) -> AsyncGenerator[int]:
        """The number of processes to run, each time that it changes; the registration is removed when this is closed."""
        server = Server(await self._processes.find_connection())
        listed = False
        try:
            while True:
                try:
                    if not listed:
                        await self._list(server)
                        listed = True
                    size = await self._register(server)
                    self._warn_once("")
                    if size != self._processes.size[0]:
                        yield size
                except StreamopsError as error:
                    # The workers there are go on; the pool is asked again.
                    self._warn_once(error.message)
                await asyncio.sleep(EVERY)
        finally:
            await self._leave(server)

    async def _list(self, server: Server) -> None:
        """Have the pool stand in the list of pools; who may not write that is found by its heartbeats all the same."""
        try:
            await list_pool(server, self._pool, "supervisors")
        except Refused as error:
            self._log.info("pool not listed", pool=self._pool, reason=error.message)

    async def _register(self, server: Server) -> int:
        """Register what the supervisor runs; how many processes it should run."""
        current, alive, ready = self._processes.size
        # A supervisor that has only just begun is not to be taken for one that wants no workers.
        aim = current if self._begun else self._default
        me = PoolSupervisor(
            id=self._id, at=EPOCH, host=self._host, pid=self._pid, aim=aim, alive=alive, ready=ready
        )
        shift = await register_supervisor(server, self._pool, me)
        if shift.desired is None:
            size = self._default
        else:
            size = share(shift.desired, [one.id for one in shift.supervisors], self._id)
        self._begun = True
        if size != current:
            self._log.info(
                "workers ordered",
                pool=self._pool,
                workers=size,
                before=current,
                pool_workers=shift.desired,
                supervisors=len(shift.supervisors),
            )
        return size

    async def _leave(self, server: Server) -> None:
        try:
            async with asyncio.timeout(1):
                await unregister_supervisor(server, self._pool, self._id)
        except (StreamopsError, TimeoutError):
            # Its silence will say the same.
            pass
        finally:
            await server.close()

    def _warn_once(self, trouble: str) -> None:
        if trouble and trouble != self._trouble:
            self._log.warning("pool cannot be asked; the workers go on", pool=self._pool, why=trouble)
        elif self._trouble and not trouble:
            self._log.info("pool answers again", pool=self._pool)
        self._trouble = trouble
