"""Pausing and resuming the workers of a pool: what the server says about it, and the plans."""

from typing import Final

from msgspec import Struct

from streamops.model.acting import Plan
from streamops.model.pools import Pool, PoolMode
from streamops.model.pools import Pool as PoolState
from streamops.model.wording import command, instant, quoted
from streamops.operations.planning import planned
from streamops.operations.pools.intent import PauseIntent, ResumeIntent


class PoolEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about a pool.

    Attributes:
        pool: What it was told last.
    """

    pool: PoolState


SOON: Final = "Workers notice with their next heartbeat: within five seconds, unless they beat less often."


def plan_pause(intent: PauseIntent, evidence: PoolEvidence) -> Plan:
    """Have the workers of a pool read nothing more; they stay, and so do their leases."""
    effects = (
        f"The workers of pool {quoted(intent.pool)} read and claim nothing more, those that start later included.",
        "They finish and acknowledge what is in flight; due delayed messages still become entries.",
        SOON,
    )
    return _plan(
        intent, evidence, effects, changes=evidence.pool.mode != PoolMode.PAUSED, back="pools resume"
    )


def plan_resume(intent: ResumeIntent, evidence: PoolEvidence) -> Plan:
    """Have them read again, from where the group stands."""
    effects = (
        f"The workers of pool {quoted(intent.pool)} resume reading, from their groups' positions.",
        SOON,
    )
    return _plan(intent, evidence, effects, changes=evidence.pool.mode == PoolMode.PAUSED, back="pools pause")


def _plan(
    intent: PauseIntent | ResumeIntent,
    evidence: PoolEvidence,
    effects: tuple[str, ...],
    *,
    changes: bool,
    back: str,
) -> Plan:
    return planned(
        intent,
        int(changes),
        unit=("pool", "pools"),
        sample=[_stands(evidence.pool)],
        effects=effects if changes else (),
        opposite=command(back, intent.pool) if changes else "",
    )


def _stands(pool: Pool) -> str:
    if not pool.mode:
        return f"{quoted(pool.name)}: running"
    who = f" by {quoted(pool.updated_by)}" if pool.updated_by else ""
    when = f" at {instant(pool.updated_at)}" if pool.updated_at else ""
    return f"{quoted(pool.name)}: {quoted(pool.mode)}{who}{when}"
