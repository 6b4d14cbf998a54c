"""Trimming: safely, as far as no group needs the entries any more; or regardless, saying who loses what."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from streamops.errors import Forbidden
from streamops.model.acting import Impact, Plan
from streamops.model.effects import (
    ALL_STAY,
    DANGLING,
    FOR_GOOD,
    HELD_BY_PENDING,
    HELD_BY_UNREAD,
    NONE_GOES,
    UNNEEDED_GO,
    Effect,
    Said,
    in_words,
)
from streamops.model.entries import EntryId
from streamops.model.measures import typed_duration
from streamops.model.streams import GroupReading
from streamops.model.wording import command, counted, first_few, idleness
from streamops.operations.losses import (
    NAMED,
    BlockingGroup,
    TrimEvidence,
    loss_effects,
    loss_facts,
    lost_to_groups,
    oldest_go,
    pending_in,
)
from streamops.operations.planning import (
    ALL_A_MILLISECOND,
    NEEDS_A_MILLISECOND,
    many_groups_warnings,
    planned,
    times,
)
from streamops.operations.trim.intent import TrimIntent

NODE: Final = 100
"""Entries of a node of a stream, unless ``stream-node-max-entries`` or ``stream-node-max-bytes`` says otherwise."""


class NoGroup(Forbidden):
    """A safe trim of a stream without groups: which entries are still needed is unknown."""


def needed_by(group: GroupReading) -> EntryId:
    """The oldest ID that a group needs: that of its oldest pending entry, or its position, which is kept too."""
    oldest = group.oldest_pending
    return group.last_delivered_id if oldest is None else min(group.last_delivered_id, oldest.id)


def plan_trim(intent: TrimIntent, evidence: TrimEvidence) -> Plan:
    """Drop the oldest entries of a stream.

    Raises:
        NoGroup: A safe trim of a stream without groups that is beyond its bound.
    """
    if not intent.safe:
        return _plan_unsafe(intent, evidence)
    if evidence.holder is not None:
        return _plan_safe(intent, evidence, evidence.holder)
    if evidence.wanted.upper:
        raise NoGroup(
            f"trim {intent.stream}: it has no group, so it is unknown which entries are still needed",
            "Create its groups first; or trim regardless, with --unsafe.",
        )
    return planned(intent, 0, effects=[_nothing(evidence)])


def _plan_safe(intent: TrimIntent, evidence: TrimEvidence, holder: BlockingGroup) -> Plan:
    count, wanted = evidence.removable.upper, evidence.wanted.upper
    is_short = wanted > evidence.removable.lower
    held = held_back_by(holder) if is_short else None
    shortfall = _shortfall(intent, evidence, holder if is_short else None)
    return planned(
        intent,
        count,
        effects=[*_safe_effects(intent, evidence, holder), not held and shortfall],
        loses=[UNNEEDED_GO(count)],
        held_back_by=held,
        warnings=[
            held and shortfall,
            count and "A group created later cannot read them any more.",
            *(many_groups_warnings(len(evidence.identity.positions), NEEDS_A_MILLISECOND) if count else ()),
            held and _way_out(intent, holder),
        ],
    )


def _shortfall(intent: TrimIntent, evidence: TrimEvidence, holder: BlockingGroup | None = None) -> str:
    """That it comes to another number than was asked for, to which, and why; empty if it does not."""
    length, removable = evidence.length, evidence.removable
    is_exact = intent.drops_all or not removable.upper
    why = []
    if holder is not None and held_back_by(holder) is None:
        why.append(f"the entry at the position of group {holder.group}, {holder.needs}, is kept")
    elif holder is not None:
        why.append(_needs(holder))
    if not is_exact:
        why.append(
            f"without --exact the server drops whole nodes only, of {NODE} entries unless it is configured otherwise"
        )
    if not why:
        return ""
    most = removable.upper
    least = removable.lower if is_exact else max(0, removable.lower - NODE + 1)
    if intent.maxlen is not None:
        asked = f"Asked to keep {counted(intent.maxlen, 'entry', 'entries')}, it will leave"
        number = f"{_from_to(length - most, length - least)} of the {length:,} there are now"
    else:
        asked = f"Asked to drop {in_words(evidence.wanted, 'entry|entries')}, it will drop"
        number = _from_to(least, most)
    return f"{asked} {number}: {', and '.join(why)}."


def _from_to(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _needs(holder: BlockingGroup) -> str:
    """Which entries a group needs; the one at its position is kept with those that it has yet to read."""
    if holder.oldest_pending is None:
        return f"group {holder.group} has read up to {holder.needs}, which is kept with the entries after it"
    return f"group {holder.group} needs the entries from {holder.needs} on"


def _way_out(intent: TrimIntent, holder: BlockingGroup) -> str:
    """How a pending entry lets go of the stream, if it will not be acknowledged as things are."""
    row, ids = holder.oldest_pending, f"--ids {holder.needs}"
    if row is None:
        return ""
    if not holder.entry_exists:
        ack = command("ack", intent.stream, holder.group, options=ids)
        return f"The entry {row.id} no longer exists, and is still pending; to acknowledge it: {ack}"
    if not holder.is_poison:
        return ""
    dead_letter = command("dlq add", intent.stream, holder.group, options=ids)
    return (
        f"The entry {row.id} is poison: {times(row)} and never acknowledged, it blocks the trim until "
        f"it is dead-lettered: {dead_letter}"
    )


def held_back_by(holder: BlockingGroup) -> Effect | None:
    """What a group has yet to acknowledge or to read, so that no more may go; None if there is no such thing."""
    row = holder.oldest_pending
    if row is None:
        return HELD_BY_UNREAD(holder.unread, group=holder.group)
    # XNACK leaves a row without an owner, and without an idle time that means anything.
    owner = f"with {row.consumer}, {idleness(row)}" if row.consumer else "and free for any consumer"
    return HELD_BY_PENDING(None, row.id, f"{owner}, {times(row)}", group=holder.group, names=[row.consumer])


def _safe_effects(intent: TrimIntent, evidence: TrimEvidence, holder: BlockingGroup) -> Iterator[Said]:
    if not evidence.removable.upper:
        yield _nothing(evidence)
        return
    yield oldest_go(evidence, exact=intent.drops_all)
    names = [name for name, _ in evidence.identity.positions]
    yield f"Each of its groups ({first_few(names)}) has read and acknowledged all of them, and loses nothing."
    yield f"{_needs(holder)[0].upper()}{_needs(holder)[1:]}: these stay in any case."
    if evidence.references and intent.drops_all:
        yield "XTRIM is sent with ACKED, so that the server checks the same."


def _plan_unsafe(intent: TrimIntent, evidence: TrimEvidence) -> Plan:
    removable, losses = evidence.removable, evidence.losses
    return planned(
        intent,
        removable.upper,
        impact=Impact.DESTRUCTIVE,
        effects=_unsafe_effects(intent, evidence) if removable.upper else [_nothing(evidence)],
        loses=[FOR_GOOD(removable, f", {lost_to_groups(losses)}")],
        warnings=_unsafe_warnings(intent, evidence) if removable.upper else (),
        facts=loss_facts(losses[NAMED:]),
    )


def _unsafe_effects(intent: TrimIntent, evidence: TrimEvidence) -> Iterator[Said]:
    yield oldest_go(evidence, exact=intent.drops_all, rest=f" None is removed from {evidence.asked} on.")
    yield _shortfall(intent, evidence)
    yield from loss_effects(evidence.losses)
    if not evidence.losses:
        yield "The stream has no group."
    if evidence.references and intent.drops_all and any(loss.pending for loss in evidence.losses):
        yield (
            "Their pending rows go with them, in the same step (DELREF). Rows of entries that were "
            "deleted before stay."
        )
    if intent.backup:
        also = "" if intent.exact else "; all of them are removed then, as with --exact"
        yield f"They are written to {intent.backup} first{also}."


def _unsafe_warnings(intent: TrimIntent, evidence: TrimEvidence) -> Iterator[Said]:
    if not intent.backup:
        yield "No backup is written; --backup FILE writes one, which `streamops restore` reads."
    if not (evidence.references and intent.drops_all):
        pending, complete = pending_in(evidence.losses)
        along = " With --exact this server takes them along (DELREF)." if evidence.references else ""
        yield DANGLING(pending, along, open_ended=not complete)
    overtaken = [loss.group for loss in evidence.losses if loss.unread.upper]
    if overtaken and evidence.lag_goes_wrong:
        yield f"{'Group' if len(overtaken) == 1 else 'Groups'} {first_few(overtaken)}: {evidence.lag_goes_wrong}."
    yield from many_groups_warnings(len(evidence.identity.positions), ALL_A_MILLISECOND)


def _nothing(evidence: TrimEvidence) -> Said:
    if not evidence.length:
        return "The stream has no entries."
    return (NONE_GOES if evidence.wanted.upper else ALL_STAY)(evidence.length)


def bound_options(intent: TrimIntent) -> str:
    """What is asked for, as the options of a command line."""
    if intent.maxlen is not None:
        bound = f"--maxlen {intent.maxlen}"
    elif intent.minid is not None:
        bound = f"--minid {intent.minid}"
    else:
        bound = f"--before {typed_duration(intent.before or timedelta(0))}"
    return f"{bound} --exact" if intent.exact else bound
