"""Taking pending entries over: what the server says about them, and the plan."""

from collections.abc import Iterator
from datetime import timedelta

from msgspec import Struct

from streamops.model.acting import Identity, Impact, Plan
from streamops.model.pending import Gone, Selection, Unfit
from streamops.model.streams import Consumer
from streamops.model.wording import counted, first_few, idleness, span
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.commands import equivalent_command
from streamops.operations.planning import fingerprint, sample


class ClaimEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about them.

    Attributes:
        identity: Which stream and group this is.
        selection: Those that can be taken.
        unfit: Those of the named IDs that cannot.
        consumers: The group's consumers.
        gone: What is known of rows whose entries no longer exist, where the server lets those be claimed
            (Redis 6.2); none where it removes them.
        chosen: Where IDs were named, of each of them, lowest first, whether it is selected: 1 or 0.
    """

    identity: Identity
    selection: Selection
    unfit: Unfit
    consumers: tuple[Consumer, ...]
    gone: Gone | None = None
    chosen: bytes = b""

    def consumer(self, name: str) -> Consumer | None:
        """A consumer of the group by name; none where there is none."""
        return next((one for one in self.consumers if one.name == name), None)


LOOKS_DEAD = timedelta(minutes=10)
"""A consumer that was not seen for so long is suspected to be dead."""

RECENT = timedelta(seconds=60)
"""A consumer that was seen within this may be at work."""

UNDO = (
    "`streamops undo` gives them back to their owners with idle time and deliveries, except those that were "
    "delivered again by then."
)


def plan_claim(intent: ClaimIntent, evidence: ClaimEvidence) -> Plan:
    """Make entries the property of another consumer."""
    selection = evidence.selection
    return Plan(
        operation="claim",
        target=f"{intent.stream}/{intent.group}",
        impact=Impact.REVERSIBLE,
        count=selection.count,
        sample=sample(
            f"{row.id} owned by {row.consumer}, {idleness(row)}, "
            f"delivered {counted(row.delivery_count, 'time', 'times')}"
            for row in selection.sample
        ),
        effects=tuple(_effects(intent, evidence)) if selection.count else (),
        undo=UNDO if selection.count else "",
        command=equivalent_command("claim", intent),
        confirm=intent.stream,
        warnings=tuple(_warnings(intent, evidence)),
        fingerprint=fingerprint(
            selection.count,
            sorted(selection.owners),
            [row.id for row in selection.sample],
            selection.last_id,
        ),
    )


def _effects(intent: ClaimIntent, evidence: ClaimEvidence) -> Iterator[str]:
    selection, to = evidence.selection, intent.to
    yield f"{counted(selection.count, 'entry', 'entries')} of {_owners(selection.owners)} will belong to {to}."
    if (oldest := selection.longest_idle) is not None:
        yield f"The one idle for longest is {oldest.id}, for {span(oldest.idle)}, with {oldest.consumer}."
    yield (
        f"Claiming delivers nothing: {to} has to read its own history (XREADGROUP with 0 in place of >), or "
        "some consumer reclaim them (XAUTOCLAIM). Deliveries stay as counted, idle time starts anew."
    )
    yield (
        "A worker that is still at one of them acknowledges it all the same, because XACK does not ask whose "
        "it is; until then it may be processed twice."
    )
    yield _of_gone_entries(evidence)


def _of_gone_entries(evidence: ClaimEvidence) -> str:
    gone = evidence.gone
    if gone is None:
        return "Rows of entries that no longer exist are removed by the server on the way; each is told afterwards."
    if gone.count:
        return f"{gone_entries(gone)} This server lets them be claimed all the same."
    unseen = evidence.selection.count - gone.looked
    beyond = f" among the first {gone.looked:,}" if unseen > 0 else ""
    return f"All of these entries still exist{beyond}; this server would not say so when they are claimed."


def gone_entries(gone: Gone) -> str:
    """Which of the rows are of entries that no longer exist, in a sentence."""
    more = f" and {gone.count - len(gone.sample):,} more" if gone.count > len(gone.sample) else ""
    named = ", ".join(map(str, gone.sample))
    return f"No longer in the stream, though pending: {named}{more}; acknowledge them to be rid of them."


def _warnings(intent: ClaimIntent, evidence: ClaimEvidence) -> Iterator[str]:
    if not intent.min_idle:
        yield "Without a least idle time, entries are taken even from workers that were given them just now."
    yield from _of_unfit(evidence)
    if not evidence.selection.count:
        return
    yield from _of_target(intent, evidence)
    recent = [
        f"{name} ({span(one.idle)} ago)"
        for name, _ in evidence.selection.owners
        if (one := evidence.consumer(name)) is not None and one.idle < RECENT
    ]
    if recent:
        yield f"Seen lately, and perhaps still at work on them: {first_few(recent)}."


def _of_target(intent: ClaimIntent, evidence: ClaimEvidence) -> Iterator[str]:
    target = evidence.consumer(intent.to)
    if target is None:
        yield f"There is no consumer {intent.to} yet: it is created, and nobody may be reading as it."
    elif target.idle >= LOOKS_DEAD:
        yield f"{intent.to} was not seen for {span(target.idle)}: if it is dead, the entries wait on."


def _of_unfit(evidence: ClaimEvidence) -> Iterator[str]:
    unfit = evidence.unfit
    reasons = (
        (unfit.absent, "not pending in this group"),
        (unfit.elsewhere, "not owned by whom they are to be taken from"),
        (unfit.busy, "not idle for long enough"),
    )
    told = [f"{number:,} {why}" for number, why in reasons if number]
    if told:
        yield f"IDs that will be left out: {', '.join(told)}."


def _owners(owners: tuple[tuple[str, int], ...]) -> str:
    if len(owners) == 1:
        return owners[0][0]
    return first_few([f"{name} ({count:,})" for name, count in owners])
