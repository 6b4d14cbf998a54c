"""``pools pause`` and ``pools resume``: what all workers of a pool are told."""

from typing import Final

from streamops.model.acting import Plan
from streamops.model.pools import Pool, PoolMode
from streamops.monitor.context import ServerContext
from streamops.monitor.pools import PoolReader
from streamops.operations.operation import Operation, Writes
from streamops.operations.pools.intent import PauseIntent, ResumeIntent
from streamops.operations.pools.plan import PoolEvidence, plan_pause, plan_resume
from streamops.operations.running import Run
from streamops.wire.keys import pool_key
from streamops.wire.pools.records import set_mode


async def survey_pool(place: ServerContext, intent: PauseIntent | ResumeIntent) -> PoolEvidence:
    """Read what the pool was told last; raises ``NotFound`` if there is no such pool."""
    return PoolEvidence(pool=await PoolReader(place).known(intent.pool))


async def apply_pause(run: Run, _intent: PauseIntent, evidence: PoolEvidence, _plan: Plan) -> None:
    """Tell it to pause."""
    await _change_mode(run, evidence.pool, PoolMode.PAUSED)


async def apply_resume(run: Run, _intent: ResumeIntent, evidence: PoolEvidence, _plan: Plan) -> None:
    """Tell it to go on."""
    await _change_mode(run, evidence.pool, PoolMode.RUNNING)


async def _change_mode(run: Run, pool: Pool, mode: PoolMode) -> None:
    reason = "paused by an operator" if mode is PoolMode.PAUSED else "resumed by an operator"
    await set_mode(run.server, pool, mode, reason=reason, actor=str(run.actor))
    run.note(f"pool {pool.name} is {mode}")
    await run.report(1)


def _writes(intent: PauseIntent | ResumeIntent) -> Writes:
    key = pool_key(intent.pool)
    return ("HGET", key), ("HSET", key)


PAUSE: Final = Operation(
    intent=PauseIntent,
    survey=survey_pool,
    plan=plan_pause,
    apply=apply_pause,
    writes=_writes,
    key="",
    own=True,
)
RESUME: Final = Operation(
    intent=ResumeIntent,
    survey=survey_pool,
    plan=plan_resume,
    apply=apply_resume,
    writes=_writes,
    key="",
    own=True,
)
OPERATIONS = (PAUSE, RESUME)
