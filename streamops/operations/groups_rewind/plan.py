"""Moving a consumer group's position: what the server says about the entries in between, and the plan."""

from msgspec import Struct

from streamops.model.acting import Identity, Impact, Plan
from streamops.model.entries import Amount
from streamops.model.ids import EntryId
from streamops.model.wording import counted, first_few
from streamops.operations.commands import equivalent_command
from streamops.operations.groups_rewind.intent import RewindGroupIntent
from streamops.operations.planning import amount, fingerprint


class Overlap(Struct, frozen=True):
    """Entries that would be delivered again while they are still pending.

    Attributes:
        entries: How many.
        owners: How many of them by owner, most first.
        complete: Whether all were counted; otherwise there are at least so many.
    """

    entries: int = 0
    owners: tuple[tuple[str, int], ...] = ()
    complete: bool = True


class RewindGroupEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about it.

    Attributes:
        identity: Which stream and group this is.
        position: Where the group stands.
        target: Where it would stand.
        last_generated_id: The stream's last generated ID.
        between: How many entries are between the two.
        overlap: Those of them that are pending; nothing where it goes forward.
        entries_read: The server's counter at the target; none where it has none, or it is not known.
        consumers: How many consumers the group has.
        other_groups: The stream's other groups.
    """

    identity: Identity
    position: EntryId
    target: EntryId
    last_generated_id: EntryId
    between: Amount
    overlap: Overlap
    entries_read: int | None
    consumers: int
    other_groups: tuple[str, ...]


class FormerPosition(Struct, frozen=True):
    """What undoing needs.

    Attributes:
        position: Where the group stood.
        entries_read: The server's counter there; none where it had none.
        back: Whether it was set back from there.
    """

    position: EntryId
    entries_read: int | None
    back: bool = False


def plan_rewind_group(intent: RewindGroupIntent, evidence: RewindGroupEvidence) -> Plan:
    """Set a group back, so that it is given entries again, or forward, so that it is never given some."""
    back = evidence.target < evidence.position
    return Plan(
        operation="groups.rewind",
        target=f"{intent.stream}/{intent.group}",
        impact=Impact.REDELIVERS,
        count=evidence.between.upper,
        effects=tuple(_effects_of_rewinding(intent, evidence, back=back)),
        undo=_undo_of_rewinding(evidence, back=back),
        command=equivalent_command("groups.rewind", intent),
        confirm=intent.group,
        warnings=tuple(_warnings_of_rewinding(evidence)),
        fingerprint=fingerprint(evidence.position, evidence.target, evidence.between, evidence.overlap),
    )


def _effects_of_rewinding(
    intent: RewindGroupIntent, evidence: RewindGroupEvidence, *, back: bool
) -> list[str]:
    between = evidence.between
    if evidence.target == evidence.position:
        return [f"Group {intent.group} stands at {evidence.position} already."]
    if not between.upper:
        return [
            f"Group {intent.group} stands at {evidence.position}, with no entry between there and {evidence.target}."
        ]
    effects = [f"Group {intent.group} is set from {evidence.position} to {evidence.target}."]
    if back:
        effects.append(f"{amount(between).capitalize()} will be delivered again to its consumers.")
        if evidence.consumers:
            effects.append("What it reads on until then is delivered again too.")
    else:
        effects.append(
            f"{amount(between).capitalize()} will never be delivered to it; they stay in the stream, for XRANGE."
        )
    if evidence.other_groups:
        effects.append(f"Other groups ({first_few(evidence.other_groups)}) are not touched.")
    return effects


def _warnings_of_rewinding(evidence: RewindGroupEvidence) -> list[str]:
    overlap = evidence.overlap
    if not overlap.entries:
        return []
    least = "" if overlap.complete else "at least "
    owners = [f"{owner} ({count:,})" for owner, count in overlap.owners]
    told = f"{least}{counted(overlap.entries, 'of them is', 'of them are')} still pending"
    return [
        f"{told}: whoever reads them next takes them from {first_few(owners)}, and their count begins at 1 again."
    ]


def _undo_of_rewinding(evidence: RewindGroupEvidence, *, back: bool) -> str:
    if not evidence.between.upper:
        return ""
    told = f"`streamops undo` sets it to {evidence.position} again"
    if not back:
        return f"{told}; what it was given meanwhile is then delivered again too."
    if evidence.overlap.entries:
        return f"{told}, but what was delivered meanwhile stays so: pending entries taken from their owners stay taken."
    return f"{told}, but what was delivered meanwhile stays delivered."
