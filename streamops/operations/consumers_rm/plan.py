"""Removing a consumer: what the server says about it, and the plan."""

from datetime import timedelta
from typing import Final

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Plan, StreamIdentity
from streamops.model.effects import CONSUMER_REMOVED, HANDED_OVER
from streamops.model.entries import PendingEntry
from streamops.model.streams import Consumer
from streamops.model.wording import counted, span
from streamops.operations.consumers_rm.intent import RemoveConsumerIntent
from streamops.operations.planning import CONSUMER_UNIT, ENTRY_UNIT, planned, row_line, target_of


class RemoveConsumerEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about it.

    Attributes:
        identity: Which stream and group this is.
        consumer: The consumer.
        sample: The first of its pending rows.
        to_exists: Whether the one who gets them exists.
        polls_are_seen: Whether the server counts a consumer that asks in vain as active (from Redis 7.2 on).
    """

    identity: StreamIdentity
    consumer: Consumer
    sample: tuple[PendingEntry, ...]
    to_exists: bool
    polls_are_seen: bool


LIVELY: Final = timedelta(minutes=5)
"""A consumer seen within this time may well be at work."""


UNDO: Final = "`streamops undo` creates it again with those of its entries that are still pending."


def plan_remove_consumer(intent: RemoveConsumerIntent, evidence: RemoveConsumerEvidence) -> Plan:
    """Hand a consumer's pending entries over and remove it.

    Raises:
        Forbidden: It has pending entries, and no receiver was named for them.
    """
    consumer, pending = evidence.consumer, evidence.consumer.pending
    if pending and intent.to is None:
        raise Forbidden(
            f"consumer {target_of(intent)} has {counted(pending, 'pending entry', 'pending entries')}, "
            "which would be lost with it",
            "Name the consumer that gets them with --to CONSUMER.",
        )
    seen = consumer.idle if consumer.inactive is None else min(consumer.idle, consumer.inactive)
    last = "polled for entries" if evidence.polls_are_seen else "got an entry"
    return planned(
        intent,
        pending or 1,
        unit=ENTRY_UNIT if pending else CONSUMER_UNIT,
        sample=(row_line(row, owned=False) for row in evidence.sample),
        effects=[
            HANDED_OVER(pending, f"consumer {intent.to}{'' if evidence.to_exists else ', which is created'}"),
            CONSUMER_REMOVED(1, intent.consumer, group=intent.group, names=[intent.consumer]),
            "A consumer of that name is created again when it reads again.",
        ],
        warnings=[
            pending
            and seen < LIVELY
            and f"It last {last} {span(seen)} ago: if it is working, entries handed over may be processed twice."
        ],
        undo=UNDO if pending else "",
    )
