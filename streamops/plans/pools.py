"""Pausing and resuming the workers of a pool."""

from typing import Final

from streamops.analysis.wording import command, instant, quoted
from streamops.model.acting import Plan, Tier
from streamops.model.acts.pools import PauseIntent, PoolEvidence, ResumeIntent
from streamops.plans.evidence import fingerprint

PAUSED: Final = "paused"
SOON: Final = "Workers notice with their next heartbeat: within five seconds, unless they beat less often."


def plan_pause(intent: PauseIntent, evidence: PoolEvidence) -> Plan:
    """Have the workers of a pool read nothing more; they stay, and so do their leases."""
    effects = (
        f"The workers of pool {quoted(intent.pool)} read and take over nothing more; those that start later, neither.",
        "What they have in hand they finish and acknowledge; delayed messages still become entries.",
        SOON,
    )
    return _plan("pause", intent.pool, evidence, effects, changes=evidence.mode != PAUSED, back="resume")


def plan_resume(intent: ResumeIntent, evidence: PoolEvidence) -> Plan:
    """Have them read again, from where the group stands."""
    effects = (f"The workers of pool {quoted(intent.pool)} read again, from where their groups stand.", SOON)
    return _plan("resume", intent.pool, evidence, effects, changes=evidence.mode == PAUSED, back="pause")


def _plan(
    verb: str, pool: str, evidence: PoolEvidence, effects: tuple[str, ...], *, changes: bool, back: str
) -> Plan:
    return Plan(
        operation=verb,
        target=pool,
        tier=Tier.REVERSIBLE,
        count=int(changes),
        unit=("pool", "pools"),
        sample=(_stands(pool, evidence),),
        effects=effects if changes else (),
        undo=f"`{command(back, pool)}`" if changes else "",
        command=command(verb, pool),
        fingerprint=fingerprint(pool, evidence.mode),
    )


def _stands(pool: str, evidence: PoolEvidence) -> str:
    if not evidence.mode:
        return f"{quoted(pool)}: nobody has told it anything yet"
    who = f" by {quoted(evidence.updated_by)}" if evidence.updated_by else ""
    when = f" at {instant(evidence.updated_at)}" if evidence.updated_at else ""
    return f"{quoted(pool)}: {quoted(evidence.mode)}{who}{when}"
