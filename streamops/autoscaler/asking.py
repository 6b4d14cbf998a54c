"""Asking targets for workers: once for each decision, and less and less often where they fail."""

import time
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from streamops.errors import StalePlan, StreamopsError, TargetChanged, TargetError
from streamops.model.acting import Limits
from streamops.model.acts.scaling import ScaleIntent
from streamops.model.pools import Applied, PoolDecision, PoolSize
from streamops.operate.console import Console

FIRST_PAUSE: Final = 5.0
LONGEST_PAUSE: Final = 300.0
BELIEVED: Final = 30.0
"""Seconds that a target has to tell the number that it was asked for; some learn of it late."""


class Asker:
    """Asks one pool's target.

    Args:
        console: Its engine asks, so that each change is in the audit log.
        pool: The pool.
        clock: Seconds, ever rising.
    """

    def __init__(self, console: Console, pool: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._pool = pool
        self._clock = clock
        self._failures = 0
        self._rest_until = 0.0
        self._asked: tuple[int, int, float] | None = None

    @property
    def problem(self) -> str:
        """What went wrong last; empty while all is well."""
        return self._problem

    _problem = ""

    def hear(self, size: PoolSize) -> str:
        """Compare what a target tells with what it was asked for; what is wrong, empty for nothing."""
        if self._asked is None:
            return ""
        before, after, at = self._asked
        if size.ordered == after:
            self._asked, self._failures, self._problem = None, 0, ""
        elif size.ordered == before and self._clock() - at > BELIEVED:
            self._asked = None
            self._fail(f"it took {after:,} workers for an answer, and still tells {before:,}")
        elif size.ordered != before:
            # Somebody else asked for another number since.
            self._asked = None
        return self._problem

    async def ask(self, decision: PoolDecision) -> PoolDecision:
        """Ask for what was decided; the decision with what came of it."""
        if decision.target == decision.ordered:
            return replace(decision, problem=self._problem)
        if self._clock() < self._rest_until:
            return replace(decision, outcome=Applied.WAITING, problem=self._problem)
        if self._asked is not None and self._asked[:2] == (decision.ordered, decision.target):
            return replace(
                decision, outcome=Applied.WAITING, problem="asked already; the target does not tell it yet"
            )
        return await self._ask(decision)

    async def _ask(self, decision: PoolDecision) -> PoolDecision:
        intent = ScaleIntent(
            pool=self._pool, workers=decision.target, current=decision.ordered, because=decision.text
        )
        limits = Limits(reason=f"{decision.code}: {decision.text}")
        try:
            await self._console.apply(await self._console.prepare(intent, limits))
        except (StalePlan, TargetChanged) as error:
            return replace(decision, outcome=Applied.CHANGED, problem=error.message)
        except StreamopsError as error:
            self._fail(error.message, error)
            return replace(decision, outcome=Applied.FAILED, problem=self._problem)
        self._asked = decision.ordered, decision.target, self._clock()
        return replace(decision, outcome=Applied.DONE)

    def _fail(self, problem: str, error: StreamopsError | None = None) -> None:
        self._problem = problem
        self._failures += 1
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (self._failures - 1))
        if isinstance(error, TargetError) and error.retry_after is not None:
            pause = max(pause, error.retry_after.total_seconds())
        self._rest_until = self._clock() + pause
