"""Getting messages to their addresses: a queue and a thread at a time for each, off the event loop, bounded and patient."""

import asyncio
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from enum import StrEnum
from typing import Final

import structlog
from msgspec import Struct

from streamops.exporter.notices.outlets import Outlet
from streamops.exporter.notices.wording import Message

LOG: Final = structlog.get_logger("streamops.notify")


class Outcome(StrEnum):
    """What became of an attempt to send a message to one address, or of the message."""

    SENT = "sent"
    FAILED = "failed"
    DROPPED = "dropped"


class Sending(Struct, frozen=True, kw_only=True):
    """How messages are sent.

    Attributes:
        attempt: The longest that one attempt may take.
        first_wait: Time between the first attempt and the second; doubled each time.
        longest_wait: And never longer than this.
        give_up_after: A message that could not be sent for so long is dropped.
        most: Messages that wait for one address at most; beyond that the oldest is dropped.
        farewell: How long what waits may still be sent when the exporter stops.
    """

    attempt: timedelta = timedelta(seconds=30)
    first_wait: timedelta = timedelta(seconds=5)
    longest_wait: timedelta = timedelta(minutes=5)
    give_up_after: timedelta = timedelta(hours=1)
    most: int = 100
    farewell: timedelta = timedelta(seconds=5)


class Queue:
    """What waits for one address.

    Args:
        outlet: The address.
        sending: How messages are sent.
        tally: Where outcomes are counted.
    """

    def __init__(self, outlet: Outlet, sending: Sending, tally: Counter[str]) -> None:
        self.outlet = outlet
        self._sending = sending
        self._tally = tally
        self._messages: deque[Message] = deque()
        self._came = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._courier = Courier(outlet, sending.attempt)

    def offer(self, message: Message) -> None:
        """Let a message wait to be sent; never blocks."""
        if len(self._messages) >= self._sending.most:
            self._messages.popleft()
            self._drop(1, "too many wait")
        self._messages.append(message)
        self._empty.clear()
        self._came.set()

    async def drained(self) -> None:
        """Wait until nothing waits."""
        await self._empty.wait()

    def abandon(self) -> None:
        """Send nothing of what waits."""
        if self._messages:
            self._drop(len(self._messages), "the exporter ends")
            self._messages.clear()

    async def run(self) -> None:
        """Send what comes, in its order, until cancelled."""
        while True:
            await self._came.wait()
            while self._messages:
                message = self._messages[0]
                sent = await self._deliver(message)
                # Meanwhile it may have been dropped, for newer ones.
                if self._messages and self._messages[0] is message:
                    self._messages.popleft()
                    if not sent:
                        self._drop(1, "given up")
            self._came.clear()
            self._empty.set()

    async def _deliver(self, message: Message) -> bool:
        """Try until it is sent; false where that took too long, or newer ones pushed it out."""
        began, wait = time.monotonic(), self._sending.first_wait
        while self._messages and self._messages[0] is message:
            reason = await self._courier.send(message)
            if not reason:
                self._tally[Outcome.SENT] += 1
                return True
            self._tally[Outcome.FAILED] += 1
            left = self._sending.give_up_after.total_seconds() - (time.monotonic() - began)
            if left <= wait.total_seconds():
                LOG.warning("a notice is not sent", to=self.outlet.label, reason=reason)
                return False
            LOG.warning(
                "a notice is not sent yet",
                to=self.outlet.label,
                reason=reason,
                again_in_seconds=wait.total_seconds(),
            )
            await asyncio.sleep(wait.total_seconds())
            wait = min(wait * 2, self._sending.longest_wait)
        return False

    def _drop(self, number: int, reason: str) -> None:
        self._tally[Outcome.DROPPED] += number
        LOG.warning("notices are dropped", to=self.outlet.label, number=number, reason=reason)


class Courier:
    """Sends to one address in a thread at a time. A thread that hangs is left behind, and nothing waits for it.

    Args:
        outlet: The address.
        attempt: The longest that one attempt may take.
    """

    def __init__(self, outlet: Outlet, attempt: timedelta) -> None:
        self._outlet = outlet
        self._attempt = attempt
        self._under_way = False

    async def send(self, message: Message) -> str:
        """Send a message; why it did not go out, empty where it did."""
        if self._under_way:
            return "the attempt before this one has not come to its end"
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._under_way = True
        # A daemon: a pool's threads would be waited for when the process ends.
        threading.Thread(target=self._run, args=(message, answer), daemon=True).start()
        try:
            async with asyncio.timeout(self._attempt.total_seconds()):
                return await answer
        except TimeoutError:
            return f"no answer within {self._attempt.total_seconds():g} s"

    def _run(self, message: Message, answer: asyncio.Future[str]) -> None:
        reason = self._outlet.send(message)
        # A loop that has ended meanwhile wants no answer.
        with suppress(RuntimeError):
            answer.get_loop().call_soon_threadsafe(self._settle, answer, reason)

    def _settle(self, answer: asyncio.Future[str], reason: str) -> None:
        self._under_way = False
        if not answer.done():
            answer.set_result(reason)


async def send_test(
    outlets: Iterable[Outlet], message: Message, attempt: timedelta
) -> list[tuple[Outlet, str]]:
    """Send one message to every address at once; each with why it did not go out, empty where it did."""
    listed = list(outlets)
    reasons = await asyncio.gather(*(Courier(outlet, attempt).send(message) for outlet in listed))
    return list(zip(listed, reasons, strict=True))
