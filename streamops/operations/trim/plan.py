"""Trimming: safely, as far as no group needs the entries any more; or regardless, telling who loses what."""

from collections.abc import Iterator
from datetime import timedelta

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
)
from streamops.model.entries import EntryId
from streamops.model.measures import typed_duration
from streamops.model.streams import GroupReading
from streamops.model.wording import command, first_few, span
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
)
from streamops.operations.trim.intent import TrimIntent


class NoGroup(Forbidden):
    """A safe trim of a stream of which nobody can say what is still needed."""


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
            f"trim {intent.stream}: it has no group, so nobody can say what is still needed",
            "Create its groups first; or trim regardless, with --unsafe.",
        )
    return planned(intent, 0, effects=[_nothing(evidence)])


def _plan_safe(intent: TrimIntent, evidence: TrimEvidence, holder: BlockingGroup) -> Plan:
    count, wanted = evidence.removable.upper, evidence.wanted.upper
    held = held_back_by(holder) if wanted > evidence.removable.lower else None
    gone = held and holder.oldest_pending is not None and not holder.entry_exists
    ack = command("ack", intent.stream, holder.group, options=f"--ids {holder.needs}")
    return planned(
        intent,
        count,
        effects=_safe_effects(intent, evidence, holder),
        loses=[UNNEEDED_GO(count)],
        held_back_by=held,
        warnings=[
            count and "A group created later cannot read them any more.",
            *(many_groups_warnings(len(evidence.identity.positions), NEEDS_A_MILLISECOND) if count else ()),
            gone and f"The entry {holder.needs} is gone, and is still pending; to let go of it: {ack}",
        ],
    )


def held_back_by(holder: BlockingGroup) -> Effect | None:
    """What a group has yet to acknowledge or to read, so that no more may go; none where there is no such thing."""
    row = holder.oldest_pending
    if row is None:
        return HELD_BY_UNREAD(holder.unread, group=holder.group)
    owner = f"consumer {row.consumer} holds {row.id}" if row.consumer else f"{row.id} was given back and is"
    since = ", free for any consumer" if row.free else f" for {span(row.idle)}"
    return HELD_BY_PENDING(None, owner, since, group=holder.group, names=[row.consumer])


def _safe_effects(intent: TrimIntent, evidence: TrimEvidence, holder: BlockingGroup) -> Iterator[Said]:
    if not evidence.removable.upper:
        yield _nothing(evidence)
        if evidence.wanted.upper and held_back_by(holder) is None:
            yield f"Group {holder.group} stands at {holder.needs}, and the entry at a group's position is kept."
        return
    yield oldest_go(evidence, exact=intent.drops_all)
    names = [name for name, _ in evidence.identity.positions]
    yield f"Each of its groups ({first_few(names)}) has read and acknowledged all of them, and loses nothing."
    yield f"What group {holder.group} needs, from {holder.needs} on, stays whatever happens meanwhile."
    if evidence.references and intent.drops_all:
        yield "The server is told ACKED as well, and checks the same."


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
    yield oldest_go(evidence, exact=intent.drops_all, rest=f" None goes from {evidence.asked} on.")
    yield from loss_effects(evidence.losses)
    if not evidence.losses:
        yield "The stream has no group."
    if evidence.references and intent.drops_all and any(loss.pending for loss in evidence.losses):
        yield (
            "Their pending rows go with them, in the same step: the server is told DELREF. Rows of entries that were "
            "deleted before stay."
        )
    if intent.backup:
        also = "" if intent.exact else "; each of them goes then, as with --exact"
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


def _nothing(evidence: TrimEvidence) -> Effect | None:
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
