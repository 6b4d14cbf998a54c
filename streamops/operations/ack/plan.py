"""Acknowledging pending entries by hand: what the server says about them, and the plan."""

from msgspec import Struct

from streamops.model.acting import Identity, Impact, Plan
from streamops.model.entries import PendingEntry
from streamops.model.ids import EntryId
from streamops.model.wording import counted
from streamops.operations.ack.intent import AckIntent
from streamops.operations.commands import equivalent_command
from streamops.operations.planning import fingerprint, sample


class AckEvidence(Struct, frozen=True):
    """What the server says about them.

    Attributes:
        identity: Which stream and group this is.
        rows: Those that are pending, in the order asked for.
        existing: Which of those still exist as entries.
        other_groups: The stream's other groups.
    """

    identity: Identity
    rows: tuple[PendingEntry, ...]
    existing: frozenset[EntryId]
    other_groups: tuple[str, ...]


def plan_ack(intent: AckIntent, evidence: AckEvidence) -> Plan:
    """Acknowledge what is pending among the IDs given."""
    rows = evidence.rows
    owners = sorted({row.consumer for row in rows})
    effects = []
    if rows:
        effects.append(
            f"{counted(len(rows), 'entry', 'entries')} will count as processed by group {intent.group}; "
            f"{'consumer' if len(owners) == 1 else 'consumers'} {', '.join(owners)} will not get them again."
        )
        if evidence.other_groups:
            effects.append(f"Other groups ({', '.join(evidence.other_groups)}) are not touched.")
    gone = [row for row in rows if row.id not in evidence.existing]
    warnings = []
    if absent := len(intent.ids) - len(rows):
        warnings.append(
            f"{counted(absent, 'ID is', 'IDs are')} not pending in this group, and will be left out."
        )
    return Plan(
        operation="ack",
        target=f"{intent.stream}/{intent.group}",
        impact=Impact.REDELIVERS,
        count=len(rows),
        sample=sample(
            f"{row.id} owned by {row.consumer}, delivered {counted(row.delivery_count, 'time', 'times')}"
            for row in rows
        ),
        effects=tuple(effects),
        loses=f"{counted(len(gone), 'pending row', 'pending rows')} of entries that no longer exist."
        if gone
        else "",
        command=equivalent_command("ack", intent),
        confirm=intent.stream,
        warnings=tuple(warnings),
        fingerprint=fingerprint(
            evidence.identity.positions, [(row.id, row.consumer, row.delivery_count) for row in rows]
        ),
    )
