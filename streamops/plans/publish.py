"""Publishing."""

from streamops.analysis.wording import command, counted, quoted, span
from streamops.errors import Forbidden
from streamops.model.acting import Plan, Tier
from streamops.model.acts.publish import PublishEvidence, PublishIntent
from streamops.model.ids import ZERO_ID, EntryId
from streamops.plans.evidence import fingerprint


def plan_publish(intent: PublishIntent, evidence: PublishEvidence) -> Plan:
    """Add one entry, or one delayed message.

    Raises:
        Forbidden: It has no fields, its ID cannot be taken, or it is both delayed and to trim.
    """
    _check(intent, evidence)
    unit = ("entry", "entries") if intent.delay is None else ("message", "messages")
    return Plan(
        operation="publish",
        target=intent.stream,
        tier=Tier.REDELIVERS,
        count=1,
        unit=unit,
        sample=(f"{intent.id or 'an ID of its own'}: {counted(len(intent.pairs), 'field', 'fields')}",),
        effects=tuple(_effects(intent, evidence)),
        loses=_loses(intent, evidence),
        command=command("publish", intent.stream, *map(_pair, intent.pairs), options=_options(intent)),
        fingerprint=fingerprint(intent.stream, intent.pairs, intent.id, evidence.exists, evidence.taken),
    )


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
        _check_entry_id(intent, evidence, intent.id)


def _check_entry_id(intent: PublishIntent, evidence: PublishEvidence, text: str) -> None:
    try:
        entry_id = EntryId.parse(text)
    except ValueError as error:
        raise Forbidden(
            f"publish {intent.stream}: {error}", "Write 1526919030474-0, or leave out --id."
        ) from None
    last = evidence.last_generated_id or ZERO_ID
    if entry_id <= last:
        raise Forbidden(
            f"stream {intent.stream} takes IDs after {last} only",
            "Nothing was done. Leave out --id: the server chooses one.",
        )


def _effects(intent: PublishIntent, evidence: PublishEvidence) -> list[str]:
    groups = counted(len(evidence.groups), "group", "groups")
    if intent.delay is not None:
        return [f"One message will wait in the queue of {intent.stream}, and be due in {span(intent.delay)}."]
    if not evidence.exists:
        return [f"Stream {intent.stream} will be created, with one entry and no group."]
    return [f"One entry will be added to {intent.stream}; {groups} will get it."]


def _loses(intent: PublishIntent, evidence: PublishEvidence) -> str:
    if intent.maxlen is None or evidence.length < intent.maxlen:
        return ""
    dropped = evidence.length + 1 - intent.maxlen
    return f"At most {counted(dropped, 'entry', 'entries')} at the stream's beginning, read or not."


def _options(intent: PublishIntent) -> str:
    words = []
    if intent.delay is not None:
        words.append(f"--delay {intent.delay.total_seconds():g}s")
    if intent.id is not None:
        words.append(f"--id {quoted(intent.id)}")
    if intent.maxlen is not None:
        words.append(f"--maxlen {intent.maxlen}")
    return " ".join(words)


def _pair(field: tuple[bytes, bytes]) -> str:
    return b"=".join(field).decode("utf-8", "surrogateescape")
