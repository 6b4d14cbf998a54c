"""The ledger of a drill: which events were handled, written by handlers, beside everything that the runtime keeps."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from streamops.errors import ServerError
from streamops.runtime.bench.place import KEPT, RENEWED
from streamops.wire.consuming.benching import note_handled, renew_keys
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server

HANDLED, REPEATED = "handled", "repeated"
"""The ledger's keys, after the tag: a bit an event, and how often one was noted again."""


class Ledger:
    """One worker process's hand in the ledger, on a connection of its own.

    It puts off the end of all keys of the drill, and once more when its event loop ends: where the drill is killed,
    workers drain without it, and what they still write must go by itself too.

    Args:
        connection: Tells how the server is reached, when it is first needed.
        handled: The key of the bits.
        repeated: The key of the count.
        keys: All keys of the drill.
    """

    def __init__(
        self, connection: Callable[[], ConnectionOptions], handled: str, repeated: str, keys: Sequence[str]
    ) -> None:
        self._connection = connection
        self._handled = handled
        self._repeated = repeated
        self._keys = keys
        self._server: Server | None = None
        self._keeper: asyncio.Task[None] | None = None

    def open(self) -> Server:
        """The server; from the first call on the keys are looked after."""
        if self._server is None:
            self._server = Server(self._connection())
            self._keeper = asyncio.create_task(self._keep(self._server))
        return self._server

    async def note(self, number: int) -> None:
        """Note that an event was handled.

        Raises:
            ServerError: That could not be noted.
        """
        await note_handled(self.open(), self._handled, self._repeated, number)

    async def _keep(self, server: Server) -> None:
        try:
            while True:
                await self._renew(server)
                await asyncio.sleep(RENEWED)
        finally:
            await self._renew(server)
            await server.close()

    async def _renew(self, server: Server) -> None:
        with suppress(ServerError):
            await renew_keys(server, self._keys, KEPT)
