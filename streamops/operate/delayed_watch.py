"""The delayed queues of watched streams, counted at every collection for little."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from streamops.model.delayed import DelayedQueue
from streamops.model.snapshot import Gap
from streamops.operate.delayed import DelayedReader

REST: Final = 15.0
"""Seconds after which queues that were empty are looked at again."""


class DelayedWatch:
    """Counts the queues of streams; between two looks at all, those alone that held anything."""

    def __init__(self, reader: DelayedReader, wants: Callable[[str], bool]) -> None:
        """Nothing is asked of the server yet.

        Args:
            reader: Reads them.
            wants: Whether a stream is to be looked at: those that the configuration maps need not be.
        """
        self._reader = reader
        self._wants = wants
        self._streams: Sequence[str] = ()
        self._filled: Sequence[str] = ()
        self._again_at = 0.0

    async def read(self, streams: Sequence[str]) -> tuple[tuple[DelayedQueue, ...], tuple[Gap, ...]]:
        """The queues that hold anything, and those that cannot be read; a user who may not see one misses nothing.

        Raises:
            ServerError: No node answers.
        """
        now = time.monotonic()
        if streams != self._streams or now >= self._again_at:
            self._streams, self._filled, self._again_at = streams, streams, now + REST
        found = await self._reader.queues(self._filled)
        queues = tuple(queue for queue in found.queues if self._wants(queue.stream))
        unread = {gap.stream: gap.reason for gap in found.gaps if gap.stream is not None and not gap.denied}
        self._filled = [*(queue.stream for queue in queues), *unread]
        gaps = (
            Gap(reason, name, part="delayed messages") for name, reason in unread.items() if self._wants(name)
        )
        return queues, tuple(gaps)
