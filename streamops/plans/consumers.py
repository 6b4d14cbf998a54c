"""Removing consumers."""

from datetime import timedelta
from typing import Final

from streamops.errors import Forbidden
from streamops.model.acting import Plan, Tier
from streamops.model.acts.consumers import (
    PruneConsumersEvidence,
    PruneConsumersIntent,
    RemoveConsumerEvidence,
    RemoveConsumerIntent,
)
from streamops.model.streams import Consumer
from streamops.model.wording import counted, first_few, idleness, span
from streamops.plans.commands import equivalent_command
from streamops.plans.evidence import fingerprint, sample

CONSUMER_UNIT: Final[tuple[str, str]] = ("consumer", "consumers")
ENTRY_UNIT: Final[tuple[str, str]] = ("entry", "entries")

LIVELY: Final = timedelta(minutes=5)
"""A consumer seen within this time may well be at work."""


def plan_remove_consumer(intent: RemoveConsumerIntent, evidence: RemoveConsumerEvidence) -> Plan:
    """Hand a consumer's pending entries over and remove it.

    Raises:
        Forbidden: It has pending entries, and nobody is named to get them.
    """
    consumer = evidence.consumer
    _forbid_losing(intent, consumer)
    return Plan(
        operation="consumers.rm",
        target=f"{intent.stream}/{intent.group}/{intent.consumer}",
        tier=Tier.REVERSIBLE,
        count=consumer.pending or 1,
        unit=ENTRY_UNIT if consumer.pending else CONSUMER_UNIT,
        sample=sample(
            f"{row.id} {idleness(row)}, delivered {counted(row.delivery_count, 'time', 'times')}"
            for row in evidence.sample
        ),
        effects=tuple(_effects_of_removing(intent, evidence)),
        undo="`streamops undo` gives it the entries back that are still pending, and with them it is there again."
        if consumer.pending
        else "",
        command=equivalent_command("consumers.rm", intent),
        confirm=intent.consumer,
        warnings=tuple(_warnings_of_removing(evidence)),
        fingerprint=fingerprint(consumer.name, consumer.pending, [str(row.id) for row in evidence.sample]),
    )


def _forbid_losing(intent: RemoveConsumerIntent, consumer: Consumer) -> None:
    name = f"consumer {intent.stream}/{intent.group}/{intent.consumer}"
    if consumer.pending and intent.to is None:
        raise Forbidden(
            f"{name} has {counted(consumer.pending, 'pending entry', 'pending entries')}, which would be lost with it",
            "Name who gets them with --to CONSUMER.",
        )


def _effects_of_removing(intent: RemoveConsumerIntent, evidence: RemoveConsumerEvidence) -> list[str]:
    consumer, effects = evidence.consumer, []
    if consumer.pending:
        whom = f"consumer {intent.to}{'' if evidence.to_exists else ', which is created'}"
        effects.append(
            f"{counted(consumer.pending, 'pending entry is', 'pending entries are')} handed to {whom}; "
            "idle times and delivery counts stay as they are."
        )
    effects.append(
        f"Consumer {intent.consumer} is removed, in one step that insists on it having nothing pending then."
    )
    effects.append("A consumer of that name comes back by itself when it reads again.")
    return effects


def _warnings_of_removing(evidence: RemoveConsumerEvidence) -> list[str]:
    consumer = evidence.consumer
    seen = consumer.idle if consumer.inactive is None else min(consumer.idle, consumer.inactive)
    if not consumer.pending or seen >= LIVELY:
        return []
    what = "asked for entries or got some" if evidence.polls_are_seen else "got an entry"
    return [f"It last {what} {span(seen)} ago: if it is at work, what is handed over may be processed twice."]


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
        tier=Tier.REVERSIBLE,
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
