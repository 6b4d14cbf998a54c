"""One pool that a controller would lead, with what it remembers of it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import structlog
from msgspec.structs import replace

from streamops.autoscaling.decisions import (
    Assignment,
    ControllerOptions,
    PendingDecision,
    in_force,
    judge,
    judge_blindly,
)
from streamops.autoscaling.demand import DemandReader, Seen
from streamops.autoscaling.policy.state import ScalingState
from streamops.autoscaling.target_calls import TargetCalls
from streamops.errors import StreamopsError
from streamops.model.entries import EPOCH
from streamops.model.pools import (
    Applied,
    FencingToken,
    Pool,
    PoolDecision,
    PoolSize,
    ScaleCode,
    ScaleDecision,
)
from streamops.monitor.pools import PoolWorkers
from streamops.operations.console import Console
from streamops.wire.pools.leading import LeaderLease

NEWS: Final = ("code", "target", "ordered", "outcome", "problem", "by")
"""Fields of a decision that say anything new when they change."""


class Troubles:
    """Tells a log of troubles as they begin, change and end.

    Args:
        log: Where to; a logger of structlog.
    """

    def __init__(self, log: Any) -> None:  # noqa: ANN401 - structlog's loggers have no type of their own
        self._log = log
        self._known: dict[str, str] = {}

    def warn_once(self, what: str, why: str) -> None:
        """That something is wrong."""
        if self._known.get(what) != why:
            self._known[what] = why
            self._log.warning(what, why=why)

    def clear(self, what: str) -> None:
        """That it is not any more."""
        if self._known.pop(what, None) is not None:
            self._log.info(f"over: {what}")


class PoolController:
    """One pool; only the controller that has its lease decides.

    Args:
        console: Reads and asks.
        assignment: The pool.
        options: How the controller works.

    Attributes:
        assignment: The pool.
        name: The pool's name.
        state: What the policy remembers of it.
        lease: How the pool stood when its lease was asked for last; none before that.
        leads: Whether this controller has the lease, as far as is known.
        term: The fencing token: the term in which it had it last.
        calls: Asks its target.
        troubles: Tells the log what is wrong with its lease or its records.
    """

    def __init__(self, console: Console, assignment: Assignment, options: ControllerOptions) -> None:
        self._console = console
        self._options = options
        self._log = structlog.get_logger("streamops").bind(pool=assignment.pool)
        self._demand = DemandReader(console.pools, assignment)
        self._last: PoolDecision | None = None
        self.troubles = Troubles(self._log)
        self.calls = TargetCalls(console, assignment.pool)
        self.assignment = assignment
        self.name = assignment.pool
        self.state = ScalingState()
        self.lease: LeaderLease | None = None
        self.leads = False
        self.term = 0

    @property
    def pool(self) -> Pool:
        """The pool, as it was told and led when last looked at."""
        return Pool(name=self.name) if self.lease is None else self.lease.pool

    def announced(self) -> Mapping[str, str]:
        """What its controller says of it."""
        config = in_force(self.assignment.config, self.pool.steering)
        return {
            "stream": self.assignment.stream,
            "group": self.assignment.group,
            "min": str(config.minimum),
            "max": str(config.maximum),
            "target": self.calls.label,
        }

    def begin(self, state: ScalingState) -> None:
        """Take over, with what the controller before has learned."""
        self._demand = DemandReader(self._console.pools, self.assignment)
        self.state = state
        self._last = self.pool.last

    async def look(self, seen: Seen, staff: PoolWorkers, patience: float) -> PendingDecision | PoolDecision:
        """Decide about it; if its work cannot be read, already with what came of that.

        Args:
            seen: What was just read of its stream.
            staff: Who works in it.
            patience: Seconds to wait for its target.
        """
        steering = self.pool.steering
        try:
            size = await self.calls.read(self.pool, staff, seen.now, patience)
            try:
                demand, size = await self._demand.read(seen, staff, size)
            except StreamopsError as error:
                told = judge_blindly(self.assignment.config, size, steering, seen.now, error.message)
                decision = self._unread(told, error, seen.now, size)
                return await self._carry_out(decision, patience)
            return judge(self.assignment, self.state, demand, steering, seen.now)
        except StreamopsError as error:
            return self.unread(error)
        except Exception as error:  # noqa: BLE001 - a bug that one pool meets does not stop the others
            return self._stumbled(error)

    async def act(self, judged: PendingDecision, patience: float) -> PoolDecision:
        """Do what was decided; the decision with what came of it."""
        try:
            done = await self._carry_out(judged.written(self._options.holder), patience)
        except Exception as error:  # noqa: BLE001 - as above
            return self._stumbled(error)
        self.state = judged.remembered(done)
        return done

    def unread(self, error: StreamopsError) -> PoolDecision:
        """The decision if not even the number of workers is known: no change.

        It has the number that was known last, and at first the least that there may be.
        """
        last = self._last
        known = self.assignment.config.minimum if last is None else last_known(last)
        told = ScaleDecision(known, ScaleCode.UNREADABLE, f"{error.message}: no change")
        at = EPOCH if self.lease is None else self.lease.now
        return self._unread(told, error, at, PoolSize(ordered=known, ready=_ready(last)))

    def note(self, decision: PoolDecision) -> bool:
        """Log a decision that says anything new; whether it does."""
        before, self._last = self._last, decision
        if before is not None and all(getattr(before, name) == getattr(decision, name) for name in NEWS):
            return False
        told = {"problem": decision.problem} if decision.problem else {}
        self._log.info(
            "decided",
            code=decision.code.value,
            ordered=decision.ordered,
            target=decision.target,
            outcome=decision.outcome.value,
            why=decision.text,
            **told,
        )
        return True

    def _unread(
        self, told: ScaleDecision, error: StreamopsError, at: datetime, size: PoolSize
    ) -> PoolDecision:
        return PoolDecision(
            at=at,
            code=told.code,
            text=told.text,
            ordered=size.ordered,
            ready=size.ordered if size.ready is None else size.ready,
            ready_known=size.ready is not None,
            target=told.target,
            problem=error.message,
            outlook=(error.hint,) if error.hint else (),
            by=self._options.holder,
        )

    def _stumbled(self, error: Exception) -> PoolDecision:
        """The decision after a bug: no change, and the log says more."""
        self._log.error("a bug in streamops", problem=f"{type(error).__name__}: {error}")
        self._log.debug("its traceback", exc_info=error)
        return self.unread(
            StreamopsError(f"a bug in streamops: {type(error).__name__}", "Its log says more.")
        )

    async def _carry_out(self, decision: PoolDecision, patience: float) -> PoolDecision:
        if self._options.advise:
            changes = decision.target != decision.ordered
            return replace(decision, outcome=Applied.ADVISED) if changes else decision
        steered_at = self.pool.steering.at
        token = FencingToken(self._options.holder, self.term, self._options.lease, steered_at)
        return await self.calls.ask(decision, token, patience)


def _ready(last: PoolDecision | None) -> int | None:
    """Workers that worked when a pool was last decided about; None if that was not known."""
    if last is None:
        return 0
    return last.ready if last.ready_known else None


def last_known(decision: PoolDecision | None) -> int:
    """Workers that a pool had when it was last decided about, as far as that shows."""
    if decision is None:
        return 0
    settled = decision.outcome in (Applied.KEPT, Applied.DONE)
    return decision.target if settled else decision.ordered
