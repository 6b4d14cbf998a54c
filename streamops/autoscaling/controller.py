"""The loop: take the leads, look, decide, ask, write down; again and again."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct

from streamops.autoscaling.assignment import ControllerOptions
from streamops.autoscaling.judging import Judged
from streamops.autoscaling.leading import Leadership
from streamops.autoscaling.leads import Bidder, Leads, Told, Written
from streamops.autoscaling.policy.budget import BudgetState
from streamops.autoscaling.pool_controller import Duty, last_known
from streamops.autoscaling.sensing import Seen
from streamops.autoscaling.sharing import within_budgets
from streamops.errors import StalePlan, StreamopsError
from streamops.model.pools import Pool, PoolDecision
from streamops.monitor.pools import Staff
from streamops.operations.console import Console

KEEP_EVERY: Final = 6
"""Rounds between two times that what was learned is kept for others, and the pools are listed again."""

PATIENCE: Final = 0.4
"""Of the time between two rounds, how long the slowest target holds up the other pools: once to tell, once to be asked.

So a round is over long before a lease is, however long a target takes; its answer is heard in a later one.
"""

UNWRITTEN: Final = "decision cannot be written down"

LEAVE_IN: Final = 2.0
"""Seconds that this may take."""


class Report(Struct, frozen=True):
    """What one round came to.

    Attributes:
        decisions: The decision about each pool that is led, by its name.
        waiting: Pools that somebody else leads, by their names.
    """

    decisions: dict[str, PoolDecision]
    waiting: dict[str, Pool]

    @property
    def newest(self) -> dict[str, PoolDecision]:
        """The newest decision about each pool, whoever made it."""
        theirs = {name: pool.last for name, pool in self.waiting.items() if pool.last is not None}
        return theirs | self.decisions


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
        self._duties = [Duty(console, assignment, options) for assignment in options.assignments]
        self._leads = Leads(console.place, Bidder(options.holder, options.lease, options.advise))
        self._leadership = Leadership(self._leads, self._duties, options)
        self._patience = PATIENCE * options.every.total_seconds()
        self._budgets: dict[str, BudgetState] = {}
        self._rounds = 0

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
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_IN):
                await asyncio.gather(*(duty.drop() for duty in self._duties))
                with suppress(StreamopsError):
                    await self._leadership.keep_learned()
                with suppress(StreamopsError):
                    await self._leadership.leave()

    async def round(self) -> Report:
        """Look at all pools that can be led, decide about them, and do what was decided; once."""
        await self._leadership.take()
        led = [duty for duty in self._duties if duty.leads]
        decisions: dict[str, PoolDecision] = {}
        if led:
            decisions = await self._decide(led)
            await self._write_down(led, decisions)
        self._rounds += 1
        if self._rounds % KEEP_EVERY == 0:
            with suppress(StreamopsError):
                await self._leadership.remind()
        waiting = {duty.name: duty.pool for duty in self._duties if _waits(duty)}
        report = Report(decisions, waiting)
        self._tell(report)
        return report

    async def _decide(self, led: Sequence[Duty]) -> dict[str, PoolDecision]:
        try:
            seen, staffs = await self._look(led)
            elsewhere = await self._look_elsewhere()
        except StreamopsError as error:
            return {duty.name: duty.unread(error) for duty in led}
        looked = await asyncio.gather(
            *(self._judge(duty, seen, staff) for duty, staff in zip(led, staffs, strict=True))
        )
        found = dict(zip((duty.name for duty in led), looked, strict=True))
        decisions = {name: one for name, one in found.items() if isinstance(one, PoolDecision)}
        judged = [one for one in looked if isinstance(one, Judged)]
        others = self._others(decisions, elsewhere)
        shared = within_budgets(judged, self._options.budgets, self._budgets, others)
        by_name = {duty.name: duty for duty in led}
        done = await asyncio.gather(
            *(by_name[one.assignment.pool].act(one, self._patience) for one in shared)
        )
        return decisions | {one.assignment.pool: told for one, told in zip(shared, done, strict=True)}

    async def _look(self, led: Sequence[Duty]) -> tuple[Seen, list[Staff | StreamopsError]]:
        names = sorted({duty.assignment.stream for duty in led})
        snapshot = await self._console.collect(names)
        seen = Seen(snapshot, {stream.name: stream for stream in snapshot.streams})
        return seen, await self._console.pools.staffs([duty.name for duty in led], seen.now)

    async def _look_elsewhere(self) -> dict[str, Pool]:
        """Pools that share a budget and are not this controller's affair, by name."""
        names = sorted({name for names in self._options.elsewhere.values() for name in names})
        return {pool.name: pool for pool in await self._console.pools.some(names)} if names else {}

    async def _judge(self, duty: Duty, seen: Seen, staff: Staff | StreamopsError) -> Judged | PoolDecision:
        if isinstance(staff, StreamopsError):
            return duty.unread(staff)
        return await duty.look(seen, staff, self._patience)

    def _others(self, decisions: dict[str, PoolDecision], elsewhere: dict[str, Pool]) -> dict[str, int]:
        """Workers of pools in budgets that are not decided about now: others lead them, or they cannot be read."""
        counts = [
            (duty.assignment.budget, last_known(decisions.get(duty.name, duty.pool.last)))
            for duty in self._duties
            if not duty.leads or duty.name in decisions
        ]
        counts += [
            (budget, last_known(elsewhere[name].last))
            for budget, names in self._options.elsewhere.items()
            for name in names
        ]
        others: dict[str, int] = {}
        for budget, count in counts:
            others[budget] = others.get(budget, 0) + count
        return others

    async def _write_down(self, led: Sequence[Duty], decisions: dict[str, PoolDecision]) -> None:
        told = [
            Told(duty.pool, decisions[duty.name], duty.asker.take_errors(), duty.note(decisions[duty.name]))
            for duty in led
        ]
        try:
            written = await self._leads.write_down(told)
        except StreamopsError as error:
            written = [Written(counted=False, problem=error) for _ in led]
        for duty, one, (counted, problem) in zip(led, told, written, strict=True):
            if not counted:
                duty.asker.give_back(one.errors)
            if isinstance(problem, StalePlan):
                duty.leads = False
            if problem is None:
                duty.troubles.clear(UNWRITTEN)
            else:
                duty.troubles.tell(UNWRITTEN, problem.message)


def _waits(duty: Duty) -> bool:
    """Whether somebody else leads a pool, as far as is known."""
    return not duty.leads and duty.seat is not None and not duty.seat.leads
