"""The handler of topics: calls a message's URL, and says by its errors what becomes of the message.

A call that fails is tried again after the topic's schedule. A host in trouble is left alone by its breaker; what
waits for it is put back, which is no attempt. Giving up is the runtime's: after ``max_attempts`` the dead letters.
"""

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from streamops import errors
from streamops.model.request_log import CALLED
from streamops.model.topics import Topic
from streamops.runtime.events import DeadLettered
from streamops.webhooks.breaker import Breaker, BreakerOptions, BreakerState
from streamops.webhooks.calling import Caller, CallError
from streamops.webhooks.messages import (
    TROUBLED,
    Accepted,
    Answer,
    Delivered,
    Rejected,
    TryAgain,
    Verdict,
    WebhookMessage,
    judge,
    message_of,
)
from streamops.webhooks.metrics import TopicCounters
from streamops.webhooks.notices import GivenUpNotices
from streamops.webhooks.request_log import RequestLog

LOG: Final = logging.getLogger("streamops.webhooks")
LONGEST_ADVICE: Final = timedelta(hours=1)
"""A longer Retry-After counts as this."""

BUSY: Final = timedelta(seconds=1)


class HostOptions(Struct, frozen=True):
    """How one host is treated.

    Attributes:
        concurrency: Calls to it at once, of all topics together.
        breaker: When its breaker opens.
    """

    concurrency: int = 64
    breaker: BreakerOptions = BreakerOptions()


class Callback:
    """Calls messages of any topic."""

    def __init__(
        self,
        caller: Caller,
        options: HostOptions = HostOptions(),  # noqa: B008 - frozen
        *,
        chance: Callable[[], float] = random.random,
        counters: TopicCounters | None = None,
        log: RequestLog | None = None,
        notices: GivenUpNotices | None = None,
    ) -> None:
        self._caller = caller
        self._options = options
        self._chance = chance
        self._counters = counters or TopicCounters()
        self._log = log or RequestLog(enabled=False)
        self._notices = notices
        self._hosts: dict[str, _Host] = {}

    async def __call__(self, topic: Topic, entry: Delivered) -> None:
        """Call the URL for one entry; returns once the receiver accepted the message.

        Raises:
            RetryLater: It did not; or the host's breaker is open, which does not count as an attempt.
            errors.Reject: No further call can help.
        """
        verdict, advice = await self._verdict(topic, entry)
        match verdict:
            case Accepted():
                return
            case Rejected():
                raise errors.Reject(verdict.reason)
            case TryAgain():
                delay = topic.retry(entry.attempt, self._chance())
                raise errors.RetryLater(max(delay, advice), verdict.reason)

    def given_up(self, topic: str, event: DeadLettered) -> None:
        """Count, log and post that a message of a topic became a dead letter."""
        self._counters.count("dead_letters", topic, event.reason)
        if self._notices is not None:
            self._notices.send(topic, event)
        LOG.error(
            "topic %s: entry %s is given up after %d calls, %s: %s",
            topic,
            event.entry_id,
            event.attempt,
            event.reason,
            event.error,
        )

    def states(self) -> dict[str, BreakerState]:
        """Where the breaker of each host stands."""
        now = asyncio.get_running_loop().time()
        return {name: host.breaker.state(now) for name, host in self._hosts.items()}

    async def _verdict(self, topic: Topic, entry: Delivered) -> tuple[Verdict, timedelta]:
        host, message = self._host(topic), message_of(entry, topic)
        async with host.slot(topic, self._chance) as report:
            # Finer than the event loop's own clock.
            began, answer, advice = time.perf_counter(), None, timedelta()
            try:
                answer = await self._caller.call(topic, message)
            except CallError as error:
                report(error.troubled)
                verdict: Verdict = TryAgain(error.reason)
            else:
                report(answer.status in TROUBLED)
                verdict, advice = judge(topic, answer), _advice(answer)
        self._record(topic, message, answer, verdict, time.perf_counter() - began)
        return verdict, advice

    def _record(
        self,
        topic: Topic,
        message: WebhookMessage,
        answer: Answer | None,
        verdict: Verdict,
        seconds: float,
    ) -> None:
        """Count and log a call."""
        outcome = _OUTCOMES[type(verdict)]
        self._counters.count("calls", topic.name, outcome)
        self._counters.observe(topic.name, seconds)
        if message.attempt > 1:
            self._counters.count("retries", topic.name)
        if not self._log.enabled:
            return
        facts = {
            "id": message.id,
            "origin_id": message.origin_id,
            "attempt": message.attempt,
            "outcome": outcome,
            # The dead-letter queue has it now.
            "given_up": outcome == "rejected"
            or (outcome == "failed" and message.attempt >= topic.max_attempts),
            "reason": None if isinstance(verdict, Accepted) else verdict.reason,
            "status": answer.status if answer else None,
            "seconds": round(seconds, 4),
        }
        shown = self._log.body(topic, answer.body, "answer") if answer else {}
        self._log.write(CALLED, topic.name, **facts, **self._log.body(topic, message.body), **shown)

    def _host(self, topic: Topic) -> "_Host":
        parts = urlsplit(topic.url)
        name = f"{parts.scheme}://{parts.hostname}:{parts.port or ''}".rstrip(":")
        if name not in self._hosts:
            self._hosts[name] = _Host(name, self._options)
        return self._hosts[name]


class _Host:
    """One host: its breaker, and how many calls to it run."""

    def __init__(self, name: str, options: HostOptions) -> None:
        self.name = name
        self.breaker = Breaker(options.breaker)
        self._free = asyncio.Semaphore(options.concurrency)

    @asynccontextmanager
    async def slot(self, topic: Topic, chance: Callable[[], float]) -> AsyncIterator[Callable[[bool], None]]:
        """Room for one call; gives what reports its outcome.

        Raises:
            RetryLater: The host is left alone for now, or has no room for longer than a call may take.
        """
        wait = self.breaker.admit(_now())
        if wait:
            # Not all at the same instant.
            raise errors.RetryLater(
                wait * (1 + chance() / 2), f"circuit breaker of {self.name} is open", counts=False
            )
        try:
            async with asyncio.timeout(topic.time_to_run.total_seconds()):
                await self._free.acquire()
        except TimeoutError:
            self.breaker.gave_up()
            raise errors.RetryLater(BUSY, f"{self.name} has no room for more calls", counts=False) from None
        except BaseException:
            self.breaker.gave_up()
            raise
        reported = False

        def report(troubled: bool) -> None:  # noqa: FBT001 - the only argument
            nonlocal reported
            reported = True
            self._report(troubled=troubled, chance=chance())

        try:
            yield report
        finally:
            self._free.release()
            if not reported:
                self.breaker.gave_up()

    def _report(self, *, troubled: bool, chance: float) -> None:
        now = _now()
        before = self.breaker.state(now)
        if troubled:
            if self.breaker.failed(now, chance):
                LOG.warning("circuit breaker of %s is open", self.name)
            return
        self.breaker.succeeded()
        if before is not BreakerState.CLOSED:
            LOG.warning("circuit breaker of %s is closed", self.name)


_OUTCOMES: Final = {Accepted: "accepted", TryAgain: "failed", Rejected: "rejected"}


def _now() -> float:
    return asyncio.get_running_loop().time()


def _advice(answer: Answer) -> timedelta:
    """``Retry-After`` of a host in trouble; nothing unless it is in seconds."""
    if answer.status not in TROUBLED:
        return timedelta()
    said = next((value for name, value in answer.headers if name.lower() == "retry-after"), "").strip()
    if not (said.isascii() and said.isdigit() and len(said) < 10):  # noqa: PLR2004 - digits of any sane number
        return timedelta()
    return min(timedelta(seconds=int(said)), LONGEST_ADVICE)
