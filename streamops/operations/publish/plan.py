"""Publishing an entry, now or later: what the server says about its stream, and the plan."""

from collections.abc import Iterator

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Impact, Plan
from streamops.model.ids import ZERO_ID, EntryId
from streamops.model.wording import command, counted, quoted, span
from streamops.operations.commands import equivalent_command
from streamops.operations.losses import GroupLoss, TrimEvidence, loss_sentences, lost_to_groups
from streamops.operations.planning import ALL_A_MILLISECOND, NEEDS_A_MILLISECOND, crowd_warnings, fingerprint
from streamops.operations.publish.intent import PublishIntent


class PublishEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about the stream.

    Attributes:
        exists: Whether there is such a stream.
        length: Entries in it.
        last_generated_id: Its last generated ID; none where it is not known, or there is no stream.
        groups: Its groups.
        cap: What trimming it to its cap removes, and who loses what; none where there is nothing to remove.
        taken: Whether there is a delayed message of that ID.
        queue: The key of the stream's queue of delayed messages.
    """

    exists: bool
    length: int = 0
    last_generated_id: EntryId | None = None
    groups: tuple[str, ...] = ()
    cap: TrimEvidence | None = None
    taken: bool = False
    queue: str = ""


def plan_publish(intent: PublishIntent, evidence: PublishEvidence) -> Plan:
    """Add one entry, or one delayed message.

    Where its cap would drop what a group has yet to read or to acknowledge, that is a loss like any other.

    Raises:
        Forbidden: It has no fields, its ID is taken, or it is both delayed and to trim.
    """
    _check(intent, evidence)
    cap = evidence.cap
    return Plan(
        operation="publish",
        target=intent.stream,
        impact=_impact(cap),
        count=1,
        unit=("entry", "entries") if intent.delay is None else ("message", "messages"),
        sample=(f"{intent.id or 'an ID of its own'}: {counted(len(intent.pairs), 'field', 'fields')}",),
        effects=tuple(_effects(intent, evidence)),
        loses="" if cap is None else _loses(cap),
        command=equivalent_command("publish", intent),
        confirm=intent.stream,
        warnings=tuple(_warnings(intent, cap)),
        fingerprint=fingerprint(
            intent.stream,
            intent.pairs,
            intent.id,
            evidence.exists,
            evidence.taken,
            cap and (cap.asked, cap.removable, cap.losses),
        ),
    )


def losers(cap: TrimEvidence) -> tuple[GroupLoss, ...]:
    """The groups that lose what they have yet to read or to acknowledge."""
    return tuple(loss for loss in cap.losses if loss.unread.upper or loss.pending)


def _impact(cap: TrimEvidence | None) -> Impact:
    if cap is None:
        return Impact.REVERSIBLE
    return Impact.DESTRUCTIVE if losers(cap) else Impact.REDELIVERS


def _check(intent: PublishIntent, evidence: PublishEvidence) -> None:
    nothing = "Nothing was done."
    if not intent.pairs:
        raise Forbidden(f"publish {intent.stream}: no fields", f"{nothing} Give at least one FIELD=VALUE.")
    if intent.delay is not None:
        if intent.maxlen is not None:
            raise Forbidden(
                f"publish {intent.stream}: a delayed message cannot trim its stream",
                f"{nothing} Leave out --maxlen, or --delay.",
            )
        if evidence.taken:
            raise Forbidden(
                f"stream {intent.stream} has a delayed message {intent.id} already",
                f"{nothing} See it with `{command('delayed show', intent.stream, intent.id or '')}`.",
            )
        return
    if intent.id is not None:
        _check_entry_id(intent, evidence, EntryId.parse(intent.id))


def _check_entry_id(intent: PublishIntent, evidence: PublishEvidence, entry_id: EntryId) -> None:
    last = evidence.last_generated_id or ZERO_ID
    if entry_id <= last:
        raise Forbidden(
            f"stream {intent.stream} takes IDs after {last} only",
            "Nothing was done. Leave out --id: the server chooses one.",
        )


def _effects(intent: PublishIntent, evidence: PublishEvidence) -> Iterator[str]:
    groups = counted(len(evidence.groups), "group", "groups")
    if intent.delay is not None:
        yield f"One message will wait in the queue of {intent.stream}, and be due in {span(intent.delay)}."
        yield _way_back(intent)
    elif not evidence.exists:
        yield f"Stream {intent.stream} will be created, with one entry and no group."
    else:
        yield f"One entry will be added to {intent.stream}; {groups} will get it."
    if (cap := evidence.cap) is not None:
        yield (
            f"The oldest go, at most {counted(cap.removable.upper, 'entry', 'entries')}, in whole nodes of the "
            "stream: some may stay for that."
        )
        yield from loss_sentences(cap.losses)


def _loses(cap: TrimEvidence) -> str:
    dropped = counted(cap.removable.upper, "entry", "entries")
    if not (lost := losers(cap)):
        return f"At most {dropped} at the stream's beginning, which no group needs."
    return f"At most {dropped} at the stream's beginning, {lost_to_groups(lost)}."


def _warnings(intent: PublishIntent, cap: TrimEvidence | None) -> Iterator[str]:
    if cap is None:
        return
    lost = losers(cap)
    if lost:
        safely = command("trim", intent.stream, options=f"--maxlen {intent.maxlen}")
        yield f"Without --maxlen nothing is lost; `{safely}` trims as far as no group needs the entries."
    if cap.removable.upper:
        # Where nothing is lost it trims safely, and looks at what the groups need too.
        yield from crowd_warnings(
            len(cap.identity.positions), ALL_A_MILLISECOND if lost else NEEDS_A_MILLISECOND
        )


def _way_back(intent: PublishIntent) -> str:
    ident = "ID" if intent.id is None else quoted(intent.id)
    told = ", whose ID is told once it waits" if intent.id is None else ""
    cancel = command("delayed cancel", intent.stream, options=f"--ids {ident}")
    return f"`{cancel}` takes it back until it is due{told}."
