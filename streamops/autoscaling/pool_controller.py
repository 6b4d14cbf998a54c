"""One pool that a controller would lead, with what it remembers of it."""

from collections.abc import Mapping

import structlog
from msgspec.structs import replace

from streamops.autoscaling.asking import Asker
from streamops.autoscaling.assignment import Assignment, ControllerOptions
from streamops.autoscaling.backoff import Troubles
from streamops.autoscaling.judging import Judged, in_force, judge, judge_blindly
from streamops.autoscaling.leads import Seat
from streamops.autoscaling.policy.state import ScalingState
from streamops.autoscaling.sensing import Seen, Sense
from streamops.autoscaling.supply import Supply
from streamops.errors import StreamopsError
from streamops.model.ids import EPOCH
from streamops.model.pools import Applied, Mandate, Pool, PoolDecision, PoolSize
from streamops.model.scaling import ScaleCode
from streamops.monitor.pools import Staff
from streamops.operations.console import Console


class Duty:
    """One pool; only who has its lead decides.

    Args:
        console: Reads and asks.
        assignment: The pool.
        options: How the controller works.

    Attributes:
        assignment: The pool.
        state: What the policy remembers of it.
        seat: How the pool stood when its lead was asked for last; none before that.
        leads: Whether this controller has the lead, as far as is known.
        term: The term in which it had it last.
        asker: Asks its target.
        troubles: Tells the log what is wrong with its lead or its records.
    """

    def __init__(self, console: Console, assignment: Assignment, options: ControllerOptions) -> None:
        self._console = console
        self._options = options
        self._log = structlog.get_logger("streamops").bind(pool=assignment.pool)
        self._sense = Sense(console.pools, assignment)
        self._supply = Supply(console.pools, assignment.pool)
        self._last: PoolDecision | None = None
        self.troubles = Troubles(self._log)
        self.asker = Asker(console, assignment.pool)
        self.assignment = assignment
        self.state = ScalingState()
        self.seat: Seat | None = None
        self.leads = False
        self.term = 0

    @property
    def name(self) -> str:
        """The pool's name."""
        return self.assignment.pool

    @property
    def pool(self) -> Pool:
        """The pool, as it was told and led when last looked at."""
        return Pool(name=self.name) if self.seat is None else self.seat.pool

    @property
    def mandate(self) -> Mandate:
        """What its decisions hold under."""
        return Mandate(self._options.holder, self.term, self._options.lease, self.pool.steering.at)

    def announced(self) -> Mapping[str, str]:
        """What its controller says of it."""
        config = in_force(self.assignment.config, self.pool.steering)
        return {
            "stream": self.assignment.stream,
            "group": self.assignment.group,
            "min": str(config.minimum),
            "max": str(config.maximum),
            "target": self._supply.label,
        }

    def begin(self, state: ScalingState) -> None:
        """Take over, with what the one before has learned."""
        self._sense = Sense(self._console.pools, self.assignment)
        self.state = state
        self._last = self.pool.last

    async def look(self, seen: Seen, staff: Staff, patience: float) -> Judged | PoolDecision:
        """What is decided about it; already what came of that, where its work cannot be read.

        Args:
            seen: What was just read of its stream.
            staff: Who works in it.
            patience: Seconds to wait for its target.
        """
        try:
            return await self._look(seen, staff, patience)
        except StreamopsError as error:
            return self.unread(error)
        except Exception as error:  # noqa: BLE001 - a bug that one pool meets does not stop the others
            return self._stumbled(error)

    async def act(self, judged: Judged, patience: float) -> PoolDecision:
        """Do what was decided; the decision with what came of it."""
        try:
            done = await self._carry_out(judged.told(self._options.holder), patience)
        except Exception as error:  # noqa: BLE001 - as above
            return self._stumbled(error)
        self.state = judged.remembered(done)
        return done

    def unread(self, error: StreamopsError) -> PoolDecision:
        """The decision where not even the number of workers is known: nothing is changed.

        It has the number that was known last, and at first the least that there may be.
        """
        last = self._last
        known = self.assignment.config.minimum if last is None else last_known(last)
        return PoolDecision(
            at=EPOCH if self.seat is None else self.seat.now,
            code=ScaleCode.UNREADABLE,
            text=f"{error.message}: nothing is changed",
            ordered=known,
            ready=0 if last is None else last.ready,
            target=known,
            problem=error.message,
            outlook=(error.hint,) if error.hint else (),
            by=self._options.holder,
        )

    def note(self, decision: PoolDecision) -> bool:
        """Log a decision that says anything new; whether it does."""
        before, self._last = self._last, decision
        if not is_news(before, decision):
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

    async def drop(self) -> None:
        """Ask for nothing more."""
        await self._supply.drop()
        await self.asker.drop()

    def _stumbled(self, error: Exception) -> PoolDecision:
        """The decision where a bug was met: nothing is changed, and the log says more."""
        self._log.error("a bug in streamops", problem=f"{type(error).__name__}: {error}")
        self._log.debug("its traceback", exc_info=error)
        return self.unread(
            StreamopsError(f"a bug in streamops: {type(error).__name__}", "Its log says more.")
        )

    async def _look(self, seen: Seen, staff: Staff, patience: float) -> Judged | PoolDecision:
        size = await self._supply.read(self.pool, staff, seen.now, patience)
        self.asker.hear(size)
        try:
            demand, size = await self._sense.look(seen, staff, size)
        except StreamopsError as error:
            return await self._look_blindly(size, seen, error, patience)
        return judge(self.assignment, self.state, demand, self.pool.steering, seen.now)

    async def _look_blindly(
        self, size: PoolSize, seen: Seen, error: StreamopsError, patience: float
    ) -> PoolDecision:
        told = judge_blindly(self.assignment, size, self.pool.steering, seen.now, error.message)
        decision = PoolDecision(
            at=seen.now,
            code=told.code,
            text=told.text,
            ordered=size.ordered,
            ready=size.ordered if size.ready is None else size.ready,
            target=told.target,
            problem=error.message,
            outlook=(error.hint,) if error.hint else (),
            by=self._options.holder,
        )
        return await self._carry_out(decision, patience)

    async def _carry_out(self, decision: PoolDecision, patience: float) -> PoolDecision:
        if not self._options.advise:
            return await self.asker.ask(decision, self.mandate, patience)
        if decision.target != decision.ordered:
            return replace(decision, outcome=Applied.ADVISED)
        return decision


def last_known(decision: PoolDecision | None) -> int:
    """Workers that a pool had when it was last decided about, as far as that tells."""
    if decision is None:
        return 0
    settled = decision.outcome in (Applied.KEPT, Applied.DONE)
    return decision.target if settled else decision.ordered


def is_news(before: PoolDecision | None, decision: PoolDecision) -> bool:
    """Whether a decision says anything that the one before did not."""
    if before is None:
        return True
    told = ("code", "target", "ordered", "outcome", "problem", "by")
    return any(getattr(before, name) != getattr(decision, name) for name in told)
