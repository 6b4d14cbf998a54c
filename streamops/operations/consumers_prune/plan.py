"""Removing idle consumers: what the server says about them, and the plan."""

from typing import Final

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Plan, StreamIdentity
from streamops.model.effects import IDLE_REMOVED, KEPT_ACTIVE, KEPT_PENDING
from streamops.model.fields import Passing
from streamops.model.streams import Consumer
from streamops.model.wording import span
from streamops.operations.consumers_prune.intent import PruneConsumersIntent
from streamops.operations.planning import CONSUMER_UNIT, planned


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

    identity: StreamIdentity
    idle: tuple[Consumer, ...]
    kept: Passing[tuple[Consumer, ...]]
    active: Passing[int]
    replica: bool
    polls_are_seen: bool


POLLS_UNSEEN: Final = (
    "On this server a consumer that polls an empty stream looks idle too (Redis 7.2 and later tell "
    "them apart). Removing it does no harm: it is created again with its next entry."
)


def plan_prune_consumers(intent: PruneConsumersIntent, evidence: PruneConsumersEvidence) -> Plan:
    """Remove idle consumers with nothing pending. Raises ``Forbidden`` on a replica."""
    if evidence.replica:
        raise Forbidden(
            "this server is a replica: how long a consumer has been idle is not known here",
            "A replica does not see polls. Connect to the primary.",
        )
    idle, kept, active = evidence.idle, evidence.kept, evidence.active
    return planned(
        intent,
        len(idle),
        target=f"{intent.stream}/{intent.group}",
        unit=CONSUMER_UNIT,
        sample=(f"{consumer.name}, idle for {span(consumer.idle)}" for consumer in idle),
        effects=[
            IDLE_REMOVED(len(idle), span(intent.idle), group=intent.group),
            bool(idle) and "A removed consumer is created again when it reads again.",
            KEPT_PENDING(len(kept), names=[f"{one.name} ({one.pending:,})" for one in kept]),
            KEPT_ACTIVE(active),
            not (idle or kept or active) and f"Group {intent.group} has no consumers.",
        ],
        warnings=[bool(idle) and not evidence.polls_are_seen and POLLS_UNSEEN],
    )
