"""Moves delayed messages once they are due: a part of every worker, without a leader.

Workers do not agree on anything: the script that moves a message takes it off its queue, so that who comes second
finds nothing. Each sleeps until the next message is due, a second at most, and is woken where an earlier one is
published.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from streamops.model.ids import EPOCH
from streamops.model.server import Mode
from streamops.runtime.events import Event
from streamops.runtime.queue_promoter import LONGEST_SLEEP, QueuePromoter
from streamops.wire.keys import NO_CONFIGURATION, dead_letter_key, delayed_key, same_slot
from streamops.wire.notices import listen
from streamops.wire.server import Server

LOOK: Final = 1.0
"""Seconds after which it is asked again which streams there are."""


class Promoter:
    """Moves the due messages of a worker's streams."""

    def __init__(
        self,
        server: Server,
        streams: Callable[[], Iterable[str]],
        on_event: Callable[[Event], None],
        *,
        queues: Mapping[str, str] = NO_CONFIGURATION,
        dead_letters: Mapping[str, str] = NO_CONFIGURATION,
        look: float = LOOK,
        longest_sleep: float = LONGEST_SLEEP,
    ) -> None:
        """Nothing is asked of the server yet.

        Args:
            server: Where; it may be busy with other things.
            streams: The streams whose delayed messages to move; asked again every second.
            on_event: Told what happened.
            queues: The queues of streams where these are not the ones beside them.
            dead_letters: The same of dead-letter queues.
            look: Seconds after which it is asked again which streams there are.
            longest_sleep: Seconds that a queue is left alone where no notice comes.
        """
        self._server = server
        self._streams = streams
        self._emit = on_event
        self._named = queues
        self._dead_letters = dead_letters
        self._look = look
        self._longest_sleep = longest_sleep
        self._queues: dict[str, tuple[QueuePromoter, asyncio.Task[None]]] = {}

    async def run(self) -> None:
        """Move what is due, until cancelled; a server that is away is waited for."""
        async with asyncio.TaskGroup() as tasks:
            listening: asyncio.Task[None] | None = None
            try:
                while True:
                    if self._arrange(tasks):
                        if listening is not None:
                            listening.cancel()
                        listening = tasks.create_task(
                            listen(self._server.options, [*self._queues], self._heard)
                        )
                    await asyncio.sleep(self._look)
            finally:
                for _, task in self._queues.values():
                    task.cancel()
                if listening is not None:
                    listening.cancel()

    def wake(self, stream: str, due: datetime | None = None) -> None:
        """A message was just delayed until ``due``: see to it that nobody sleeps longer; without a time, look now."""
        self._wake(
            delayed_key(stream, self._named),
            None if due is None else (due - EPOCH) / timedelta(milliseconds=1),
        )

    def _arrange(self, tasks: asyncio.TaskGroup) -> bool:
        """Start and stop so that each queue wanted has its pump; whether that took anything."""
        wanted = {delayed_key(stream, self._named): stream for stream in self._streams()}
        wanted = {queue: stream for queue, stream in wanted.items() if self._can_be(queue, stream)}
        for queue in self._queues.keys() - wanted.keys():
            self._queues.pop(queue)[1].cancel()
        new = wanted.keys() - self._queues.keys()
        for queue in new:
            stream = wanted[queue]
            letters = dead_letter_key(stream, self._dead_letters)
            one = QueuePromoter(
                self._server, stream, queue, letters, self._emit, longest_sleep=self._longest_sleep
            )
            self._queues[queue] = one, tasks.create_task(one.run())
        return bool(new)

    def _can_be(self, queue: str, stream: str) -> bool:
        """Whether there can be such a queue; on a cluster the names of a few streams allow none."""
        letters = dead_letter_key(stream, self._dead_letters)
        return self._server.options.mode is not Mode.CLUSTER or same_slot(stream, queue, letters)

    def _heard(self, channel: str, text: bytes | None) -> None:
        self._wake(channel, float(text) if text is not None and text.isdigit() else None)

    def _wake(self, key: str, due_ms: float | None) -> None:
        if key in self._queues:
            self._queues[key][0].wake(due_ms)
