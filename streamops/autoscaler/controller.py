"""The loop: take the lead, look, decide, ask, write down; again and again."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec
import structlog
from msgspec import Struct
from msgspec.structs import replace

from streamops.autoscaler.asking import Asker
from streamops.autoscaler.assignment import Assignment, ControllerOptions
from streamops.autoscaler.judging import Judged, in_force, judge, within_budgets
from streamops.autoscaler.sensing import Sense
from streamops.errors import StalePlan, StreamopsError
from streamops.model.ids import EPOCH
from streamops.model.observation import Observation
from streamops.model.pools import Applied, Pool, PoolDecision, PoolSize
from streamops.model.scaling import ScaleCode
from streamops.operate.console import Console
from streamops.operate.leads import Leads
from streamops.scaling.budget import BudgetState
from streamops.scaling.state import ScalingState

KEEP_EVERY: Final = 6
"""Rounds between two times that what was learned is kept for others."""

LEAVE_IN: Final = 2.0
"""Seconds that this may take."""

_LEARNED: Final = msgspec.msgpack.Decoder(ScalingState)


class Report(Struct, frozen=True):
    """What one round came to.

    Attributes:
        decisions: The decision about each pool that is led, by its name.
        waiting: Pools that somebody else leads, each with whoever does.
    """

    decisions: dict[str, PoolDecision]
    waiting: dict[str, str]


class _Duty:
    """One pool that this controller would lead, with what it remembers of it."""

    def __init__(self, console: Console, assignment: Assignment) -> None:
        self.assignment = assignment
        self.sense = Sense(console, assignment)
        self.asker = Asker(console, assignment.pool)
        self.state = ScalingState()
        self.pool = Pool(name=assignment.pool)
        self.leads = False


class Controller:
    """Decides about pools for as long as it has their lead, and waits for it where somebody else has it.

    Args:
        console: Reads and asks.
        options: What to do.
        tell: Is told what each round came to.
    """

    def __init__(
        self, console: Console, options: ControllerOptions, tell: Callable[[Report], None] = lambda _: None
    ) -> None:
        self._console = console
        self._options = options
        self._tell = tell
        self._leads = Leads(console.place, options.holder, options.lease)
        self._duties = [_Duty(console, assignment) for assignment in options.assignments]
        self._budgets: dict[str, BudgetState] = {}
        self._rounds = 0
        self._log = structlog.get_logger("streamops")

    async def run(self) -> None:
        """Go round until cancelled, and give the leads up then."""
        every = self._options.every.total_seconds()
        loop = asyncio.get_running_loop()
        try:
            while True:
                began = loop.time()
                await self.round()
                await asyncio.sleep(max(0.0, every - (loop.time() - began)))
        finally:
            await self.leave()

    async def leave(self) -> None:
        """Keep what was learned for whoever comes next, and give the leads up."""
        with suppress(StreamopsError, TimeoutError):
            async with asyncio.timeout(LEAVE_IN):
                await self._keep_learned()
                await self._leads.leave([duty.assignment.pool for duty in self._duties if duty.leads])

    async def round(self) -> Report:
        """Look at all pools that can be led, decide about them, and do what was decided; once."""
        await asyncio.gather(*(self._take_lead(duty) for duty in self._duties))
        led = [duty for duty in self._duties if duty.leads]
        decisions = dict(await self._decide(led)) if led else {}
        waiting = {
            duty.assignment.pool: duty.pool.lead.holder
            for duty in self._duties
            if not duty.leads and duty.pool.lead is not None
        }
        self._rounds += 1
        if self._rounds % KEEP_EVERY == 0:
            with suppress(StreamopsError):
                await self._keep_learned()
        report = Report(decisions, waiting)
        self._tell(report)
        return report

    # -- the lead ------------------------------------------------------------------------------------

    async def _take_lead(self, duty: _Duty) -> None:
        led = duty.leads
        try:
            seat = await self._leads.take(duty.pool, self._announced(duty))
        except StreamopsError as error:
            # Whether the lead is still ours is not known: nothing is done with it.
            duty.leads = False
            self._note(duty, "pool cannot be led", error.message)
            return
        duty.leads, duty.pool = seat.leads, seat.pool
        if seat.leads and not led:
            await self._begin(duty)
        elif led and not seat.leads:
            self._log.warning("lead lost", pool=duty.assignment.pool, holder=_holder(seat.pool))

    async def _begin(self, duty: _Duty) -> None:
        """Take over: with what the one before has learned, where it left that behind."""
        duty.sense = Sense(self._console, duty.assignment)
        duty.state = ScalingState()
        with suppress(StreamopsError, msgspec.DecodeError):
            learned = await self._leads.learned(duty.assignment.pool)
            if learned is not None:
                duty.state = resumed(_LEARNED.decode(learned))
        term = 0 if duty.pool.lead is None else duty.pool.lead.term
        self._log.info("lead taken", pool=duty.assignment.pool, term=term, advise=self._options.advise)

    def _announced(self, duty: _Duty) -> dict[str, str]:
        """What a controller says of a pool that it leads."""
        assignment = duty.assignment
        config = in_force(assignment.config, duty.pool.steering)
        return {
            "stream": assignment.stream,
            "group": assignment.group,
            "min": str(config.minimum),
            "max": str(config.maximum),
            "target": self._target(assignment.pool),
        }

    def _target(self, pool: str) -> str:
        try:
            return self._console.pools.target(pool)
        except StreamopsError as error:
            return f"unusable: {error.message}"

    async def _keep_learned(self) -> None:
        await self._leads.keep_learned(
            {
                duty.assignment.pool: msgspec.msgpack.encode(duty.state)
                for duty in self._duties
                if duty.leads and duty.state.samples
            }
        )

    # -- a round -------------------------------------------------------------------------------------

    async def _decide(self, led: list[_Duty]) -> list[tuple[str, PoolDecision]]:
        streams = sorted({duty.assignment.stream for duty in led})
        try:
            observation = await self._console.observe(streams)
        except StreamopsError as error:
            return [await self._could_not(duty, error) for duty in led]
        looked = await asyncio.gather(*(self._look(duty, observation) for duty in led))
        judged = [one for one in looked if isinstance(one, Judged)]
        failed = [one for one in looked if not isinstance(one, Judged)]
        by_pool = {duty.assignment.pool: duty for duty in led}
        shared = within_budgets(judged, self._options.budgets, self._budgets)
        done = await asyncio.gather(*(self._act(by_pool[one.assignment.pool], one) for one in shared))
        return [*done, *failed]

    async def _look(self, duty: _Duty, observation: Observation) -> Judged | tuple[str, PoolDecision]:
        try:
            demand, size = await duty.sense.look(observation)
        except StreamopsError as error:
            return await self._could_not(duty, error)
        duty.asker.hear(size)
        now = observation.snapshot.collected_at
        judged = judge(duty.assignment, duty.state, demand, duty.pool.steering, now)
        duty.state = judged.state
        return judged

    async def _act(self, duty: _Duty, judged: Judged) -> tuple[str, PoolDecision]:
        decision = judged.told(self._options.holder)
        if not self._options.advise:
            decision = await duty.asker.ask(decision)
        elif decision.target != decision.ordered:
            decision = replace(decision, outcome=Applied.ADVISED)
        await self._write_down(duty, decision)
        return duty.assignment.pool, decision

    async def _could_not(self, duty: _Duty, error: StreamopsError) -> tuple[str, PoolDecision]:
        """Nothing is known, so nothing is changed."""
        last = duty.pool.last
        size = PoolSize(ordered=0) if last is None else PoolSize(ordered=last.target, ready=last.ready)
        clock = None
        with suppress(StreamopsError):
            clock = await self._console.pools.clock()
        decision = PoolDecision(
            at=clock or (last.at if last else EPOCH),
            code=ScaleCode.UNREADABLE,
            text=f"{error.message}: nothing is changed",
            ordered=size.ordered,
            ready=size.ready or 0,
            target=size.ordered,
            problem=error.message,
            outlook=(error.hint,) if error.hint else (),
            by=self._options.holder,
        )
        if clock is not None:
            await self._write_down(duty, decision)
        return duty.assignment.pool, decision

    async def _write_down(self, duty: _Duty, decision: PoolDecision) -> None:
        news = _is_news(duty.pool.last, decision)
        duty.pool = replace(duty.pool, last=decision)
        if news:
            self._log.info(
                "decided",
                pool=duty.assignment.pool,
                code=decision.code.value,
                ordered=decision.ordered,
                target=decision.target,
                outcome=decision.outcome.value,
                why=decision.text,
                **({"problem": decision.problem} if decision.problem else {}),
            )
        try:
            await self._leads.write_down(duty.pool, decision, log=news)
        except StalePlan:
            duty.leads = False
        except StreamopsError as error:
            self._note(duty, "decision cannot be written down", error.message)

    def _note(self, duty: _Duty, what: str, why: str) -> None:
        self._log.warning(what, pool=duty.assignment.pool, why=why)


def resumed(learned: ScalingState) -> ScalingState:
    """What of another controller's memory holds for this one, which counts anew: no reading, but all lessons."""
    return ScalingState(
        rates=learned.rates,
        start_up=learned.start_up,
        changed_at=learned.changed_at,
        direction=learned.direction,
        damping=learned.damping,
        peaks=learned.peaks,
        cap=learned.cap,
    )


def _is_news(before: PoolDecision | None, decision: PoolDecision) -> bool:
    """Whether a decision says anything that the one before did not."""
    if before is None:
        return True
    told = ("code", "target", "ordered", "outcome", "problem", "by")
    return any(getattr(before, name) != getattr(decision, name) for name in told)


def _holder(pool: Pool) -> str:
    return "" if pool.lead is None else pool.lead.holder
