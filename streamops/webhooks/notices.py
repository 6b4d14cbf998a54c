"""Notices of messages given up: each is posted to a URL, but for those above a rate."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final

import msgspec

from streamops.model.topics import JSON_TYPE, Topic
from streamops.runtime.events import DeadLettered
from streamops.webhooks.calling import Caller, CallError
from streamops.webhooks.messages import SUCCESS, WebhookMessage

LOG: Final = logging.getLogger("streamops.webhooks")
MINUTE: Final = 60.0


class GivenUpNotices:
    """Posts notices; one that fails is logged, and not repeated.

    Args:
        caller: Calls the URL.
        url: Where notices are posted.
        per_minute: Notices a minute at most; the next one says how many were left out.
        clock: Seconds of a monotonic clock.
    """

    def __init__(
        self, caller: Caller, url: str, per_minute: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._caller = caller
        self._target = Topic(name="given-up", url=url)
        self._rate = per_minute / MINUTE
        self._most = float(per_minute)
        self._allowed = self._most
        self._clock = clock
        self._refilled_at = clock()
        self._left_out = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def send(self, topic: str, event: DeadLettered) -> None:
        """Post a notice, or count it as left out."""
        now = self._clock()
        self._allowed = min(self._most, self._allowed + (now - self._refilled_at) * self._rate)
        self._refilled_at = now
        if self._allowed < 1:
            self._left_out += 1
            return
        self._allowed -= 1
        notice = {
            "topic": topic,
            "stream": event.stream,
            "group": event.group,
            "entry_id": event.entry_id,
            "attempts": event.attempt,
            "reason": event.reason,
            "error": event.error,
            "left_out": self._left_out,
        }
        self._left_out = 0
        task = asyncio.create_task(self._post(event.entry_id, msgspec.json.encode(notice)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Wait for notices under way: each takes no longer than a call may."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _post(self, entry_id: str, body: bytes) -> None:
        message = WebhookMessage(entry_id, entry_id, 1, body, JSON_TYPE)
        try:
            answer = await self._caller.call(self._target, message)
            problem = "" if answer.status in SUCCESS else f"status {answer.status}"
        except CallError as error:
            problem = error.reason
        if problem:
            LOG.warning("no notice of entry %s, which is given up: %s", entry_id, problem)
