"""Trimming: safely, as far as no group needs the entries any more; or regardless, telling who loses what."""

from collections.abc import Iterator
from datetime import timedelta

from streamops.errors import Forbidden
from streamops.model.acting import Impact, Plan
from streamops.model.ids import EntryId
from streamops.model.measures import typed_duration
from streamops.model.readings import GroupReading
from streamops.model.wording import command, counted, first_few, span
from streamops.operations.commands import equivalent_command
from streamops.operations.losses import (
    ENTRIES,
    Holder,
    TrimEvidence,
    at_least_unless,
    at_most,
    entries_in_words,
    loss_sentences,
    lost_to_groups,
    pending_in,
)
from streamops.operations.planning import ALL_A_MILLISECOND, NEEDS_A_MILLISECOND, crowd_warnings, fingerprint
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
    return _plan_safe(intent, evidence) if intent.safe else _plan_unsafe(intent, evidence)


def _plan_safe(intent: TrimIntent, evidence: TrimEvidence) -> Plan:
    holder = evidence.holder
    if holder is None and not evidence.wanted.upper:
        return Plan(
            operation="trim",
            target=intent.stream,
            impact=Impact.REDELIVERS,
            count=0,
            effects=(_nothing(evidence),),
            command=equivalent_command("trim", intent),
            confirm=intent.stream,
            fingerprint=_fingerprint(evidence),
        )
    if holder is None:
        raise NoGroup(
            f"trim {intent.stream}: it has no group, so nobody can say what is still needed",
            "Create its groups first; or trim regardless, with --unsafe.",
        )
    held = _needs_something(holder) and evidence.wanted.upper > evidence.removable.lower
    count = evidence.removable.upper
    return Plan(
        operation="trim",
        target=intent.stream,
        impact=Impact.REDELIVERS,
        count=count,
        effects=tuple(_safe_effects(intent, evidence, holder)),
        loses="The entries themselves, which no group needs." if count else "",
        command=equivalent_command("trim", intent),
        confirm=intent.stream,
        held_back_by=held_back_by(holder) if held else "",
        warnings=tuple(_safe_warnings(intent, evidence, holder, held=held)),
        fingerprint=_fingerprint(evidence),
    )


def held_back_by(holder: Holder) -> str:
    """What a group has yet to acknowledge or to read, so that no more may go."""
    row = holder.oldest_pending
    if row is not None:
        owner = (
            f"consumer {row.consumer} holds {row.id}" if row.consumer else f"{row.id} was given back and is"
        )
        since = ", free for any consumer" if row.free else f" for {span(row.idle)}"
        return f"group {holder.group}: {owner} pending{since}"
    return f"group {holder.group} has yet to read {at_most(holder.unread)}"


def _needs_something(holder: Holder) -> bool:
    """Whether anything is pending or unread; where nothing is, the entry at the position is kept all the same."""
    return holder.oldest_pending is not None or holder.unread.upper > 0


def _safe_effects(intent: TrimIntent, evidence: TrimEvidence, holder: Holder) -> Iterator[str]:
    if not evidence.removable.upper:
        yield _nothing(evidence)
        if evidence.wanted.upper and not _needs_something(holder):
            yield f"Group {holder.group} stands at {holder.needs}, and the entry at a group's position is kept."
        return
    yield _removes(intent, evidence)
    names = [name for name, _ in evidence.identity.positions]
    yield f"Each of its groups ({first_few(names)}) has read and acknowledged all of them, and loses nothing."
    yield f"What group {holder.group} needs, from {holder.needs} on, stays whatever happens meanwhile."
    if evidence.references and intent.drops_all:
        yield "The server is told ACKED as well, and checks the same."


def _safe_warnings(
    intent: TrimIntent, evidence: TrimEvidence, holder: Holder, *, held: bool
) -> Iterator[str]:
    if evidence.removable.upper:
        yield "A group created later cannot read them any more."
        yield from crowd_warnings(len(evidence.identity.positions), NEEDS_A_MILLISECOND)
    if held and holder.oldest_pending is not None and not holder.entry_exists:
        ack = command("ack", intent.stream, holder.group, options=f"--ids {holder.needs}")
        yield f"The entry {holder.needs} is gone, and is still pending; to let go of it: {ack}"


def _plan_unsafe(intent: TrimIntent, evidence: TrimEvidence) -> Plan:
    count = evidence.removable.upper
    return Plan(
        operation="trim",
        target=intent.stream,
        impact=Impact.DESTRUCTIVE,
        count=count,
        effects=tuple(_unsafe_effects(intent, evidence)),
        loses=f"{entries_in_words(evidence.removable)}, {lost_to_groups(evidence.losses)}." if count else "",
        command=equivalent_command("trim", intent),
        confirm=intent.stream,
        warnings=tuple(_unsafe_warnings(intent, evidence)) if count else (),
        fingerprint=_fingerprint(evidence),
    )


def _unsafe_effects(intent: TrimIntent, evidence: TrimEvidence) -> Iterator[str]:
    if not evidence.removable.upper:
        yield _nothing(evidence)
        return
    yield f"{_removes(intent, evidence)} None goes from {evidence.asked} on."
    yield from loss_sentences(evidence.losses)
    if not evidence.losses:
        yield "The stream has no group."
    if _takes_rows_along(intent, evidence) and any(loss.pending for loss in evidence.losses):
        yield (
            "Their pending rows go with them, in the same step: the server is told DELREF. Rows of entries that were "
            "deleted before stay."
        )
    if intent.backup:
        also = "" if intent.exact else "; each of them goes then, as with --exact"
        yield f"They are written to {intent.backup} first{also}."


def _unsafe_warnings(intent: TrimIntent, evidence: TrimEvidence) -> Iterator[str]:
    pending, complete = pending_in(evidence.losses)
    if not intent.backup:
        yield "No backup is written; --backup FILE writes one, which `streamops restore` reads."
    if pending and not _takes_rows_along(intent, evidence):
        along = " With --exact this server takes them along (DELREF)." if evidence.references else ""
        yield (
            f"{at_least_unless(complete=complete)}{counted(pending, 'pending row that points', 'pending rows that point')} "
            "to nothing will be left: "
            f"consumers get empty entries for them until they are acknowledged.{along}"
        )
    overtaken = [loss.group for loss in evidence.losses if loss.unread.upper]
    if overtaken and evidence.lag_goes_wrong:
        yield f"{'Group' if len(overtaken) == 1 else 'Groups'} {first_few(overtaken)}: {evidence.lag_goes_wrong}."
    yield from crowd_warnings(len(evidence.identity.positions), ALL_A_MILLISECOND)


def _takes_rows_along(intent: TrimIntent, evidence: TrimEvidence) -> bool:
    return evidence.references and intent.drops_all


def _nothing(evidence: TrimEvidence) -> str:
    whole = counted(evidence.length, *ENTRIES)
    return f"None of {whole} may go yet." if evidence.wanted.upper else f"The bound leaves all of {whole}."


def _removes(intent: TrimIntent, evidence: TrimEvidence) -> str:
    amount, whole = evidence.removable, f"of {counted(evidence.length, *ENTRIES)}"
    bounds = (
        f"{amount.upper:,}"
        if amount.exact
        else f"{amount.upper:,} (at least {amount.lower:,} could be counted)"
    )
    if intent.drops_all:
        return f"The oldest {'' if amount.exact else 'up to '}{bounds} {whole} go."
    return f"The oldest go, at most {bounds} {whole}, in whole nodes of the stream: some may stay for that."


def bound_options(intent: TrimIntent) -> str:
    """What is asked for, as the options of a command line."""
    if intent.maxlen is not None:
        bound = f"--maxlen {intent.maxlen}"
    elif intent.minid is not None:
        bound = f"--minid {intent.minid}"
    else:
        bound = f"--before {typed_duration(intent.before or timedelta(0))}"
    return f"{bound} --exact" if intent.exact else bound


def _fingerprint(evidence: TrimEvidence) -> str:
    return fingerprint(
        evidence.identity.positions, evidence.length, evidence.asked, evidence.removable, evidence.losses
    )
