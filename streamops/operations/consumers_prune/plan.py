"""Removing idle consumers: what the server says about them, and the plan."""

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Identity, Impact, Plan
from streamops.model.streams import Consumer
from streamops.model.wording import counted, first_few, span
from streamops.operations.commands import equivalent_command
from streamops.operations.consumers_prune.intent import PruneConsumersIntent
from streamops.operations.planning import CONSUMER_UNIT, fingerprint, sample


class PruneConsumersEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about them.

    Attributes:
        identity: Which stream and group this is.
        idle: Those that were idle for long enough and have nothing pending, longest idle first.
        kept: Those that were idle for long enough, but have pending entries.
        active: How many are not idle for long enough.
        replica: Whether the server is a replica, which does not learn of polls.
        polls_are_seen: Whether the server counts a consumer that asks in vain as active (from Redis 7.2 on).
    """

    identity: Identity
    idle: tuple[Consumer, ...]
    kept: tuple[Consumer, ...]
    active: int
    replica: bool
    polls_are_seen: bool


def plan_prune_consumers(intent: PruneConsumersIntent, evidence: PruneConsumersEvidence) -> Plan:
    """Remove idle consumers with nothing pending. Raises ``Forbidden`` on a replica."""
    if evidence.replica:
        raise Forbidden(
            "this server is a replica: how long a consumer has been idle is not known here",
            "A replica does not learn of polls. Connect to the primary.",
        )
    idle = evidence.idle
    return Plan(
        operation="consumers.prune",
        target=f"{intent.stream}/{intent.group}",
        impact=Impact.REVERSIBLE,
        count=len(idle),
        unit=CONSUMER_UNIT,
        sample=sample(f"{consumer.name}, idle for {span(consumer.idle)}" for consumer in idle),
        effects=tuple(_effects_of_pruning(intent, evidence)),
        command=equivalent_command("consumers.prune", intent),
        confirm=intent.group,
        warnings=_warnings_of_pruning(evidence),
        fingerprint=fingerprint([consumer.name for consumer in idle], intent.idle),
    )


def _effects_of_pruning(intent: PruneConsumersIntent, evidence: PruneConsumersEvidence) -> list[str]:
    effects = []
    if evidence.idle:
        effects.append(
            f"{counted(len(evidence.idle), 'consumer', 'consumers')} of group {intent.group}, idle for {span(intent.idle)} "
            "and with nothing pending, will be removed; one that is not so any more then is left alone."
        )
        effects.append("A consumer of such a name comes back by itself when it reads again.")
    if kept := evidence.kept:
        names = first_few([f"{consumer.name} ({consumer.pending:,})" for consumer in kept])
        effects.append(
            f"Kept, because they have pending entries: {names}. `streamops consumers rm --to` moves those."
        )
    if evidence.active:
        effects.append(
            f"{counted(evidence.active, 'consumer is', 'consumers are')} not idle for so long, and kept."
        )
    if not evidence.idle and not evidence.kept and not evidence.active:
        effects.append(f"Group {intent.group} has no consumers.")
    return effects


def _warnings_of_pruning(evidence: PruneConsumersEvidence) -> tuple[str, ...]:
    if evidence.polls_are_seen or not evidence.idle:
        return ()
    told = (
        "On this server a consumer that waits in vain for entries looks idle too (Redis 7.2 and later tell)."
    )
    return (f"{told} Removing such a one does no harm: it is there again with the next entry.",)
