"""Asking targets for workers: once for each decision, under the lead, and less and less often where they fail."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.autoscaling.backoff import Backoff
from streamops.errors import ApplyError, PlanError, ServerError, StalePlan, StreamopsError, TargetChanged
from streamops.model.acting import Limits
from streamops.model.pools import Applied, Mandate, PoolDecision, PoolSize
from streamops.operations.autoscale.intent import ScaleIntent
from streamops.operations.console import Console

LONGEST_PAUSE: Final = 300.0
BELIEVED: Final = 30.0
"""Seconds that a target has to tell the number that it was asked for; some learn of it late."""
CHANCE: Final = 1
"""How often in a row a target may tell a number that nobody here asked for: a person may have scaled by hand."""

UNTOLD: Final = "asked already; the target does not tell it yet"
UNANSWERED: Final = "asked; the target has not answered yet"


class _Asked(Struct, frozen=True):
    """What a target agreed to.

    Attributes:
        before: Workers that it had.
        after: Workers that it was asked for.
        told: What it told since that came nearest to it.
        at: When it did.
    """

    before: int
    after: int
    told: int
    at: float


class Asker:
    """Asks one pool's target; of several rounds only one at a time.

    Args:
        console: Its engine asks, so that each change is in the audit log.
        pool: The pool.
        clock: Seconds, ever rising.
    """

    def __init__(self, console: Console, pool: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._pool = pool
        self._clock = clock
        self._backoff = Backoff(LONGEST_PAUSE, clock)
        self._asked: _Asked | None = None
        self._asking: asyncio.Task[PoolDecision] | None = None
        self._disputes = 0
        self._untold = 0

    def hear(self, size: PoolSize) -> None:
        """Compare what a target tells with what it was asked for."""
        self._finish()
        asked = self._asked
        if asked is None:
            return
        if size.ordered == asked.after:
            self._asked, self._disputes = None, 0
            self._backoff.succeed()
        elif min(asked.before, asked.after) <= size.ordered <= max(asked.before, asked.after):
            self._wait_for(asked, size.ordered)
        else:
            self._asked = None
            self._disputes += 1
            if self._disputes > CHANCE:
                told = f"it was asked for {asked.after:,} workers and agreed, and tells {size.ordered:,}"
                self._fail(f"{told}: something else sets the number too")

    def take_errors(self) -> int:
        """How often the target has failed since this was asked for last."""
        errors, self._untold = self._untold, 0
        return errors

    def give_back(self, errors: int) -> None:
        """What was taken could not be told."""
        self._untold += errors

    async def ask(self, decision: PoolDecision, mandate: Mandate, patience: float) -> PoolDecision:
        """Ask for what was decided; the decision with what came of it.

        Args:
            decision: What was decided.
            mandate: Under which lead.
            patience: Seconds to wait for an answer; one that comes later is heard then.
        """
        if decision.target == decision.ordered:
            return decision
        waits = self._why_not()
        if waits:
            return replace(decision, outcome=Applied.WAITING, problem=waits)
        self._asking = asyncio.create_task(self._ask(decision, mandate))
        await asyncio.wait({self._asking}, timeout=patience)
        return self._finish() or replace(decision, outcome=Applied.WAITING, problem=UNANSWERED)

    async def drop(self) -> None:
        """Ask no more: the lead is lost, or this is the end."""
        asking, self._asking, self._asked = self._asking, None, None
        if asking is not None:
            asking.cancel()
            await asyncio.wait({asking})

    def _why_not(self) -> str:
        if self._asking is not None:
            return UNANSWERED
        if self._backoff.rests:
            return self._backoff.problem
        return UNTOLD if self._asked is not None else ""

    def _finish(self) -> PoolDecision | None:
        """What came of asking; none where nothing was asked, or there is no answer yet."""
        asking = self._asking
        if asking is None or not asking.done():
            return None
        self._asking = None
        return asking.result()

    async def _ask(self, decision: PoolDecision, mandate: Mandate) -> PoolDecision:
        intent = ScaleIntent(
            pool=self._pool,
            workers=decision.target,
            current=decision.ordered,
            because=decision.text,
            mandate=mandate,
        )
        limits = Limits(reason=f"{decision.code}: {decision.text}")
        try:
            await self._console.apply(await self._console.prepare(intent, limits))
        except TargetChanged as error:
            return replace(decision, outcome=Applied.CHANGED, problem=error.message)
        except PlanError as error:
            return replace(decision, outcome=_refused(error), problem=error.message)
        except (ServerError, ApplyError) as error:
            # It is not the target that failed: the next round tries again, as it does with everything else.
            return replace(decision, outcome=Applied.FAILED, problem=error.message)
        except StreamopsError as error:
            self._fail(error.message, error)
            return replace(decision, outcome=Applied.FAILED, problem=error.message)
        before, after = decision.ordered, decision.target
        self._asked = _Asked(before, after, before, self._clock())
        return replace(decision, outcome=Applied.DONE)

    def _wait_for(self, asked: _Asked, told: int) -> None:
        """It is on its way, as long as it comes nearer now and then."""
        if abs(asked.after - told) < abs(asked.after - asked.told):
            self._asked = replace(asked, told=told, at=self._clock())
        elif self._clock() - asked.at > BELIEVED:
            self._asked = None
            self._fail(f"it took {asked.after:,} workers for an answer, and still tells {told:,}")

    def _fail(self, problem: str, error: StreamopsError | None = None) -> None:
        self._untold += 1
        self._backoff.fail(problem, error)


def _refused(error: PlanError) -> Applied:
    return Applied.CHANGED if isinstance(error, StalePlan) else Applied.FAILED
