"""Taking pending entries over: what the server says about them, and the plan."""

from collections.abc import Iterator
from datetime import timedelta

from msgspec import Struct

from streamops.model.acting import Plan, StreamIdentity
from streamops.model.effects import BUSY, CLAIMED, ELSEWHERE, MISSING, NOT_PENDING, Effect, Said
from streamops.model.fields import Passing
from streamops.model.pending import DeletedPending, PendingSelection, Unfit
from streamops.model.streams import Consumer
from streamops.model.wording import first_few, span
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.planning import planned, row_line


class ClaimEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about them.

    Attributes:
        identity: Which stream and group this is.
        selection: Those that can be taken.
        unfit: Those of the named IDs that cannot.
        consumers: The group's consumers.
        gone: What is known of rows whose entries no longer exist, where the server lets those be claimed
            (Redis 6.2); None if it removes them.
        chosen: Where IDs were named, of each of them, lowest first, whether it is selected: 1 or 0.
    """

    identity: StreamIdentity
    selection: PendingSelection
    unfit: Unfit
    consumers: Passing[tuple[Consumer, ...]]
    gone: DeletedPending | None = None
    chosen: bytes = b""

    def consumer(self, name: str) -> Consumer | None:
        """A consumer of the group by name; None if there is none."""
        return next((one for one in self.consumers if one.name == name), None)


LOOKS_DEAD = timedelta(minutes=10)
"""A consumer that was not seen for so long is suspected to be dead."""

RECENT = timedelta(seconds=60)
"""A consumer that was seen within this may be at work."""


UNDO = "`streamops undo` returns them to their owners with idle time and deliveries, except those delivered again by then."


def plan_claim(intent: ClaimIntent, evidence: ClaimEvidence) -> Plan:
    """Make entries the property of another consumer."""
    selection, unfit = evidence.selection, evidence.unfit
    return planned(
        intent,
        selection.count,
        sample=map(row_line, selection.sample),
        effects=_effects(intent, evidence) if selection.count else (),
        warnings=[
            not intent.min_idle
            and "Without a minimum idle time, entries are taken even from workers that were delivered them just now.",
            NOT_PENDING(unfit.absent),
            ELSEWHERE(unfit.elsewhere),
            BUSY(unfit.busy),
            *(_risks(intent, evidence) if selection.count else ()),
        ],
        undo=UNDO if selection.count else "",
    )


def _effects(intent: ClaimIntent, evidence: ClaimEvidence) -> Iterator[Said]:
    selection, to, gone = evidence.selection, intent.to, evidence.gone
    yield CLAIMED(selection.count, to, names=selection.owners)
    if (oldest := selection.longest_idle) is not None:
        yield f"The longest idle is {oldest.id}: {span(oldest.idle)}, owned by {oldest.consumer}."
    yield (
        f"Claiming delivers nothing: {to} has to read its own history (XREADGROUP with 0 in place of >), or "
        "another consumer has to reclaim them (XAUTOCLAIM). Delivery counts stay, idle time restarts."
    )
    yield (
        "A worker that is still processing one of them can acknowledge it, because XACK does not check "
        "the owner; until then it may be processed twice."
    )
    if gone is None:
        yield "The server also removes pending rows of entries that no longer exist; the outcome lists them."
    elif gone.count:
        yield missing_entries(gone, " This server can still claim them.")
    else:
        beyond = f" among the first {gone.looked:,}" if selection.count > gone.looked else ""
        yield f"All of these entries still exist{beyond}; this server would not say so when they are claimed."


def missing_entries(gone: DeletedPending, more: str = "") -> Effect | None:
    """Which of the rows are of entries that no longer exist; ``more`` is a sentence about them."""
    return MISSING(gone.count, more, names=map(str, gone.sample))


def _risks(intent: ClaimIntent, evidence: ClaimEvidence) -> Iterator[str]:
    target = evidence.consumer(intent.to)
    if target is None:
        yield f"There is no consumer {intent.to} yet: it is created, and perhaps no process reads as it."
    elif target.idle >= LOOKS_DEAD:
        yield f"{intent.to} was not seen for {span(target.idle)}: if it is dead, the entries stay pending."
    recent = [
        f"{name} ({span(one.idle)} ago)"
        for name, _ in evidence.selection.owners
        if (one := evidence.consumer(name)) is not None and one.idle < RECENT
    ]
    if recent:
        yield f"Active lately, and perhaps still processing them: {first_few(recent)}."
