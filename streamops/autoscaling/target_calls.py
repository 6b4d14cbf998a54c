"""Reading and resizing a target: without a long wait, once for each decision, and less and less often while it fails."""

import asyncio
import time
from collections.abc import Callable
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import (
    ApplyError,
    PlanError,
    ServerError,
    SettingsError,
    StalePlan,
    StreamopsError,
    TargetChanged,
    TargetError,
)
from streamops.model.acting import Limits
from streamops.model.pools import Applied, FencingToken, Pool, PoolDecision, PoolSize
from streamops.model.schedules import Backoff
from streamops.monitor.pools import PoolWorkers
from streamops.operations.autoscale.intent import ScaleIntent
from streamops.operations.console import Console

READING: Final = Backoff(first=5.0, longest=60.0)
ASKING: Final = Backoff(first=5.0, longest=300.0)
BELIEVED: Final = 30.0
"""Seconds that a target has to tell the number that it was asked for; some learn of it late."""
CHANCE: Final = 1
"""How often in a row a target may report a number that was not set here: a person may have scaled by hand."""
UNTOLD: Final = "requested; the target does not report it yet"
UNANSWERED: Final = "requested; the target has not answered yet"


class Failures:
    """How often something failed in a row, and how long it is left alone.

    Args:
        backoff: How long after each failure, unless it asks for more.
        clock: Seconds, ever rising.

    Attributes:
        problem: What was wrong when it failed last; empty while all is well.
    """

    def __init__(self, backoff: Backoff, clock: Callable[[], float]) -> None:
        self._backoff = backoff
        self._clock = clock
        self._count = 0
        self._until = 0.0
        self.problem = ""

    @property
    def rests(self) -> bool:
        """Whether it is left alone now."""
        return bool(self._count) and self._clock() < self._until

    def succeed(self) -> None:
        """It works."""
        self._count, self.problem = 0, ""

    def fail(self, problem: str, error: StreamopsError | None = None) -> None:
        """It failed; ``error`` may say how long it wants to be left alone."""
        self.problem = problem
        self._count += 1
        pause = self._backoff.pause(self._count)
        if isinstance(error, TargetError) and error.retry_after is not None:
            pause = max(pause, error.retry_after.total_seconds())
        self._until = self._clock() + pause


class _Asked(Struct, frozen=True):
    """What a target agreed to.

    Attributes:
        before: Workers that it had.
        after: Workers that it was asked for.
        nearest: What it told since that came nearest to it.
        at: When it did.
    """

    before: int
    after: int
    nearest: int
    at: float


class TargetCalls:
    """Reads and resizes one pool's target; of several rounds only one at a time.

    Args:
        console: Its engine asks, so that each change is in the audit log.
        pool: The pool.
        clock: Seconds, ever rising.

    Attributes:
        label: What the target is, in words; empty before it is known.
    """

    def __init__(self, console: Console, pool: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._pool = pool
        self._clock = clock
        self._reads = Failures(READING, clock)
        self._asks = Failures(ASKING, clock)
        self._reading: asyncio.Task[PoolSize] | None = None
        self._asking: asyncio.Task[PoolDecision] | None = None
        self._asked: _Asked | None = None
        self._disputes = 0
        self._errors = 0
        self.label = ""

    async def read(self, pool: Pool, staff: PoolWorkers, now: datetime, patience: float) -> PoolSize:
        """Return how many workers there are; if that takes longer than ``patience``, a later call gives it.

        Args:
            pool: The pool as just read.
            staff: Its supervisors, as just read, which tell it if they run its workers.
            now: The server's clock.
            patience: Seconds to wait for another target.

        Raises:
            StreamopsError: It fails, has failed before and is left alone for a while, or has not answered yet.
        """
        if self._reads.rests:
            raise TargetError(self._reads.problem, "It is retried with backoff.")
        try:
            self.label = self._console.pools.target(self._pool)
            local = self._console.pools.local_size(pool, staff, now)
        except SettingsError as error:
            # Finding that out may have taken a program of the user's.
            self._reads.fail(error.message)
            self.label = f"unusable: {error.message}"
            raise
        size = await self._read(patience) if local is None else local
        self.hear(size)
        return size

    async def _read(self, patience: float) -> PoolSize:
        reading = self._reading or asyncio.create_task(self._console.pools.size(self._pool))
        self._reading = reading
        await asyncio.wait({reading}, timeout=patience)
        if not reading.done():
            raise TargetError(
                f"pool {self._pool}: its target has not reported its worker count yet",
                "Its answer is waited for.",
            )
        self._reading = None
        try:
            size = reading.result()
        except StreamopsError as error:
            self._reads.fail(error.message, error)
            raise
        self._reads.succeed()
        return size

    def hear(self, size: PoolSize) -> None:
        """Compare what a target tells with what it was asked for."""
        self._finish()
        asked = self._asked
        if asked is None:
            return
        if size.ordered == asked.after:
            self._asked, self._disputes = None, 0
            self._asks.succeed()
        elif not min(asked.before, asked.after) <= size.ordered <= max(asked.before, asked.after):
            self._asked = None
            self._disputes += 1
            if self._disputes > CHANCE:
                told = f"it accepted {asked.after:,} workers, and reports {size.ordered:,}"
                self._fail(f"{told}: something else sets the count too")
        elif abs(asked.after - size.ordered) < abs(asked.after - asked.nearest):
            self._asked = replace(asked, nearest=size.ordered, at=self._clock())
        elif self._clock() - asked.at > BELIEVED:
            self._asked = None
            self._fail(f"it accepted {asked.after:,} workers, and still reports {size.ordered:,}")

    def take_errors(self) -> int:
        """How often the target has failed since this was asked for last."""
        errors, self._errors = self._errors, 0
        return errors

    def give_back(self, errors: int) -> None:
        """What was taken could not be written down."""
        self._errors += errors

    async def ask(self, decision: PoolDecision, token: FencingToken, patience: float) -> PoolDecision:
        """Ask for what was decided; the decision with what came of it.

        Args:
            decision: What was decided.
            token: Under which lead.
            patience: Seconds to wait for an answer; one that comes later is heard then.
        """
        if decision.target == decision.ordered:
            return decision
        waits = ""
        if self._asking is not None:
            waits = UNANSWERED
        elif self._asks.rests:
            waits = self._asks.problem
        elif self._asked is not None:
            waits = UNTOLD
        if waits:
            return replace(decision, outcome=Applied.WAITING, problem=waits)
        self._asking = asyncio.create_task(self._ask(decision, token))
        await asyncio.wait({self._asking}, timeout=patience)
        return self._finish() or replace(decision, outcome=Applied.WAITING, problem=UNANSWERED)

    async def drop(self) -> None:
        """Wait and ask no more: the lead is lost, or this is the end."""
        tasks = {task for task in (self._reading, self._asking) if task is not None}
        self._reading = self._asking = self._asked = None
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _finish(self) -> PoolDecision | None:
        """What came of asking; none if nothing was asked, or there is no answer yet."""
        asking = self._asking
        if asking is None or not asking.done():
            return None
        self._asking = None
        return asking.result()

    async def _ask(self, decision: PoolDecision, token: FencingToken) -> PoolDecision:
        intent = ScaleIntent(
            pool=self._pool,
            workers=decision.target,
            current=decision.ordered,
            because=decision.text,
            token=token,
        )
        limits = Limits(reason=f"{decision.code}: {decision.text}")
        try:
            await self._console.apply(await self._console.prepare(intent, limits))
        except (TargetChanged, StalePlan) as error:
            return replace(decision, outcome=Applied.CHANGED, problem=error.message)
        except (PlanError, ServerError, ApplyError) as error:
            # It is not the target that failed: the next round tries again, as it does with everything else.
            return replace(decision, outcome=Applied.FAILED, problem=error.message)
        except StreamopsError as error:
            self._fail(error.message, error)
            return replace(decision, outcome=Applied.FAILED, problem=error.message)
        before, after = decision.ordered, decision.target
        self._asked = _Asked(before, after, before, self._clock())
        return replace(decision, outcome=Applied.DONE)

    def _fail(self, problem: str, error: StreamopsError | None = None) -> None:
        self._errors += 1
        self._asks.fail(problem, error)
