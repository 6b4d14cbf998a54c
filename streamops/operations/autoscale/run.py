"""``pools scale``, and what people tell the controllers of pools: ``autoscale pause|resume``, ``pools override|limits``."""

from typing import Any, Final

from msgspec.structs import replace

from streamops.model.acting import Plan
from streamops.monitor.context import ServerContext
from streamops.monitor.pools import PoolReader
from streamops.operations.autoscale.intent import (
    ControllerIntent,
    LimitsIntent,
    OverrideIntent,
    PauseScalingIntent,
    ResumeScalingIntent,
    ScaleIntent,
)
from streamops.operations.autoscale.plan import (
    OverridesEvidence,
    ScaleEvidence,
    is_led,
    plan_overrides,
    plan_scale,
    steered,
)
from streamops.operations.operation import Operation, Writes
from streamops.operations.running import Run
from streamops.targets.target import Target
from streamops.wire.keys import pool_key
from streamops.wire.pools.leading import keep_lease, require_token
from streamops.wire.pools.records import read_pool, steer
from streamops.wire.reads import read_clock


async def survey_scale(place: ServerContext, intent: ScaleIntent) -> ScaleEvidence:
    """Ask the server and the target; raises what ``Target.read`` raises.

    What a controller decided is not even looked into once another one leads.
    """
    target = place.targets.of(place.server, intent.pool)
    now = await read_clock(place.server, pool_key(intent.pool))
    pool = await read_pool(place.server, intent.pool)
    if intent.token is not None:
        require_token(pool, intent.token, now)
    return ScaleEvidence(pool=pool, size=await target.read(), target=target.label, kind=target.kind, now=now)


async def apply_scale(run: Run, intent: ScaleIntent, evidence: ScaleEvidence, _plan: Plan) -> None:
    """Ask the target, unless it has another number by now; a controller holds on to its lead right before that."""
    target: Target = run.targets.of(run.server, intent.pool)
    reason = intent.because or run.reason or "scaled by an operator"
    key = run.audit_id or f"{intent.pool}-{evidence.size.ordered}-{intent.workers}"
    if intent.token is not None:
        await keep_lease(run.server, intent.pool, intent.token)
    await target.resize(intent.workers, evidence.size, reason=reason, key=key)
    run.note(f"pool {intent.pool} was asked for {intent.workers:,} workers")
    await run.report(1)


async def survey_overrides(place: ServerContext, intent: ControllerIntent) -> OverridesEvidence:
    """Read what the pool's controller was told; raises ``NotFound`` if there is no such pool."""
    return OverridesEvidence(
        pool=await PoolReader(place).known(intent.pool),
        now=await read_clock(place.server, pool_key(intent.pool)),
    )


async def apply_overrides(
    run: Run, intent: ControllerIntent, evidence: OverridesEvidence, _plan: Plan
) -> None:
    """Tell it, unless the pool was changed since the plan was made."""
    known = evidence.pool.steering
    asked = replace(steered(intent, evidence), by=str(run.actor), reason=run.reason)
    await steer(run.server, intent.pool, known, asked)
    if is_led(evidence.pool, evidence.now):
        run.note("its controller follows with its next decision")
    await run.report(1)


def _overrides(intent: type[Any]) -> Operation[Any, Any]:
    return Operation(
        intent=intent,
        survey=survey_overrides,
        plan=plan_overrides,
        apply=apply_overrides,
        writes=_pool_writes,
        key="",
        own=True,
    )


def _pool_writes(intent: ScaleIntent | ControllerIntent) -> Writes:
    key = pool_key(intent.pool)
    return ("HGET", key), ("HSET", key), ("HDEL", key)


SCALE: Final = Operation(
    intent=ScaleIntent,
    survey=survey_scale,
    plan=plan_scale,
    apply=apply_scale,
    writes=_pool_writes,
    key="",
    own=True,
)
CONTROLLER_OPERATIONS: Final = tuple(
    map(_overrides, (PauseScalingIntent, ResumeScalingIntent, OverrideIntent, LimitsIntent))
)
OPERATIONS: Final = (SCALE, *CONTROLLER_OPERATIONS)
