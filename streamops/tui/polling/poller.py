"""The one task that asks the server again and again. It is no widget: it only posts messages."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from time import monotonic
from typing import Final

from textual.message import Message

from streamops.errors import StreamopsError
from streamops.model.observation import Observation
from streamops.tui.polling.app_state import Loss, PollPace, pace, retry_delay
from streamops.tui.source import Source

SOON: Final = timedelta(milliseconds=100)


class Connected(Message):
    """The first connection of a context stands.

    Attributes:
        context: The context's name.
        source: Where pages can be read from now on.
    """

    def __init__(self, context: str, source: Source) -> None:
        super().__init__()
        self.context = context
        self.source = source


class Observed(Message):
    """A new observation.

    Attributes:
        context: The context's name.
        observation: The observation.
        arrived: When it was complete, on this machine's monotonic clock.
        pace: When the next one is due.
    """

    def __init__(self, context: str, observation: Observation, arrived: float, pace: PollPace) -> None:
        super().__init__()
        self.context = context
        self.arrived = arrived
        self.observation = observation
        self.pace = pace


class PollFailed(Message):
    """The server could not be asked.

    Attributes:
        context: The context's name.
        loss: Why, and when it is tried again.
        error: The failure itself.
    """

    def __init__(self, context: str, loss: Loss, error: StreamopsError) -> None:
        super().__init__()
        self.context = context
        self.loss = loss
        self.error = error


class Poller:
    """Connects to a context, observes it at its pace, and tries again when it is lost.

    Args:
        context: The context's name.
        open_source: Connects to a context; raises ``StreamopsError``.
        deliver: Takes the messages.
        every: The interval a person chose; none for only on demand.
    """

    def __init__(
        self,
        context: str,
        open_source: Callable[[str], Awaitable[Source]],
        deliver: Callable[[Message], object],
        every: timedelta | None,
    ) -> None:
        self._context = context
        self._open_source = open_source
        self._deliver = deliver
        self._every = every
        self._focused = True
        self._cost = timedelta(0)
        self._wake = asyncio.Event()

    @property
    def pace(self) -> PollPace:
        """The pace now."""
        return pace(self._every, self._cost, focused=self._focused)

    def choose(self, every: timedelta | None) -> PollPace:
        """Take another interval from the next wait on; return the pace that follows from it."""
        self._every = every
        self._wake.set()
        return self.pace

    def focus(self, *, focused: bool) -> PollPace:
        """Relax while nobody looks; poll at once when somebody looks again."""
        self._focused = focused
        if focused:
            self._wake.set()
        return self.pace

    def poll_now(self) -> None:
        """Poll without waiting for the interval, or for the next retry."""
        self._wake.set()

    async def run(self) -> None:
        """Run until cancelled; closes the source it opened."""
        source = await self._connect()
        try:
            source.start_discovery()
            self._deliver(Connected(self._context, source))
            await self._observe_forever(source)
        finally:
            await source.close()

    async def _connect(self) -> Source:
        failures = 0
        while True:
            try:
                return await self._open_source(self._context)
            except StreamopsError as error:
                failures += 1
                await self._wait_after(error, failures)

    async def _observe_forever(self, source: Source) -> None:
        failures = 0
        while True:
            self._wake.clear()
            started = monotonic()
            try:
                observation = await source.observe()
            except StreamopsError as error:
                failures += 1
                await self._wait_after(error, failures)
                continue
            failures = 0
            arrived = monotonic()
            self._cost = timedelta(seconds=arrived - started)
            self._deliver(Observed(self._context, observation, arrived, self.pace))
            await self._wait(SOON if _is_only_beginning(observation) else self.pace.interval)

    async def _wait_after(self, error: StreamopsError, failures: int) -> None:
        delay = retry_delay(failures)
        loss = Loss(error.message, error.hint, monotonic() + delay.total_seconds())
        self._deliver(PollFailed(self._context, loss, error))
        self._wake.clear()
        await self._wait(delay)

    async def _wait(self, delay: timedelta | None) -> None:
        """Wait for a delay, or until woken; forever if there is no delay."""
        try:
            async with asyncio.timeout(None if delay is None else delay.total_seconds()):
                await self._wake.wait()
        except TimeoutError:
            return


def _is_only_beginning(observation: Observation) -> bool:
    """Whether the scan for streams has found none yet: the first one should not wait for an interval."""
    snapshot = observation.snapshot
    return not snapshot.streams and not snapshot.discovery_complete
