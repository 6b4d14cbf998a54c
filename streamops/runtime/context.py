"""What all parts of one worker share."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import timedelta
from math import inf
from typing import Final, TypeVar

from msgspec import Struct

from streamops.errors import ServerError
from streamops.runtime.events import Events, Troubled
from streamops.runtime.promoter import Promoter
from streamops.wire.server import Server

PAUSE: Final = 0.2
Answer = TypeVar("Answer")
Around = Callable[[str, int], AbstractContextManager[Sequence[bytes]]]
"""Called with a stream and the number of bodies published to it; gives names and values in turn of fields to add to each."""


class Names(Struct, frozen=True):
    """Configured names of keys that otherwise are derived from their stream's.

    Attributes:
        dead_letters: Dead-letter queues, by their streams.
        delayed: Queues of delayed messages, by their streams.
    """

    dead_letters: dict[str, str] = {}
    delayed: dict[str, str] = {}


class ServerClock:
    """The server's clock, as an offset to the monotonic clock, and how long heartbeats have reached the server.

    Args:
        every: Time between heartbeats.

    Attributes:
        steady_since: When a heartbeat last reached the server after some had not, on the monotonic clock.
    """

    def __init__(self, every: timedelta) -> None:
        self.steady_since = -inf
        self._every = every.total_seconds()
        self._offset_ms: float | None = None
        self._heard = -inf

    def learn(self, server_ms: float, asked: float, heard: float) -> None:
        """Set the clock by a heartbeat's reply; ``asked`` and ``heard`` on the monotonic clock."""
        self._offset_ms = server_ms - (asked + heard) * 500
        if heard - self._heard > 2 * self._every and self._heard > -inf:
            self.steady_since = heard
        self._heard = heard

    def now_ms(self) -> float:
        """Milliseconds since the epoch on the server's clock; on this machine's before the first heartbeat."""
        if self._offset_ms is None:
            return time.time_ns() / 1e6
        return time.monotonic() * 1000 + self._offset_ms

    def is_steady(self) -> bool:
        """Whether all recent heartbeats have reached the server.

        If not, the server or this machine was away: other workers may live though their heartbeats have expired.
        """
        now = time.monotonic()
        return now - self._heard < 2 * self._every and now - self.steady_since > 3 * self._every


class WorkerContext(Struct, frozen=True):
    """What all parts of one worker share.

    Attributes:
        server: The server; each stream is read through a separate connection.
        worker_id: The worker's ID, which is also its consumers' name.
        interval: Time between heartbeats.
        clock: The server's clock, set by every heartbeat.
        promoter: Moves delayed messages.
        events: Where events are emitted.
        names: Configured names of keys.
        block: How long a read waits for entries.
        around: Context managers around each call that publishes, the outermost first.
    """

    server: Server
    worker_id: str
    interval: timedelta
    clock: ServerClock
    promoter: Promoter
    events: Events
    names: Names = Names()
    block: timedelta = timedelta(seconds=2)
    around: Sequence[Around] = ()

    async def insist(self, stream: str, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Repeat a call until the server answers, for entries in flight that wait for it."""
        while True:
            try:
                return await ask()
            except ServerError as error:
                self.events.emit(Troubled(stream, error))
                await asyncio.sleep(PAUSE)


@contextmanager
def all_around(around: Sequence[Around], stream: str, count: int) -> Iterator[Sequence[bytes]]:
    """Enter all context managers around a call that publishes; the fields that they add."""
    with ExitStack() as entered:
        yield [part for one in around for part in entered.enter_context(one(stream, count))]
