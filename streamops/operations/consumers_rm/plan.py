"""Removing a consumer: what the server says about it, and the plan."""

from datetime import timedelta
from typing import Final

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Identity, Impact, Plan
from streamops.model.entries import PendingEntry
from streamops.model.streams import Consumer
from streamops.model.wording import counted, idleness, span
from streamops.operations.commands import equivalent_command
from streamops.operations.consumers_rm.intent import RemoveConsumerIntent
from streamops.operations.planning import CONSUMER_UNIT, ENTRY_UNIT, fingerprint, sample


class RemoveConsumerEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about it.

    Attributes:
        identity: Which stream and group this is.
        consumer: The consumer.
        sample: The first of its pending rows.
        to_exists: Whether the one who gets them exists.
        polls_are_seen: Whether the server counts a consumer that asks in vain as active (from Redis 7.2 on).
    """

    identity: Identity
    consumer: Consumer
    sample: tuple[PendingEntry, ...]
    to_exists: bool
    polls_are_seen: bool


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
        impact=Impact.REVERSIBLE,
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
