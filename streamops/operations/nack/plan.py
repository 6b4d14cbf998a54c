"""Giving pending entries back: what the server says about them, and the plan."""

from collections.abc import Iterator

from msgspec import Struct

from streamops.model.acting import Identity, Impact, Plan
from streamops.model.entries import PendingEntry
from streamops.model.wording import counted, idleness
from streamops.operations.commands import equivalent_command
from streamops.operations.nack.intent import NackIntent
from streamops.operations.planning import fingerprint, sample


class NackEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about them.

    Attributes:
        identity: Which stream and group this is.
        rows: Those that can be given back, in the order asked for.
        absent: How many of the IDs are not pending in the group.
        elsewhere: How many are owned by another consumer than was asked for.
    """

    identity: Identity
    rows: tuple[PendingEntry, ...]
    absent: int
    elsewhere: int


def plan_nack(intent: NackIntent, evidence: NackEvidence) -> Plan:
    """Let other consumers have entries at once, without waiting for them to look abandoned."""
    rows = evidence.rows
    return Plan(
        operation="nack",
        target=f"{intent.stream}/{intent.group}",
        impact=Impact.REDELIVERS,
        count=len(rows),
        sample=sample(
            f"{row.id} owned by {row.consumer}, {idleness(row)}, "
            f"delivered {counted(row.delivery_count, 'time', 'times')}"
            for row in rows
        ),
        effects=tuple(_effects(evidence)) if rows else (),
        undo=_undo(len(rows)),
        command=equivalent_command("nack", intent),
        confirm=intent.stream,
        warnings=tuple(_warnings(evidence)),
        fingerprint=fingerprint([(row.id, row.consumer) for row in rows]),
    )


def _effects(evidence: NackEvidence) -> Iterator[str]:
    many = counted(len(evidence.rows), "entry", "entries")
    one = len(evidence.rows) == 1
    yield (
        f"{many} will be free for any consumer and keep {'its' if one else 'their'} owner until then, looking idle for 30 days: "
        f"whoever reclaims next (XAUTOCLAIM, XCLAIM with a least idle time) gets {'it' if one else 'them'}, "
        "whoever only reads does not."
    )
    yield "Deliveries stay as counted; each further one counts on, towards whatever limit the consumers have."
    which = "it" if one else "one of them"
    yield f"A worker that is still at {which} acknowledges it all the same; until then it may be processed twice."


def _undo(number: int) -> str:
    if not number:
        return ""
    if number == 1:
        return "`streamops undo` gives it its owner and idle time again, unless it was delivered by then."
    return "`streamops undo` gives them their owner and idle time again, except those that were delivered by then."


def _warnings(evidence: NackEvidence) -> Iterator[str]:
    reasons = (
        (evidence.absent, "not pending in this group"),
        (evidence.elsewhere, "owned by another consumer"),
    )
    if told := [f"{number:,} {why}" for number, why in reasons if number]:
        yield f"IDs that will be left out: {', '.join(told)}."
