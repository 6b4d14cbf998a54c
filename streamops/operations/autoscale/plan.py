"""Resizing pools of workers by hand, and overriding their controllers: what the server says about them, and the plans."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import Forbidden, SettingsError, StalePlan
from streamops.model.acting import Plan
from streamops.model.effects import RESIZED
from streamops.model.pools import Pool, PoolOverrides, PoolSize
from streamops.model.text import safe
from streamops.model.wording import command, counted, instant, quoted, span
from streamops.operations.autoscale.intent import (
    ControllerIntent,
    LimitsIntent,
    OverrideIntent,
    PauseScalingIntent,
    ResumeScalingIntent,
    ScaleIntent,
)
from streamops.operations.commands import equivalent_command
from streamops.operations.planning import planned


class ScaleEvidence(Struct, frozen=True, kw_only=True):
    """What the target and the server say about a pool.

    Attributes:
        pool: Its override, limits and pause, and who set them.
        size: How many workers its target has.
        target: What that is, in words.
        kind: Its kind.
        now: The server's clock; None if it may not be asked.
    """

    pool: Pool
    size: PoolSize
    target: str
    kind: str
    now: datetime | None


class OverridesEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about a pool and its controller.

    Attributes:
        pool: What they were told.
        now: The server's clock; None if it may not be asked.
    """

    pool: Pool
    now: datetime | None


MOST_WORKERS: Final = 100_000
LOCAL: Final = "local"


UNIT: Final = ("pool", "pools")


def plan_scale(intent: ScaleIntent, evidence: ScaleEvidence) -> Plan:
    """Ask the target of a pool for another number of workers.

    Raises:
        SettingsError: That is no number of workers.
        StalePlan: It does not have the number that it was to have.
    """
    _require_number(intent.workers)
    before, after = evidence.size.ordered, intent.workers
    if intent.current not in (None, before):
        raise StalePlan(
            f"pool {intent.pool} has {_workers(before)}, not {intent.current}",
            f"`{command('pools show', intent.pool)}` shows it.",
        )
    changes = before != after
    return planned(
        intent,
        int(changes),
        unit=UNIT,
        sample=[_size(evidence)],
        effects=[RESIZED(after, f"{before:,}"), _what_happens(evidence, after)]
        if changes
        else [f"Pool {quoted(intent.pool)} already has {_workers(before)}."],
        opposite=command("pools scale", intent.pool, str(before)) if changes else "",
        warnings=_scale_warnings(evidence, after),
    )


def plan_overrides(intent: ControllerIntent, evidence: OverridesEvidence) -> Plan:
    """Steer the controller of a pool.

    Raises:
        SettingsError: A number or a span makes no sense.
        Forbidden: The server's clock may not be asked, and until when it is to hold is counted by it.
    """
    known, asked, now = evidence.pool.steering, steered(intent, evidence), evidence.now
    changes = replace(asked, by="", at=None, reason="") != replace(known, by="", at=None, reason="")
    back, pool = steered_back(intent, known), quoted(intent.pool)
    nobody = f"No controller scales pool {pool} now: this applies once one runs: `{evidence.pool.controller_command}`."
    return planned(
        intent,
        int(changes),
        unit=UNIT,
        sample=[f"{pool}: {overrides_words(known, now)}"],
        effects=[_ended(known, asked, now), _overrides_effect(intent, asked)]
        if changes
        else [f"Nothing changes for pool {pool}: {overrides_words(known, now)}."],
        opposite=equivalent_command(back.operation, back) if changes and back != intent else "",
        warnings=[_beyond_limits(evidence.pool, asked), not is_led(evidence.pool, now) and nobody],
    )


def steered(intent: ControllerIntent, evidence: OverridesEvidence) -> PoolOverrides:
    """What the controller would be told.

    Raises:
        SettingsError: A number or a span makes no sense.
        Forbidden: The server's clock may not be asked.
    """
    known = evidence.pool.steering
    match intent:
        case PauseScalingIntent():
            return replace(known, paused=True, override=None, until=_until(intent.span, evidence.now))
        case ResumeScalingIntent():
            return replace(known, paused=False, override=None, until=None)
        case OverrideIntent():
            _require_number(intent.workers)
            until = _until(intent.span, evidence.now)
            return replace(known, paused=False, override=intent.workers, until=until)
        case LimitsIntent():
            kept = replace(known, minimum=None, maximum=None) if intent.reset else known
            minimum = kept.minimum if intent.minimum is None else intent.minimum
            maximum = kept.maximum if intent.maximum is None else intent.maximum
            _require_limits(minimum, maximum)
            return replace(known, minimum=minimum, maximum=maximum)


def steered_back(intent: ControllerIntent, known: PoolOverrides) -> ControllerIntent:
    """What tells the controller what it was told before; what was to end by itself does not come back.

    Args:
        intent: What is taken back.
        known: What it had been told.
    """
    if isinstance(intent, LimitsIntent):
        reset = known.minimum is None or known.maximum is None
        return LimitsIntent(pool=intent.pool, minimum=known.minimum, maximum=known.maximum, reset=reset)
    if known.paused and known.until is None:
        return PauseScalingIntent(pool=intent.pool)
    return ResumeScalingIntent(pool=intent.pool)


def overrides_words(steering: PoolOverrides, now: datetime | None = None) -> str:
    """What a controller was told, in words; what was over by then is not told."""
    told = []
    if is_steered(steering, now):
        kept = steering.override
        told.append(("paused" if kept is None else f"kept at {_workers(kept)}") + _until_words(steering))
    if steering.minimum is not None:
        told.append(f"at least {steering.minimum:,}")
    if steering.maximum is not None:
        told.append(f"at most {steering.maximum:,}")
    who = f" ({quoted(steering.by)})" if told and steering.by else ""
    return (", ".join(told) or "the policy decides") + who


def is_steered(steering: PoolOverrides, now: datetime | None = None) -> bool:
    """Whether a controller was told not to follow its policy, and that is not over by then."""
    return (steering.paused or steering.override is not None) and not _is_over(steering, now)


def is_led(pool: Pool, now: datetime | None) -> bool:
    """Whether a controller decides about a pool, by its lease; its word is taken without a clock."""
    return pool.lead is not None and (now is None or pool.lead.until > now)


def _ended(known: PoolOverrides, asked: PoolOverrides, now: datetime | None) -> str:
    """What holds until now and does not any more."""
    if known.override is None or known.override == asked.override or _is_over(known, now):
        return ""
    return f"It is no longer kept at {_workers(known.override)}."


def _beyond_limits(pool: Pool, asked: PoolOverrides) -> str:
    """That an override lies beyond the limits of the pool, which it takes precedence over."""
    minimum = pool.minimum if asked.minimum is None else asked.minimum
    maximum = pool.maximum if asked.maximum is None else asked.maximum
    workers = asked.override
    if workers is None or (minimum or 0) <= workers <= (MOST_WORKERS if maximum is None else maximum):
        return ""
    most = "" if maximum is None else f" to {maximum:,}"
    return f"{_workers(workers)} is beyond the limits of the pool, {minimum or 0:,}{most}: an override takes precedence over them."


def _overrides_effect(intent: ControllerIntent, asked: PoolOverrides) -> str:
    pool, until = quoted(intent.pool), _until_words(asked)
    match intent:
        case PauseScalingIntent():
            return f"The controller of pool {pool} changes nothing{until or ', until it is resumed'}."
        case ResumeScalingIntent():
            return f"The policy sets the worker count of pool {pool} again."
        case OverrideIntent():
            return f"The controller keeps pool {pool} at {_workers(intent.workers)}{until}, whatever the lag."
        case LimitsIntent():
            least = "the configured minimum" if asked.minimum is None else f"{asked.minimum:,}"
            most = "the configured maximum" if asked.maximum is None else f"{asked.maximum:,}"
            return f"Pool {pool} has from {least} to {most} workers, from the next decision on."


def _until_words(steering: PoolOverrides) -> str:
    return "" if steering.until is None else f" until {instant(steering.until)}"


def _scale_warnings(evidence: ScaleEvidence, after: int) -> Iterator[str]:
    pool = evidence.pool
    if is_led(pool, evidence.now) and pool.lead is not None:
        kept = OverrideIntent(pool=pool.name, workers=after)
        yield (
            f"{quoted(pool.lead.holder)} scales this pool and may set another count within seconds; "
            f"`{equivalent_command(kept.operation, kept)}` fixes it for {span(kept.span)}."
        )
    if pool.minimum is not None and after < pool.minimum:
        yield f"That is below the pool's minimum, {_workers(pool.minimum)}."
    if pool.maximum is not None and after > pool.maximum:
        yield f"That is above the pool's maximum, {_workers(pool.maximum)}."


def _what_happens(evidence: ScaleEvidence, after: int) -> str:
    if after > evidence.size.ordered:
        return "New workers read as soon as they have started."
    if evidence.kind == LOCAL:
        return "Workers that stop read nothing more, finish and acknowledge what is in flight; idle ones stop first."
    return (
        "The target chooses which workers stop, and when: entries that one has not acknowledged stay "
        "pending until they are claimed."
    )


def _size(evidence: ScaleEvidence) -> str:
    size = evidence.size
    ready = "it does not report how many are ready" if size.ready is None else f"{size.ready:,} ready"
    return f"{quoted(evidence.pool.name)} ({safe(evidence.target)}): {_workers(size.ordered)}, {ready}"


def _until(length: timedelta | None, now: datetime | None) -> datetime | None:
    if length is None:
        return None
    if length <= timedelta(0):
        raise SettingsError("--for: the duration must be greater than 0", "Write --for 1h.")
    if now is None:
        raise Forbidden("the server's clock cannot be read", "Allow the user TIME, or leave out --for.")
    return now + length


def _require_number(workers: int) -> None:
    if not 0 <= workers <= MOST_WORKERS:
        raise SettingsError(
            f"{workers:,} is not a worker count", f"Give a number from 0 to {MOST_WORKERS:,}."
        )


def _require_limits(minimum: int | None, maximum: int | None) -> None:
    least, most = minimum or 0, MOST_WORKERS if maximum is None else maximum
    _require_number(least)
    _require_number(most)
    if most == 0:
        raise SettingsError(
            "--maximum 0 would leave no workers", "`pools scale` or `pools override` do that."
        )
    if least > most:
        raise SettingsError(
            f"the minimum, {least:,}, would be above the maximum, {most:,}", "Give --minimum and --maximum."
        )


def _is_over(steering: PoolOverrides, now: datetime | None) -> bool:
    return now is not None and steering.until is not None and steering.until <= now


def _workers(count: int) -> str:
    return counted(count, "worker", "workers")
