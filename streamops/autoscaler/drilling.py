"""The overload drill on a pool that grows and shrinks by itself: a real supervisor, a real controller."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import timedelta

from streamops.autoscaler.assignment import Assignment, ControllerOptions
from streamops.autoscaler.controller import Controller, Report
from streamops.model.bench import DrillPlan
from streamops.model.pools import PoolDecision
from streamops.operate.console import Console
from streamops.runtime.bench.drill import Hire, Workers
from streamops.runtime.bench.place import GROUP
from streamops.runtime.bench.pooled import pooled_workers
from streamops.scaling.config import ScalingConfig


class DecisionLog:
    """What a controller decided, each change of mind once.

    Attributes:
        decisions: They, oldest first.
    """

    def __init__(self, pool: str, tell: Callable[[PoolDecision], object] = lambda _: None) -> None:
        self.decisions: list[PoolDecision] = []
        self._pool = pool
        self._tell = tell

    def take(self, report: Report) -> None:
        """Take what one round came to."""
        decision = report.decisions.get(self._pool)
        if decision is None or (self.decisions and _same(self.decisions[-1], decision)):
            return
        self.decisions.append(decision)
        self._tell(decision)


def hiring_by_policy(
    console: Console, pool: str, config: ScalingConfig, log: DecisionLog, every: timedelta
) -> Hire:
    """Workers of a pool that a controller keeps at what their work asks for.

    Args:
        console: The server.
        pool: The pool; one that nobody else uses.
        config: Its limits and objective.
        log: Takes the decisions.
        every: How often to look.
    """

    @asynccontextmanager
    async def hire(stream: str, plan: DrillPlan) -> AsyncIterator[Workers]:
        assignment = Assignment(pool=pool, stream=stream, group=GROUP, config=config)
        options = ControllerOptions(holder=f"drill-{pool}", assignments=(assignment,), every=every)
        async with AsyncExitStack() as stack:
            workers = await stack.enter_async_context(
                pooled_workers(console.options, pool, stream, slots=plan.slots, begin=max(1, config.minimum))
            )
            controlling = asyncio.create_task(Controller(console, options, log.take).run())
            stack.push_async_callback(_end, controlling)
            yield workers

    return hire


async def _end(controlling: "asyncio.Task[None]") -> None:
    controlling.cancel()
    with suppress(asyncio.CancelledError):
        await controlling


def _same(before: PoolDecision, decision: PoolDecision) -> bool:
    return (before.code, before.target, before.ordered) == (decision.code, decision.target, decision.ordered)
