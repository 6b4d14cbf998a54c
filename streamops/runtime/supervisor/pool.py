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
from streamops.wire.options import ConnectionOptions
from streamops.wire.pools.records import list_pool
from streamops.wire.pools.registry import register_supervisor, unregister_supervisor
from streamops.wire.server import Server

EVERY: Final = 1.0
"""Seconds between two registrations."""
SOON: Final = 0.05
MOST: Final = 1024
"""Workers that one supervisor runs at most, whatever the pool's desired count."""


def share(desired: int, supervisors: Sequence[str], mine: str) -> int:
    """One supervisor's part of a pool's workers: an equal part, and the first few by ID one more.

    Args:
        desired: The pool's desired count.
        supervisors: The IDs of all its supervisors, this one's included.
        mine: This supervisor's ID.
    """
    each, left = divmod(desired, len(supervisors))
    return min(MOST, each + (sorted(supervisors).index(mine) < left))


class PoolSync:
    """Registers a supervisor with its pool every second, and yields how many processes it should run.

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
        """The number of processes to run, each time that it changes.

        The registration is removed when this is closed, or when a reload names another server.
        """
        while (connection := self._processes.connection) is None:  # noqa: ASYNC110 - a worker process reports it
            await asyncio.sleep(SOON)
        while True:
            server = Server(connection)
            try:
                async for size in self._sizes_on(server, connection):
                    yield size
            finally:
                await self._leave(server)
            connection = self._processes.connection or connection

    async def _sizes_on(self, server: Server, connection: ConnectionOptions) -> AsyncGenerator[int]:
        """The same on one server, for as long as the workers use that one."""
        listed = False
        while self._processes.connection in (connection, None):
            try:
                if not listed:
                    await self._list(server)
                    listed = True
                size = await self._register(server)
                self._warn_once("")
                if size != self._processes.size[0]:
                    yield size
            except StreamopsError as error:
                # The processes go on; the next round asks again.
                self._warn_once(error.message)
            await asyncio.sleep(EVERY)

    async def _list(self, server: Server) -> None:
        """Add the pool to the list of pools; without that permission, it is found by its heartbeats all the same."""
        try:
            await list_pool(server, self._pool, "supervisors")
        except Refused as error:
            self._log.info("pool not listed", pool=self._pool, reason=error.message)

    async def _register(self, server: Server) -> int:
        """Register the supervisor with what it runs; how many processes it should run."""
        current, alive, ready = self._processes.size
        # A supervisor that has only just started is not to be taken for one that wants no workers.
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
                "pool scaled",
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
            # The registration expires.
            pass
        finally:
            await server.close()

    def _warn_once(self, trouble: str) -> None:
        if trouble and trouble != self._trouble:
            self._log.warning(
                "pool cannot be read; the number of workers stays", pool=self._pool, why=trouble
            )
        elif self._trouble and not trouble:
            self._log.info("pool can be read again", pool=self._pool)
        self._trouble = trouble
