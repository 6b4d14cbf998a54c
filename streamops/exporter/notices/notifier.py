"""Telling of what is found: looks in, messages out, and never in the way of a scrape."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Final

import structlog

from streamops.exporter.notices.delivering import Outcome, Queue, Sending
from streamops.exporter.notices.notifying import Batch, Policy, Watching, advance
from streamops.exporter.notices.outlets import Outlet, open_outlets
from streamops.exporter.notices.sighting import Sight
from streamops.exporter.notices.wording import Origin, render_message
from streamops.settings.notify import NotifySettings

LOG: Final = structlog.get_logger("streamops.notify")


class Notifier:
    """Tells of what is found. What was told is remembered in this process alone: a new one may tell it again.

    Args:
        outlets: Where notices go.
        policy: When somebody is told of what.
        origin: Which server they are about.
        every: Time between two looks.
        sending: How messages are sent.
    """

    def __init__(
        self,
        outlets: Iterable[Outlet],
        policy: Policy,
        origin: Origin,
        every: timedelta,
        sending: Sending = Sending(),  # noqa: B008 - frozen
    ) -> None:
        self.every = every
        self._policy = policy
        self._origin = origin
        self._sending = sending
        self._watching = Watching()
        self._tally: Counter[str] = Counter()
        self._queues = [Queue(outlet, sending, self._tally) for outlet in outlets]

    def counts(self) -> Mapping[str, int]:
        """Attempts and messages so far, by outcome."""
        return {outcome.value: self._tally[outcome] for outcome in Outcome}

    async def run(self, read: Callable[[], Awaitable[Sight | None]]) -> None:
        """Look again and again, and send what that makes, until cancelled; then what waits has a moment to go out.

        Args:
            read: Looks once; none where there is nothing new.
        """
        senders = [asyncio.create_task(queue.run()) for queue in self._queues]
        try:
            while True:
                await self._look_once(read)
                await asyncio.sleep(self.every.total_seconds())
        finally:
            await self._end(senders)

    def look(self, sight: Sight, at: timedelta) -> None:
        """Take in what one look showed; sends nothing by itself.

        Args:
            sight: What it showed.
            at: When, on a clock that never goes back.
        """
        self._watching, batch = advance(self._watching, sight, at, self._policy)
        if batch is not None:
            self._offer(batch)

    async def _look_once(self, read: Callable[[], Awaitable[Sight | None]]) -> None:
        try:
            sight = await read()
            if sight is not None:
                self.look(sight, timedelta(seconds=time.monotonic()))
        except Exception as error:
            # Whatever it is, the next look must come.
            LOG.warning("a bug in streamops", problem=f"{type(error).__name__}: {error}")
            LOG.debug("its traceback", exc_info=True)

    def _offer(self, batch: Batch) -> None:
        for queue in self._queues:
            message = render_message(batch, self._origin, queue.outlet.least)
            if message is not None:
                queue.offer(message)

    async def _end(self, senders: list[asyncio.Task[None]]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._sending.farewell.total_seconds()):
                for queue in self._queues:
                    await queue.drained()
        for sender in senders:
            sender.cancel()
        await asyncio.gather(*senders, return_exceptions=True)
        for queue in self._queues:
            queue.abandon()


def open_notifier(settings: NotifySettings, origin: Origin) -> Notifier:
    """A notifier as the configuration has it; raises ``SettingsError`` where an address cannot be used."""
    table = settings.table
    policy = Policy(
        level=settings.least,
        fire_after=table.fire_after,
        resolve_after=table.resolve_after,
        repeat_after=table.repeat_after,
        pause=table.pause,
    )
    return Notifier(open_outlets(settings.addresses), policy, origin, table.every)
