"""Sends notices of findings that appear and clear, each outlet at its own pace, and never in the way of a scrape."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Final

import structlog
from msgspec import Struct

from streamops.exporter.alerts import (
    AlertEvaluator,
    Evaluation,
    Notice,
    Notification,
    Origin,
    evaluate_failing,
    evaluation_of,
    render_message,
)
from streamops.exporter.outlets import NotifySettings, Outlet, open_outlets
from streamops.exporter.page import MetricsPage
from streamops.exporter.scraper import Scraper
from streamops.model.wording import span

LOG: Final = structlog.get_logger("streamops.notify")


class Sending(Struct, frozen=True, kw_only=True):
    """How messages are sent.

    Attributes:
        pause: Time between two messages or attempts; notices that come in between go out together.
        attempt: The longest that one attempt may take.
        most: Notices that wait for one outlet at most; beyond that the oldest are dropped.
        shutdown: How long the last message may take when the exporter stops.
    """

    pause: timedelta = timedelta(minutes=1)
    attempt: timedelta = timedelta(seconds=30)
    most: int = 1_000
    shutdown: timedelta = timedelta(seconds=5)


class _Sender:
    """Sends notices to one outlet, in a thread at a time: one that hangs is left behind, and nothing waits for it."""

    def __init__(self, outlet: Outlet, origin: Origin, sending: Sending, counts: Counter[str]) -> None:
        self._outlet = outlet
        self._origin = origin
        self._sending = sending
        self._counts = counts
        self._waiting: list[Notice] = []
        self._came = asyncio.Event()
        self._ending = asyncio.Event()
        self._in_thread = False

    def offer(self, notices: Iterable[Notice]) -> None:
        """Take notices that this outlet is meant for; never blocks."""
        self._waiting += [one for one in notices if one.peak >= self._outlet.least]
        self._drop(len(self._waiting) - self._sending.most, "too many wait")
        if self._waiting:
            self._came.set()

    def end(self) -> None:
        """Make the next attempt the last, and make it now."""
        self._ending.set()
        self._came.set()

    def abandon(self) -> None:
        """Send nothing more."""
        self._drop(len(self._waiting), "the exporter ends")

    async def run(self) -> None:
        """Send what comes until ``end``."""
        while True:
            await self._came.wait()
            last = self._ending.is_set()
            await self._send_waiting()
            if last:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(self._sending.pause.total_seconds()):
                    await self._ending.wait()

    async def _send_waiting(self) -> None:
        batch, self._waiting = self._waiting, []
        reason = "cut off"
        try:
            reason = await self._attempt(render_message(batch, self._origin)) if batch else ""
        finally:
            if reason:
                self._waiting = batch + self._waiting
        self._counts["failed" if reason else "sent"] += len(batch)
        if reason:
            LOG.warning("notices are not sent yet", to=self._outlet.label, reason=reason)
        if not self._waiting and not self._ending.is_set():
            self._came.clear()

    def _drop(self, number: int, reason: str) -> None:
        if number > 0:
            del self._waiting[:number]
            self._counts["dropped"] += number
            LOG.warning("notices are dropped", to=self._outlet.label, number=number, reason=reason)

    async def _attempt(self, message: Notification) -> str:
        """Send a message; why it did not go out, empty if it did."""
        if self._in_thread:
            return "the attempt before this one has not come to its end"
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._in_thread = True
        # A daemon: a pool's threads would be waited for when the process ends.
        threading.Thread(target=self._send, args=(message, answer), daemon=True).start()
        try:
            async with asyncio.timeout(self._sending.attempt.total_seconds()):
                return await answer
        except TimeoutError:
            return f"no answer within {self._sending.attempt.total_seconds():g} s"

    def _send(self, message: Notification, answer: asyncio.Future[str]) -> None:
        reason = self._outlet.send(message)
        # The loop may have ended by now.
        with suppress(RuntimeError):
            answer.get_loop().call_soon_threadsafe(self._sent, answer, reason)

    def _sent(self, answer: asyncio.Future[str], reason: str) -> None:
        self._in_thread = False
        if not answer.done():
            answer.set_result(reason)


class Notifier:
    """Sends notices of conditions that appear and clear; what it sent is remembered in this process alone.

    Args:
        outlets: Where notices go.
        evaluator: Says what fires and what is resolved.
        origin: Which server they are about.
        every: Time between two looks.
        sending: How messages are sent.
    """

    def __init__(
        self,
        outlets: Iterable[Outlet],
        evaluator: AlertEvaluator,
        origin: Origin,
        every: timedelta,
        sending: Sending,
    ) -> None:
        self.every = every
        self._evaluator = evaluator
        self._sending = sending
        self._counts = Counter(sent=0, failed=0, dropped=0)
        self._senders = [_Sender(outlet, origin, sending, self._counts) for outlet in outlets]

    def counts(self) -> Mapping[str, int]:
        """Notices so far, by outcome, each counted at each outlet."""
        return dict(self._counts)

    async def run(self, look: Callable[[], Awaitable[Evaluation | None]]) -> None:
        """Look again and again, and send what fires and what is resolved, until cancelled; then once more.

        Args:
            look: Looks once; none if there is nothing new.
        """
        tasks = [asyncio.create_task(sender.run()) for sender in self._senders]
        try:
            while True:
                await self._look_once(look)
                await asyncio.sleep(self.every.total_seconds())
        finally:
            for sender in self._senders:
                sender.end()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._sending.shutdown.total_seconds()):
                    await asyncio.gather(*tasks, return_exceptions=True)
            for sender in self._senders:
                sender.abandon()

    async def _look_once(self, look: Callable[[], Awaitable[Evaluation | None]]) -> None:
        try:
            shown = await look()
            if shown is not None:
                notices = self._evaluator.evaluate(shown, timedelta(seconds=time.monotonic()))
                for sender in self._senders:
                    sender.offer(notices)
        except Exception as error:
            # Whatever it is, the next look must come.
            LOG.warning("a bug in streamops", problem=f"{type(error).__name__}: {error}")
            LOG.debug("its traceback", exc_info=True)


class PageWatcher:
    """Looks at the pages of a scraper, and has it collect if no scrape does.

    Args:
        scraper: The target's scraper.
        every: Time between two looks.
    """

    def __init__(self, scraper: Scraper, every: timedelta) -> None:
        self._scraper = scraper
        self._every = every
        self._seen: MetricsPage | None = None

    async def look(self) -> Evaluation | None:
        """What a page shows that was not looked at before; none if there is no such page."""
        page = self._scraper.page
        if page is None or page is self._seen or time.monotonic() - page.begun >= self._every.total_seconds():
            page = await self._scraper.scrape(self._every)
        if page is self._seen:
            return None
        self._seen, observation = page, page.reading.observation
        if observation is not None:
            return evaluation_of(observation)
        reason = self._scraper.problem or f"no answer within {span(self._every)}"
        return evaluate_failing(reason, down=not self._scraper.answered)


def open_notifier(settings: NotifySettings, origin: Origin) -> Notifier:
    """A notifier as the configuration has it; raises ``SettingsError`` if an address cannot be used."""
    table = settings.table
    evaluator = AlertEvaluator(settings.least, table.fire_after, table.resolve_after, table.repeat_after)
    outlets = open_outlets(settings.addresses)
    return Notifier(outlets, evaluator, origin, table.every, Sending(pause=table.pause))
