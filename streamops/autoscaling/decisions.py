"""From a reading to a decision: the policy, what it remembers, and people's settings for its controller above it. Pure."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.autoscaling.policy.config import ScalingConfig
from streamops.autoscaling.policy.outlook import outlook, signals
from streamops.autoscaling.policy.rules import decide
from streamops.autoscaling.policy.state import ScalingState
from streamops.autoscaling.policy.view import PolicyView, look
from streamops.model.pools import (
    Applied,
    Demand,
    PoolDecision,
    PoolOverrides,
    PoolSize,
    ScaleCode,
    ScaleDecision,
)
from streamops.model.wording import counted, instant, quoted

EVERY: Final = timedelta(seconds=5)
LEASE: Final = timedelta(seconds=15)


class Assignment(Struct, frozen=True, kw_only=True):
    """One pool, and the group whose work it does.

    Attributes:
        pool: The pool's name.
        stream: The stream that its workers read.
        group: Their group.
        config: Its limits and objective.
        budget: The budget that it shares with others; empty for none.
        weight: How much its waits count there.
    """

    pool: str
    stream: str
    group: str
    config: ScalingConfig = ScalingConfig()
    budget: str = ""
    weight: float = 1.0


class ControllerOptions(Struct, frozen=True, kw_only=True):
    """How a controller works; composed from settings by the caller.

    Attributes:
        holder: Who it is, to others that would lead the same pools.
        assignments: Its pools.
        budgets: Workers that pools have together at most, by the name of the budget.
        elsewhere: Pools of these budgets that it is not to decide about, by the same.
        every: How often it looks.
        lease: How long others wait after it was heard of last.
        advise: Whether it only says what it would do.
    """

    holder: str
    assignments: tuple[Assignment, ...]
    budgets: dict[str, int] = {}
    elsewhere: dict[str, tuple[str, ...]] = {}
    every: timedelta = EVERY
    lease: timedelta = LEASE
    advise: bool = False


class PendingDecision(Struct, frozen=True, kw_only=True):
    """One decision on its way.

    Attributes:
        assignment: The pool.
        before: What the policy remembered of it.
        view: The reading, and what it remembers now.
        decision: What was decided.
        at: The server's clock.
    """

    assignment: Assignment
    before: ScalingState
    view: PolicyView
    decision: ScaleDecision
    at: datetime

    def written(self, by: str) -> PoolDecision:
        """The decision as it is written down, before anything came of it."""
        return PoolDecision(
            at=self.at,
            code=self.decision.code,
            text=self.decision.text,
            ordered=self.view.demand.ordered,
            ready=self.view.demand.ready,
            ready_known=self.view.demand.ready_known,
            target=self.decision.target,
            signals=signals(self.view),
            outlook=outlook(self.view, self.decision),
            by=by,
        )

    def remembered(self, decision: PoolDecision) -> ScalingState:
        """What is remembered once it is known what came of the decision: a change only if there was one."""
        before, after = self.before, self.view.state
        asked_by_policy = after.last is not None and after.last.target != self.view.demand.ordered
        changed = decision.outcome is Applied.DONE and decision.target != decision.ordered
        if changed or not asked_by_policy:
            return after
        # A trial that was under way goes on, one that never began does not, one that was judged meanwhile stays so.
        trial = None if after.trial is None else before.trial
        return replace(after, changed_at=before.changed_at, trial=trial)


def judge(
    assignment: Assignment, state: ScalingState, demand: Demand, steering: PoolOverrides, now: datetime
) -> PendingDecision:
    """Decide by the policy, and by people's settings for the controller above it.

    Args:
        assignment: The pool.
        state: What the policy remembers of it.
        demand: The reading.
        steering: People's settings for its controller.
        now: The server's clock.
    """
    config = in_force(assignment.config, steering)
    if state.samples and demand.at < state.samples[-1].at:
        # The clock has gone back, as after a failover: no reading of it can be compared.
        state = resumed(state, demand.at)
    after, decision = decide(config, state, demand)
    policy = f"the policy says {decision.target}: {decision.text}"
    return PendingDecision(
        assignment=assignment,
        before=state,
        view=look(config, after, demand),
        decision=_steered(config, demand.ordered, steering, now, policy) or decision,
        at=now,
    )


def judge_blindly(
    config: ScalingConfig, size: PoolSize, steering: PoolOverrides, now: datetime, why: str
) -> ScaleDecision:
    """Decide without reading the work: what people told, or no change, but for the least there may be.

    Args:
        config: Limits and objective of the pool.
        size: How many workers it has.
        steering: People's settings for its controller.
        now: The server's clock.
        why: Why the work cannot be read.
    """
    config = in_force(config, steering)
    told = _steered(config, size.ordered, steering, now, why)
    if told is not None:
        return told
    if size.ordered < config.minimum:
        text = f"{why}: the minimum is {counted(config.minimum, 'worker', 'workers')}"
        return ScaleDecision(config.minimum, ScaleCode.LIMIT, text)
    return ScaleDecision(size.ordered, ScaleCode.UNREADABLE, f"{why}: no change")


def in_force(config: ScalingConfig, steering: PoolOverrides) -> ScalingConfig:
    """A configuration with the limits that people told instead of its own; a limit pushes the other aside."""
    least = config.minimum if steering.minimum is None else steering.minimum
    most = config.maximum if steering.maximum is None else steering.maximum
    if steering.minimum is None:
        least = min(least, most)
    return replace(config, minimum=least, maximum=max(most, least, 1))


def _steered(
    config: ScalingConfig, ordered: int, steering: PoolOverrides, now: datetime, otherwise: str
) -> ScaleDecision | None:
    """People's settings for the controller, as long as it holds; none if they leave it to itself."""
    if steering.until is not None and steering.until <= now:
        return None
    until = "" if steering.until is None else f" until {instant(steering.until)}"
    who = f" by {quoted(steering.by)}" if steering.by else ""
    if steering.override is not None:
        kept = f"kept at {counted(steering.override, 'worker', 'workers')}{who}{until}"
        if not config.minimum <= steering.override <= config.maximum:
            kept = f"{kept}, beyond the limits of {config.minimum} to {config.maximum}"
        return ScaleDecision(steering.override, ScaleCode.OVERRIDE, f"{kept}; {otherwise}")
    if steering.paused:
        return ScaleDecision(ordered, ScaleCode.PAUSED, f"paused{who}{until}; {otherwise}")
    return None


def resumed(learned: ScalingState, now: float) -> ScalingState:
    """What of another memory holds for a controller that counts again: no reading, but all lessons.

    Args:
        learned: What was remembered.
        now: The server's clock, in seconds. What is said to lie after it happened by another server's clock.
    """
    cap, changed = learned.cap, learned.changed_at
    return ScalingState(
        rates=learned.rates,
        start_up=learned.start_up,
        changed_at=None if changed is None else min(changed, now),
        peaks=tuple(peak for peak in learned.peaks if peak.at <= now),
        cap=None if cap is None else replace(cap, since=min(cap.since, now)),
    )
