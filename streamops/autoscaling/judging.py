"""From a reading to a decision: the policy, what it remembers, and what people told its controller above it."""

from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from streamops.autoscaling.assignment import Assignment
from streamops.autoscaling.policy.config import ScalingConfig
from streamops.autoscaling.policy.decide import decide
from streamops.autoscaling.policy.outlook import outlook, signals
from streamops.autoscaling.policy.state import ScalingState
from streamops.model.pools import Applied, PoolDecision, PoolSize, Steering
from streamops.model.scaling import Demand, ScaleCode, ScaleDecision
from streamops.model.wording import counted, instant, quoted


class Judged(Struct, frozen=True, kw_only=True):
    """One decision on its way.

    Attributes:
        assignment: The pool.
        config: Its limits and objective in force.
        before: What the policy remembered of it.
        state: What it remembers now.
        demand: The reading.
        decision: What was decided.
        at: The server's clock.
    """

    assignment: Assignment
    config: ScalingConfig
    before: ScalingState
    state: ScalingState
    demand: Demand
    decision: ScaleDecision
    at: datetime

    def told(self, by: str) -> PoolDecision:
        """The decision as it is written down, before anything came of it."""
        arguments = self.config, self.state, self.demand
        return PoolDecision(
            at=self.at,
            code=self.decision.code,
            text=self.decision.text,
            ordered=self.demand.ordered,
            ready=self.demand.ready,
            target=self.decision.target,
            signals=signals(*arguments),
            outlook=outlook(*arguments, self.decision),
            by=by,
        )

    def remembered(self, decision: PoolDecision) -> ScalingState:
        """What is remembered of it, once it is known what came of the decision: a change only where there was one."""
        asked_by_policy = self.state.last is not None and self.state.last.target != self.demand.ordered
        changed = decision.outcome is Applied.DONE and decision.target != decision.ordered
        return undone(self.before, self.state) if asked_by_policy and not changed else self.state


def judge(
    assignment: Assignment, state: ScalingState, demand: Demand, steering: Steering, now: datetime
) -> Judged:
    """What the policy decides, and what people told the controller above it.

    Args:
        assignment: The pool.
        state: What the policy remembers of it.
        demand: The reading.
        steering: What people told its controller.
        now: The server's clock.
    """
    config = in_force(assignment.config, steering)
    before = in_time(state, demand.at)
    after, decision = decide(config, before, demand)
    policy = f"the policy says {decision.target}: {decision.text}"
    return Judged(
        assignment=assignment,
        config=config,
        before=before,
        state=after,
        demand=demand,
        decision=_steered(config, demand.ordered, steering, now, policy) or decision,
        at=now,
    )


def judge_blindly(
    assignment: Assignment, size: PoolSize, steering: Steering, now: datetime, why: str
) -> ScaleDecision:
    """What is decided where the work cannot be read: what people told, or no change, but for the least there may be.

    Args:
        assignment: The pool.
        size: How many workers it has.
        steering: What people told its controller.
        now: The server's clock.
        why: Why the work cannot be read.
    """
    config = in_force(assignment.config, steering)
    told = _steered(config, size.ordered, steering, now, why)
    if told is not None:
        return told
    if size.ordered < config.minimum:
        text = f"{why}: no fewer than {counted(config.minimum, 'worker', 'workers')} all the same"
        return ScaleDecision(config.minimum, ScaleCode.LIMIT, text)
    return ScaleDecision(size.ordered, ScaleCode.UNREADABLE, f"{why}: nothing is changed")


def in_force(config: ScalingConfig, steering: Steering) -> ScalingConfig:
    """A configuration with the limits that people told instead of its own; a limit pushes the other aside."""
    least = config.minimum if steering.minimum is None else steering.minimum
    most = config.maximum if steering.maximum is None else steering.maximum
    if steering.minimum is None:
        least = min(least, most)
    return replace(config, minimum=least, maximum=max(most, least, 1))


def _steered(
    config: ScalingConfig, ordered: int, steering: Steering, now: datetime, otherwise: str
) -> ScaleDecision | None:
    """What people told the controller, as long as it holds; none where they leave it to itself."""
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
    """What of another controller's memory holds for this one, which counts anew: no reading, but all lessons.

    Args:
        learned: What the other one remembered.
        now: The server's clock, in seconds. What is said to lie after it happened by another server's clock.
    """
    cap, changed = learned.cap, learned.changed_at
    return ScalingState(
        rates=learned.rates,
        start_up=learned.start_up,
        changed_at=None if changed is None else min(changed, now),
        direction=learned.direction,
        damping=learned.damping,
        peaks=tuple(peak for peak in learned.peaks if peak.at <= now),
        cap=None if cap is None else replace(cap, since=min(cap.since, now)),
    )


def in_time(state: ScalingState, now: float) -> ScalingState:
    """The memory beside a clock: where that has gone back, as after a failover, no reading of it can be compared."""
    if state.samples and now < state.samples[-1].at:
        return resumed(state, now)
    return state


def undone(before: ScalingState, after: ScalingState) -> ScalingState:
    """The memory of a decision that was not carried out: all it learned, and no change.

    Args:
        before: What was remembered before it.
        after: What ``decide`` left behind with it.
    """
    return replace(
        after,
        changed_at=before.changed_at,
        direction=before.direction,
        damping=before.damping,
        trial=None if after.trial is None else before.trial,
    )
