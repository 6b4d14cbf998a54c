"""What the policy remembers, as far as it holds: across controllers, clocks, and changes that were never made. Pure."""

from msgspec.structs import replace

from streamops.scaling.state import ScalingState


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
