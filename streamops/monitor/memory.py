"""How much memory streams take, measured a few at a time: the server walks over part of each."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from streamops.wire.beside import read_memory
from streamops.wire.faults import Fault
from streamops.wire.server import Server

AT_ONCE: Final = 8
"""Streams measured by one request."""

SHARE: Final = 0.05
"""Share of the time that measuring may keep the server busy; what the network takes counts as well."""

PAUSE: Final = 0.05
"""Seconds between two requests at least."""

REST: Final = 15.0
"""Seconds between two passes."""


class MemoryLane:
    """Measures streams again and again.

    Attributes:
        sizes: Bytes by stream, of those measured so far that are still there.
        denied: Why the last pass was given up: the user may not measure; empty where it was not.
    """

    def __init__(self, server: Server, names: Callable[[], Sequence[str]]) -> None:
        self._server = server
        self._names = names
        self.sizes: Mapping[str, int] = {}
        self.denied = ""

    async def measure(self) -> None:
        """One pass over all streams.

        Raises:
            ServerError: No node answers.
        """
        names = self._names()
        known = set(names)
        self.sizes = {name: size for name, size in self.sizes.items() if name in known}
        # Permissions change.
        self.denied = ""
        for at in range(0, len(names), AT_ONCE):
            started = time.monotonic()
            await self._measure(names[at : at + AT_ONCE])
            if self.denied:
                return
            await asyncio.sleep(max(PAUSE, (time.monotonic() - started) * (1 / SHARE - 1)))

    async def _measure(self, names: Sequence[str]) -> None:
        sizes = dict(self.sizes)
        for name, size in zip(names, await read_memory(self._server, names), strict=True):
            if isinstance(size, Fault):
                # A key that is denied, or on its way to another node, says nothing of the others.
                self.denied = size.reason if size.denies_command else self.denied
            elif size is None:
                sizes.pop(name, None)
            else:
                sizes[name] = size
        self.sizes = {} if self.denied else sizes
