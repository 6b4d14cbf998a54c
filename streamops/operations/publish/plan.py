"""Publishing an entry, now or later: what the server says about its stream, and the plan."""

from collections.abc import Iterator

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Impact, Plan
from streamops.model.effects import CAP_LOST, PUBLISHED, STREAM_CREATED, Said
from streamops.model.entries import ZERO_ID, EntryId
from streamops.model.fields import Passing
from streamops.model.wording import command, counted, quoted, span
from streamops.operations.losses import (
    NAMED,
    GroupLoss,
    TrimEvidence,
    loss_effects,
    loss_facts,
    lost_to_groups,
    oldest_go,
)
from streamops.operations.planning import (
    ALL_A_MILLISECOND,
    NEEDS_A_MILLISECOND,
    many_groups_warnings,
    planned,
)
from streamops.operations.publish.intent import PublishIntent


class PublishEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about the stream.

    Attributes:
        exists: Whether there is such a stream.
        length: Entries in it.
        last_generated_id: Its last generated ID; None if it is not known, or there is no stream.
        groups: Its groups.
        cap: What trimming it to its cap removes, and who loses what; None if there is nothing to remove.
        taken: Whether there is a delayed message of that ID.
        queue: The key of the stream's queue of delayed messages.
    """

    exists: bool
    length: Passing[int] = 0
    last_generated_id: Passing[EntryId | None] = None
    groups: tuple[str, ...] = ()
    cap: TrimEvidence | None = None
    taken: bool = False
    queue: str = ""


def plan_publish(intent: PublishIntent, evidence: PublishEvidence) -> Plan:
    """Add one entry, or one delayed message.

    If its cap would drop what a group has yet to read or to acknowledge, that is a loss like any other.

    Raises:
        Forbidden: It has no fields, its ID is taken, or it is both delayed and to trim.
    """
    _check(intent, evidence)
    cap = evidence.cap
    return planned(
        intent,
        1,
        impact=_impact(cap),
        unit=("entry", "entries") if intent.delay is None else ("message", "messages"),
        sample=[f"{intent.id or 'a generated ID'}: {counted(len(intent.pairs), 'field', 'fields')}"],
        effects=_effects(intent, evidence),
        loses=[CAP_LOST(cap.removable, _needed(cap))] if cap else (),
        warnings=_warnings(intent, cap) if cap else (),
        facts=loss_facts(cap.losses[NAMED:]) if cap else (),
    )


def losers(cap: TrimEvidence) -> tuple[GroupLoss, ...]:
    """The groups that lose what they have yet to read or to acknowledge."""
    return tuple(loss for loss in cap.losses if loss.unread.upper or loss.pending)


def _impact(cap: TrimEvidence | None) -> Impact:
    if cap is None:
        return Impact.REVERSIBLE
    return Impact.DESTRUCTIVE if losers(cap) else Impact.REDELIVERS


def _needed(cap: TrimEvidence) -> str:
    lost = losers(cap)
    return lost_to_groups(lost) if lost else "which no group needs"


def _check(intent: PublishIntent, evidence: PublishEvidence) -> None:
    stream, nothing = intent.stream, "Nothing was done."
    last = evidence.last_generated_id or ZERO_ID
    if not intent.pairs:
        raise Forbidden(f"publish {stream}: no fields", f"{nothing} Give at least one FIELD=VALUE.")
    if intent.delay is not None and intent.maxlen is not None:
        raise Forbidden(
            f"publish {stream}: a delayed message cannot trim its stream",
            f"{nothing} Leave out --maxlen, or --delay.",
        )
    if intent.delay is not None and evidence.taken:
        raise Forbidden(
            f"stream {stream} has a delayed message {intent.id} already",
            f"{nothing} See it with `{command('delayed show', stream, intent.id or '')}`.",
        )
    if intent.delay is None and intent.id is not None and EntryId.parse(intent.id) <= last:
        raise Forbidden(
            f"stream {stream} takes IDs after {last} only",
            f"{nothing} Leave out --id: the server chooses one.",
        )


def _effects(intent: PublishIntent, evidence: PublishEvidence) -> Iterator[Said]:
    stream, cap = intent.stream, evidence.cap
    if intent.delay is not None:
        yield f"One message will wait in the queue of {stream}, and be due in {span(intent.delay)}."
        yield _way_back(intent)
    elif not evidence.exists:
        yield STREAM_CREATED(1, stream, "will be created, with one entry and no group")
    else:
        yield PUBLISHED(1, stream, names=evidence.groups)
    if cap is not None:
        yield oldest_go(cap, exact=False)
        yield from loss_effects(cap.losses)


def _warnings(intent: PublishIntent, cap: TrimEvidence) -> Iterator[str]:
    lost = losers(cap)
    if lost:
        safely = command("trim", intent.stream, options=f"--maxlen {intent.maxlen}")
        yield f"Without --maxlen nothing is lost; `{safely}` trims as far as no group needs the entries."
    if cap.removable.upper:
        # If nothing is lost it trims safely, and looks at what the groups need too.
        yield from many_groups_warnings(
            len(cap.identity.positions), ALL_A_MILLISECOND if lost else NEEDS_A_MILLISECOND
        )


def _way_back(intent: PublishIntent) -> str:
    ident = "ID" if intent.id is None else quoted(intent.id)
    told = ", whose ID is printed once it is queued" if intent.id is None else ""
    cancel = command("delayed rm", intent.stream, options=f"--ids {ident}")
    return f"`{cancel}` removes it until it is due{told}."
