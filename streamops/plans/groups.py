"""Creating, moving and destroying groups."""

from collections.abc import Iterator
from typing import Final

from streamops.errors import Forbidden
from streamops.model.acting import Plan, Tier
from streamops.model.acts.groups import (
    CreateGroupEvidence,
    CreateGroupIntent,
    DestroyGroupEvidence,
    DestroyGroupIntent,
    RewindGroupEvidence,
    RewindGroupIntent,
)
from streamops.model.entries import Amount
from streamops.model.wording import command, counted, first_few
from streamops.plans.commands import equivalent_command
from streamops.plans.evidence import fingerprint

GROUP_UNIT: Final[tuple[str, str]] = ("group", "groups")
PENDING_UNIT: Final[tuple[str, str]] = ("pending entry", "pending entries")
DESTROYED_AT_ONCE: Final = 10_000
"""Pending rows that go with the group in one step; above, they are taken off in batches first."""

ROWS_A_MILLISECOND: Final = 6_500
"""About so many pending rows XGROUP DESTROY frees in a millisecond: 990,000 took 152 ms on Redis 7.0."""


def plan_create_group(intent: CreateGroupIntent, evidence: CreateGroupEvidence) -> Plan:
    """Create a group; nothing where it stands there already. Raises ``Forbidden`` where it stands elsewhere."""
    name = f"{intent.stream}/{intent.group}"
    if evidence.existing is not None:
        _forbid_elsewhere(intent, evidence)
        effects = [f"Group {intent.group} exists already, at {evidence.existing}; nothing is done."]
    else:
        effects = _effects_of_creating(intent, evidence)
    return Plan(
        operation="groups.create",
        target=name,
        tier=Tier.REVERSIBLE,
        count=0 if evidence.existing is not None else 1,
        unit=GROUP_UNIT,
        effects=tuple(effects),
        opposite=""
        if evidence.existing is not None
        else command("groups destroy", intent.stream, intent.group),
        command=equivalent_command("groups.create", intent),
        confirm=intent.group,
        fingerprint=fingerprint(
            evidence.identity is None, evidence.position, evidence.existing, evidence.length
        ),
    )


def _forbid_elsewhere(intent: CreateGroupIntent, evidence: CreateGroupEvidence) -> None:
    if evidence.existing != evidence.position:
        raise Forbidden(
            f"group {intent.stream}/{intent.group} exists already, at {evidence.existing}",
            f"Move it with `{command('groups rewind', intent.stream, intent.group)}`, or choose another name.",
        )


def _effects_of_creating(intent: CreateGroupIntent, evidence: CreateGroupEvidence) -> list[str]:
    effects = []
    if evidence.identity is None:
        effects.append(f"Stream {intent.stream} is created, empty, and the group in it.")
    if intent.at == "$":
        end = "" if evidence.identity is None else f" (the stream ends at {evidence.position})"
        effects.append(f"The group is given what is added from now on{end}.")
        if evidence.length:
            effects.append(
                f"It is not given {_entries(Amount(evidence.length, evidence.length))} that are there."
            )
    else:
        effects.append(
            f"The group begins after {evidence.position}: {amount(evidence.ahead)} will be given to it."
        )
    if evidence.other_groups:
        effects.append(f"Other groups ({first_few(evidence.other_groups)}) are not touched.")
    return effects


def plan_rewind_group(intent: RewindGroupIntent, evidence: RewindGroupEvidence) -> Plan:
    """Set a group back, so that it is given entries again, or forward, so that it is never given some."""
    back = evidence.target < evidence.position
    return Plan(
        operation="groups.rewind",
        target=f"{intent.stream}/{intent.group}",
        tier=Tier.REDELIVERS,
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


def plan_destroy_group(intent: DestroyGroupIntent, evidence: DestroyGroupEvidence) -> Plan:
    """Destroy a group.

    Raises:
        Forbidden: It has so many pending rows that they are taken off in batches, and there is no backup that tells
            which they were if that ends midway.
    """
    if evidence.pending > DESTROYED_AT_ONCE and not evidence.backup:
        raise Forbidden(
            f"group {intent.stream}/{intent.group} has {evidence.pending:,} pending rows and no backup",
            f"Nothing was done. More than {DESTROYED_AT_ONCE:,} are taken off in batches, which may end midway: "
            "name a file with --backup.",
        )
    return Plan(
        operation="groups.destroy",
        target=f"{intent.stream}/{intent.group}",
        tier=Tier.LOSES,
        count=evidence.pending or 1,
        unit=PENDING_UNIT if evidence.pending else GROUP_UNIT,
        effects=tuple(_effects_of_destroying(intent, evidence)),
        loses=_lost_with(evidence),
        command=equivalent_command("groups.destroy", intent),
        confirm=f"{intent.stream}/{intent.group}",
        warnings=tuple(_warnings_of_destroying(evidence)),
        fingerprint=fingerprint(evidence.position, evidence.pending, evidence.consumers),
    )


def _effects_of_destroying(intent: DestroyGroupIntent, evidence: DestroyGroupEvidence) -> list[str]:
    consumers = counted(evidence.consumers, "consumer", "consumers")
    effects = [
        f"Group {intent.group} ends, with its position {evidence.position} and {consumers}. The stream's entries stay."
    ]
    if evidence.pending:
        owners = first_few([f"{owner} ({count:,})" for owner, count in evidence.owners])
        effects.append(f"Its pending entries, by consumer: {owners}.")
    if evidence.pending > DESTROYED_AT_ONCE:
        effects.append(
            f"Its {evidence.pending:,} pending rows are taken off in batches first: "
            f"at once they would block the server for about {evidence.pending // ROWS_A_MILLISECOND:,} ms."
        )
    if evidence.backup:
        effects.append(f"Position and pending rows are written to {evidence.backup} first, for the record.")
    counter = "" if evidence.entries_read is None else f" --entries-read {evidence.entries_read}"
    again = command(
        "groups create", intent.stream, intent.group, options=f"--at {evidence.position}{counter}"
    )
    effects.append(
        f"`{again}` brings the position back{', but nothing that was pending' if evidence.pending else ''}."
    )
    if evidence.other_groups:
        effects.append(f"Other groups ({first_few(evidence.other_groups)}) are not touched.")
    return effects


def _lost_with(evidence: DestroyGroupEvidence) -> str:
    parts = [f"which entries the group was given (it stands at {evidence.position})"]
    if evidence.pending:
        parts.append(
            f"{counted(evidence.pending, 'pending entry', 'pending entries')} that will not be redelivered"
        )
    if evidence.lag.upper:
        parts.append(f"{amount(evidence.lag)} that it was still to be given")
    return f"{', '.join(parts)}."


def _warnings_of_destroying(evidence: DestroyGroupEvidence) -> Iterator[str]:
    if evidence.active:
        seen = first_few(evidence.active)
        yield f"Seen just now: {seen}. Whoever waits for entries with this group gets the error NOGROUP."
    if not evidence.backup and evidence.pending:
        yield "No file is named to write the pending rows to: nothing will tell which they were."


def amount(entries: Amount) -> str:
    """``1,200 entries``, or the bounds where they were not all counted."""
    if entries.exact:
        return _entries(entries)
    return f"between {entries.lower:,} and {entries.upper:,} entries (counting stopped there)"


def _entries(entries: Amount) -> str:
    return counted(entries.upper, "entry", "entries")
