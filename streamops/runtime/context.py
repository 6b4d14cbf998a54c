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
"""Called with the stream and the number of bodies; gives names and values of reserved fields, in turn, for each."""


class Names(Struct, frozen=True):
    """Keys that are called otherwise than beside their stream.

    Attributes:
        dead_letters: Dead-letter queues, by their streams.
        delayed: Queues of delayed messages, by their streams.
    """

    dead_letters: dict[str, str] = {}
    delayed: dict[str, str] = {}


class ServerClock:
    """The server's clock, as an offset to this machine's monotonic one, and how long the server has heard us.

    Args:
        every: How often the worker beats.

    Attributes:
        steady_since: When the server last heard a heartbeat after it had missed some, on the monotonic clock.
    """

    def __init__(self, every: timedelta) -> None:
        self.steady_since = -inf
        self._every = every.total_seconds()
        self._offset_ms: float | None = None
        self._heard = -inf

    def learn(self, server_ms: float, asked: float, heard: float) -> None:
        """A heartbeat was answered with the server's time; ``asked`` and ``heard`` on the monotonic clock."""
        self._offset_ms = server_ms - (asked + heard) * 500
        if heard - self._heard > 2 * self._every and self._heard > -inf:
            self.steady_since = heard
        self._heard = heard

    def now_ms(self) -> float:
        """Milliseconds since the epoch on the server's clock; this machine's before it was ever asked."""
        if self._offset_ms is None:
            return time.time_ns() / 1e6
        return time.monotonic() * 1000 + self._offset_ms

    def is_steady(self) -> bool:
        """Whether the server has heard all heartbeats of late.

        Where it has not, it or this machine was away, and others may not have been heard either though they live.
        """
        now = time.monotonic()
        return now - self._heard < 2 * self._every and now - self.steady_since > 3 * self._every


class WorkerContext(Struct, frozen=True):
    """What all parts of one worker share.

    Attributes:
        server: Where they work; each stream is read through a connection of its own.
        worker_id: The worker's ID, and its consumers' name.
        interval: How often the worker beats.
        clock: The server's clock, learnt with every heartbeat.
        promoter: What moves delayed messages.
        events: Whom they tell what happens.
        names: Keys that are called otherwise.
        block: How long a read waits for entries.
        around: What is put around each call that publishes, the outermost first.
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
        """Ask until there is an answer; entries of a stream are in flight, and wait for it."""
        while True:
            try:
                return await ask()
            except ServerError as error:
                self.events.emit(Troubled(stream, error))
                await asyncio.sleep(PAUSE)


@contextmanager
def all_around(around: Sequence[Around], stream: str, count: int) -> Iterator[Sequence[bytes]]:
    """Enter what is around a call that publishes; the reserved fields that it gives."""
    with ExitStack() as entered:
        yield [part for one in around for part in entered.enter_context(one(stream, count))]
