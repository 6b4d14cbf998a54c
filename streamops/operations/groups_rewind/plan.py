"""Moving a consumer group's position: what the server says about the entries in between, and the plan."""

from collections.abc import Iterator

from msgspec import Struct

from streamops.model.acting import Plan, StreamIdentity
from streamops.model.effects import PASSED_OVER, REDELIVERED, STILL_PENDING, Said
from streamops.model.entries import Amount, EntryId
from streamops.model.fields import Passing
from streamops.operations.groups_rewind.intent import RewindGroupIntent
from streamops.operations.planning import planned, untouched


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
        overlap: Those of them that are pending; nothing if it goes forward.
        entries_read: The server's counter at the target; None if it has none, or it is not known.
        consumers: How many consumers the group has.
        other_groups: The stream's other groups.
    """

    identity: StreamIdentity
    position: EntryId
    target: EntryId
    last_generated_id: Passing[EntryId]
    between: Amount
    overlap: Overlap
    entries_read: int | None
    consumers: Passing[int]
    other_groups: tuple[str, ...]


class FormerPosition(Struct, frozen=True):
    """What undoing needs.

    Attributes:
        position: Where the group stood.
        entries_read: The server's counter there; None if it had none.
        back: Whether it was set back from there.
    """

    position: EntryId
    entries_read: int | None
    back: bool = False


def plan_rewind_group(intent: RewindGroupIntent, evidence: RewindGroupEvidence) -> Plan:
    """Plan to set a group back, which delivers entries again, or forward, which skips entries."""
    overlap = evidence.overlap
    return planned(
        intent,
        evidence.between.upper,
        effects=_effects(intent.group, evidence),
        warnings=[
            STILL_PENDING(
                overlap.entries, group=intent.group, names=overlap.owners, open_ended=not overlap.complete
            )
        ],
        undo=_undo(evidence) if evidence.between.upper else "",
    )


def _effects(group: str, evidence: RewindGroupEvidence) -> Iterator[Said]:
    position, target, between = evidence.position, evidence.target, evidence.between
    if target == position:
        yield f"Group {group} stands at {position} already."
    elif not between.upper:
        yield f"Group {group} stands at {position}, with no entry between there and {target}."
    else:
        yield f"Group {group} is set from {position} to {target}."
        yield (REDELIVERED if target < position else PASSED_OVER)(between, group=group)
        if target < position and evidence.consumers:
            yield "What it reads until then is delivered again too."
        yield untouched(evidence.other_groups)


def _undo(evidence: RewindGroupEvidence) -> str:
    told = f"`streamops undo` sets it to {evidence.position} again"
    if evidence.target >= evidence.position:
        return f"{told}; what it was given since is then delivered again too."
    if evidence.overlap.entries:
        return f"{told}, but pending entries taken from their owners stay taken."
    return f"{told}, but what was delivered since stays delivered."
