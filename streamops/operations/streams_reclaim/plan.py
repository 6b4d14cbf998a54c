"""Reclaiming stale pending entries of a group: what the server says about them, and the plan."""

from collections.abc import Iterator
from datetime import timedelta

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Plan, StreamIdentity
from streamops.model.effects import DEAD_LETTERED, DELETED_RECORDED, HANDLED_AGAIN, TWICE, WAITING, Said
from streamops.model.envelopes import FASTSTREAM, TASKIQ
from streamops.model.fields import Passing
from streamops.model.pending import Stale, StaleRow
from streamops.model.streams import Consumer
from streamops.model.wording import first_few, span
from streamops.operations.planning import planned, times
from streamops.operations.streams_reclaim.intent import ReclaimIntent, Redelivery


class ReclaimEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about them.

    Attributes:
        identity: Which stream and group this is.
        stale: What is there to be done now.
        consumers: The group's consumers.
        others: The stream's other groups.
        queue: The dead-letter queue.
        library: The library whose envelope the first of the entries has; empty if it has none that is known.
    """

    identity: StreamIdentity
    stale: Stale
    consumers: Passing[tuple[Consumer, ...]] = ()
    others: tuple[str, ...] = ()
    queue: str = ""
    library: str = ""


RECENT = timedelta(seconds=60)
"""A consumer that was seen within this may be at work."""

OURS = "so-"
"""What the names of streamops's own consumers begin with."""


_HABITS = {
    FASTSTREAM: (
        "These are FastStream's: it does not reclaim what it read and did not acknowledge, unless "
        "a subscriber has a min_idle_time."
    ),
    TASKIQ: "These are taskiq's: it reclaims what was idle for its idle_timeout, 10 min unless set, and only once "
    "a new message comes.",
}
_FATES = {
    "redeliver": "delivered again",
    "bury": "to the dead letters",
    "gone": "deleted from the stream, to the dead letters",
}


def plan_reclaim(intent: ReclaimIntent, evidence: ReclaimEvidence) -> Plan:
    """Handle again what was left lying, and bury what was delivered too often.

    Raises:
        Forbidden: Other groups would get the entries too, and that was not allowed.
    """
    way, stale, most = redelivery(intent, evidence), evidence.stale, intent.max_deliveries
    when = "Once" if intent.every is None else f"Now, and every {_length(intent.every)} until it is stopped"
    begin = (
        f"{when}: pending entries not delivered for {_length(intent.min_idle)} are processed, each "
        "checked again in the step that moves and acknowledges it."
    )
    return planned(
        intent,
        stale.count,
        sample=map(_line, stale.sample),
        effects=[
            begin,
            HANDLED_AGAIN(stale.redeliver, most, _way(intent, evidence, way), group=intent.group),
            DEAD_LETTERED(stale.bury, most, evidence.queue, group=intent.group),
            DELETED_RECORDED(stale.gone, evidence.queue, group=intent.group),
            evidence.library and _HABITS[evidence.library],
        ],
        warnings=_warnings(intent, evidence, way),
        confirm=intent.group,
        recurring=intent.every is not None,
    )


def redelivery(intent: ReclaimIntent, evidence: ReclaimEvidence) -> Redelivery:
    """How entries are delivered again; raises ``Forbidden`` if that has to be said."""
    if intent.redeliver is not Redelivery.AUTO:
        return intent.redeliver
    if evidence.others:
        raise Forbidden(
            f"reclaim {intent.stream}/{intent.group}: other groups would get its entries again too: "
            f"{first_few(evidence.others)}",
            "Accept that with --redeliver add; or give entries to a consumer that reads its own history with "
            "--redeliver claim --to CONSUMER.",
        )
    return Redelivery.ADD


def _line(row: StaleRow) -> str:
    entry = row.entry
    return f"{entry.id} owned by {entry.consumer}, idle for {_length(entry.idle)}, {times(entry)}: {_FATES[row.fate]}"


def _way(intent: ReclaimIntent, evidence: ReclaimEvidence, way: Redelivery) -> str:
    if way is Redelivery.CLAIM:
        who = intent.to or "no consumer, so that XAUTOCLAIM takes them at once"
        reads = ", which has to read its own history (XREADGROUP with 0 in place of >)" if intent.to else ""
        return f"they are claimed for {who}{reads}. Nothing is added, and other groups are not affected."
    others = f" and to {first_few(evidence.others)}" if evidence.others else ""
    return (
        f"they are added to the stream again and acknowledged, so they reach {intent.group}{others} as new "
        "entries, behind all others, with the fields _so_origin_id and _so_attempt and their own fields."
    )


def _warnings(intent: ReclaimIntent, evidence: ReclaimEvidence, way: Redelivery) -> Iterator[Said]:
    stale, owners = evidence.stale, {name for name, _ in evidence.stale.owners}
    if way is Redelivery.ADD:
        yield TWICE(len(evidence.others), names=evidence.others)
    else:
        yield WAITING(stale.waiting, intent.to or "somebody", group=intent.group)
    recent = [
        f"{one.name} ({_length(one.idle)} ago)"
        for one in evidence.consumers
        if one.name in owners and one.idle < RECENT
    ]
    if recent:
        yield (
            f"Active lately, and perhaps still processing theirs: {first_few(recent)}. A handler that takes longer than "
            "--min-idle is run twice."
        )
    if any(one.name.startswith(OURS) for one in evidence.consumers):
        yield "Consumers of streamops are in this group, which reclaims and dead-letters by itself."


def _length(duration: timedelta) -> str:
    short = duration < timedelta(seconds=1)
    return f"{duration // timedelta(milliseconds=1)} ms" if short else span(duration)
