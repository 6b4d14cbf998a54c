"""The application of a drill: each event takes its time, and fails as often as it says."""

import asyncio
import os
from contextlib import suppress
from typing import Final

from streamops.errors import HandlerError, ServerError
from streamops.runtime.app import Streamops
from streamops.runtime.drill import GROUP, KEPT, TAG_VARIABLE, DrillEvent, DrillKeys, renew_for_ever
from streamops.runtime.entry import Entry
from streamops.runtime.retry import Exponential
from streamops.wire.consuming.drilling import note_handled, renew_keys
from streamops.wire.server import Server

MOST_STARTS: Final = 4
KEYS: Final = DrillKeys(os.environ.get(TAG_VARIABLE, ""))

app: Final = Streamops(name="streamops drill")


class Ledger:
    """This process's hand in the ledger, on a connection of its own, beside everything that the runtime keeps.

    It puts off the end of all keys of the drill, and once more when its event loop ends: if the drill is killed,
    workers drain without it, and what they still write must go by itself too.
    """

    def __init__(self) -> None:
        self._server: Server | None = None
        self._keeper: asyncio.Task[None] | None = None

    def open(self) -> Server:
        """The server; from the first call on the keys are looked after."""
        if self._server is None:
            self._server = Server(app.connection)
            self._keeper = asyncio.create_task(self._keep(self._server))
        return self._server

    async def _keep(self, server: Server) -> None:
        try:
            await renew_for_ever(server, KEYS)
        finally:
            with suppress(ServerError):
                await renew_keys(server, KEYS.all, KEPT)
            await server.close()


ledger: Final = Ledger()


@app.handler(
    KEYS.sub.stream,
    group=GROUP,
    start="0",
    retry=Exponential(base=0.1, cap=1.0),
    max_attempts=MOST_STARTS,
    lease=10,
)
async def work(event: DrillEvent, entry: Entry) -> None:
    """Take the event's time, fail if it is to fail, else note it."""
    server = ledger.open()
    await asyncio.sleep(event.work)
    if entry.attempt <= event.fails:
        raise HandlerError(f"event {event.number} is to fail")
    await note_handled(server, KEYS.handled, KEYS.repeated, event.number)
