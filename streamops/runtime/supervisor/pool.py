"""How many workers a supervisor runs that does as its pool is told: its share of what the pool is to have."""

import asyncio
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog

from streamops.errors import Refused, StreamopsError
from streamops.model.entries import EPOCH
from streamops.model.pools import PoolSupervisor
from streamops.wire.options import ConnectionOptions
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
    """Asks the pool again and again, and has the supervisor follow.

    Args:
        pool: The pool.
        size: How many worker processes there are wanted, there are, and work.
        resize: Has the supervisor run another number.
        connection: Which server to ask; waits until that is known.
        unless_told: How many to run if the pool was never given a number.
    """

    def __init__(
        self,
        pool: str,
        *,
        size: Callable[[], tuple[int, int, int]],
        resize: Callable[[int], Awaitable[None]],
        connection: Callable[[], Awaitable[ConnectionOptions]],
        unless_told: int,
    ) -> None:
        self._pool = pool
        self._size = size
        self._resize = resize
        self._connection = connection
        self._unless_told = unless_told
        self._host, self._pid = socket.gethostname(), os.getpid()
        self._id = f"{self._host}-{self._pid}-{secrets.token_hex(3)}"
        self._trouble = ""
        self._begun = False
        self._log = structlog.get_logger("streamops")

    async def run(self) -> None:
        """Follow until cancelled, and say goodbye then."""
        server = Server(await self._connection())
        listed = False
        try:
            while True:
                try:
                    if not listed:
                        await self._list(server)
                        listed = True
                    await self._turn(server)
                    self._warn_once("")
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

    async def _turn(self, server: Server) -> None:
        aim, alive, ready = self._size()
        # A supervisor that has only just begun is not to be taken for one that wants no workers.
        told = aim if self._begun else self._unless_told
        me = PoolSupervisor(
            id=self._id, at=EPOCH, host=self._host, pid=self._pid, aim=told, alive=alive, ready=ready
        )
        shift = await register_supervisor(server, self._pool, me)
        if shift.desired is None:
            wanted = self._unless_told
        else:
            wanted = share(shift.desired, [one.id for one in shift.supervisors], self._id)
        self._begun = True
        if wanted != aim:
            self._log.info(
                "workers ordered",
                pool=self._pool,
                workers=wanted,
                before=aim,
                pool_workers=shift.desired,
                supervisors=len(shift.supervisors),
            )
            await self._resize(wanted)

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
