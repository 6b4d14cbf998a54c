"""Whether what was delivered gets done."""

from datetime import timedelta
from typing import Final

from streamops.model.entries import PendingEntry
from streamops.model.fields import is_readable
from streamops.model.observation import Finding, FindingCode, Health
from streamops.model.streams import Consumer
from streamops.model.wording import command, counted, quoted, span
from streamops.monitor.pending_scan import dangling
from streamops.monitor.rules.delivery import stalled
from streamops.monitor.rules.evidence import GroupEvidence, old_entries, poison_entry, suspects
from streamops.monitor.rules.rule import Need, Remedy, Rule, RuleScope
from streamops.monitor.thresholds import Thresholds


def dead_consumer(evidence: GroupEvidence, thresholds: Thresholds) -> Finding | None:
    """A consumer holds pending entries and has not been seen for too long.

    No more than a suspicion: a server cannot tell a consumer that died from one that blocks or works. Of our own
    workers their heartbeats tell it for certain.
    """
    found = suspects(evidence, thresholds)
    if not found:
        return None
    worst = max(found, key=lambda member: (member.alive is False, member.pending, member.idle))
    last = "last seen" if evidence.sees_asking else "last delivered an entry"
    verdict = "suspected dead" if worst.alive is None else "dead, its worker's heartbeat is gone"
    text = f"consumer {quoted(worst.name)} holds {_held(worst.pending)} and was {last} {span(worst.idle)} ago: {verdict}"
    if len(found) > 1:
        others = sum(member.pending for member in found) - worst.pending
        text += f", like {counted(len(found) - 1, 'other', 'others')} with {_held(others)}"
    receiver = _receiver(evidence, thresholds)
    advice = _hand_over(evidence, worst, receiver)
    return Finding(FindingCode.DEAD_CONSUMER, Health.WARN, text, advice, receiver, consumer=worst.name)


def poison(evidence: GroupEvidence, thresholds: Thresholds) -> Finding | None:
    """An entry is delivered again and again and never acknowledged."""
    entry = poison_entry(evidence, thresholds)
    if entry is None:
        return None
    stream, group = evidence.stream.name, evidence.group.name
    read = command("streams search", stream, options=f"--from-id {entry.id} --to-id {entry.id}")
    dead_letter = command("dlq add", stream, group, options=f"--ids {entry.id}")
    return Finding(
        FindingCode.POISON,
        Health.WARN,
        f"entry {entry.id} was delivered {counted(entry.delivery_count, 'time', 'times')} "
        f"and is still pending{_owner(entry)}",
        f"Read it: {read}; fix its handler, or dead-letter it: {dead_letter}",
        entry=entry.id,
    )


def pending_old(evidence: GroupEvidence, thresholds: Thresholds) -> Finding | None:
    """An entry has been with consumers for too long.

    Not where its owner is a suspect (``dead_consumer``) or it is the ``poison`` entry: those say why.
    """
    rows = old_entries(evidence, thresholds)
    if not rows:
        return None
    owners = {member.name for member in suspects(evidence, thresholds)}
    poisonous = poison_entry(evidence, thresholds)
    for entry, held in rows:
        if entry.consumer in owners or (poisonous is not None and entry.id == poisonous.id):
            continue
        stream, group = evidence.stream.name, evidence.group.name
        claim = command("claim", stream, group, options=f"--ids {entry.id} --to CONSUMER")
        return Finding(
            FindingCode.PENDING_OLD,
            Health.WARN,
            _pending_for(entry, held, evidence.group.oldest_pending_age or held),
            "If it was claimed, its consumer gets it only by reading its own pending entries (XREADGROUP from ID 0, "
            f"or XAUTOCLAIM); if its consumer is not working on it, claim it for another: {claim}",
            entry=entry.id,
        )
    return None


def dangling_pending(evidence: GroupEvidence, thresholds: Thresholds) -> Finding | None:
    """Pending entries were trimmed or deleted; critical once the first has lain for too long to be in work.

    A consumer that was given such an entry shortly before may still finish it; no other can be given it again.
    """
    group = evidence.group
    gone, first = dangling(evidence.stream, group)
    if not gone or first is None:
        return None
    profile = group.profile
    whole = gone == group.pending or (profile is not None and profile.coverage == 1 and not profile.deleted)
    least = "" if whole else "at least "
    stream = evidence.stream.name
    listing = command("pending ls", stream, group.name)
    give_up = command("ack", stream, group.name, options=f"--ids {first.id}")
    return Finding(
        FindingCode.DANGLING_PENDING,
        Health.CRITICAL if first.idle >= thresholds.stalled_after else Health.WARN,
        f"{least}{gone:,} of {counted(group.pending, 'pending entry is', 'pending entries are')} gone from the stream, "
        f"the first {first.id}: a consumer that claims them gets no fields",
        f"Restore them from a backup (streamops restore FILE --new-ids), or list them: {listing}; "
        f"acknowledging removes them: {give_up}",
    )


def _held(pending: int) -> str:
    return counted(pending, "pending entry", "pending entries")


def _pending_for(entry: PendingEntry, held: timedelta, age: timedelta) -> str:
    times = f"delivered {counted(entry.delivery_count, 'time', 'times')}"
    if entry.free:
        return (
            f"entry {entry.id} was released, is free for any consumer and {span(age)} old by its ID, {times}"
        )
    if entry.delivery_count > 1:
        return f"entry {entry.id}, {span(age)} old by its ID, is pending{_owner(entry)}, {times}, last delivered or claimed {span(entry.idle)} ago"
    return f"entry {entry.id} has been pending for {span(held)}{_owner(entry)}, {times}"


def _owner(entry: PendingEntry) -> str:
    return f" with {quoted(entry.consumer)}" if entry.consumer else " with no consumer"


def _receiver(evidence: GroupEvidence, thresholds: Thresholds) -> str | None:
    """The consumer seen last, if one was seen lately and entries may be handed to its name."""
    living = [
        member
        for member in evidence.members or ()
        if member.idle < thresholds.consumer_unseen and member.alive is not False and is_readable(member.name)
    ]
    last = min(living, key=lambda member: member.idle, default=None)
    return None if last is None else last.name


def _hand_over(evidence: GroupEvidence, dead: Consumer, receiver: str | None) -> str:
    to = "CONSUMER" if receiver is None else quoted(receiver)
    start = "start a consumer and " if receiver is None else ""
    claim = command(
        "claim", evidence.stream.name, evidence.group.name, options=f"--from {quoted(dead.name)} --to {to}"
    )
    if dead.alive is False:
        return f"Workers of its group claim its entries by themselves; if none runs: {claim}"
    return f"If it is gone, {start}claim its entries: {claim}"


RULES: Final = (
    Rule(
        dead_consumer,
        alert="StreamopsPendingEntriesStuck",
        judged=RuleScope.PENDING,
        needs=frozenset({Need.CONSUMERS}),
        means=(
            "A consumer owns pending entries and has been idle for too long. Redis cannot tell a dead "
            "consumer from one that is busy or blocked, so this is a suspicion; for workers with a "
            "heartbeat it is certain."
        ),
        cause=(
            "A worker was killed, its machine went down, or a deployment renamed it. Its entries stay "
            "pending until they are claimed."
        ),
        look=(
            "IDLE, INACTIVE and PENDING of that consumer (Enter): claims for it, and undoing one from it, restart IDLE and INACTIVE",
            "whether its process still runs",
            "IDLE of its entries: is it longer than the slowest handler takes",
        ),
        fixes=(
            Remedy(
                "claim", "Claim its entries for a live consumer; the plan says which were delivered lately."
            ),
            Remedy("consumers.rm", "It is gone for good and has no pending entries."),
        ),
    ),
    Rule(
        poison,
        alert="StreamopsPendingEntriesStuck",
        judged=RuleScope.PENDING,
        needs=frozenset({Need.PENDING}),
        means="An entry is delivered again and again and never acknowledged.",
        cause="Its content makes the handler fail or crashes the worker; other entries are processed.",
        look=(
            "its payload (Enter on it), and the error in the logs of its owner",
            "DELIVERIES: history reads and claims count too, so there may have been fewer attempts",
        ),
        fixes=(
            Remedy("", "Fix the handler: streamops workers retry the entry by themselves."),
            Remedy("dlq.add", "Dead-letter it: a dead letter can be edited and replayed."),
            Remedy("ack", "It was processed, or is not needed: it is not delivered again."),
            Remedy(
                "streams.rm-entry",
                "Delete it, so that no consumer reads it again; a backup is written first.",
            ),
        ),
    ),
    Rule(
        pending_old,
        alert="StreamopsPendingEntriesStuck",
        judged=RuleScope.PENDING,
        needs=frozenset({Need.PENDING}),
        explained_by=(stalled,),
        means="An entry has been pending for too long, neither acknowledged nor released.",
        cause="Its handler is slow, blocked, or dropped it: an exception between XREADGROUP and XACK.",
        look=(
            "its deliveries and idle time (l)",
            "whether its owner acknowledges other entries",
        ),
        fixes=(
            Remedy("claim", "Its owner does not process it: claim it for another consumer."),
            Remedy("nack", "Release it to the group now."),
            Remedy("ack", "It was processed."),
        ),
    ),
    Rule(
        dangling_pending,
        alert="StreamopsEntriesLost",
        judged=RuleScope.PENDING,
        needs=frozenset({Need.PENDING}),
        means="Entries are still pending in the group, but no longer in the stream: a consumer that claims them gets no fields.",
        cause=(
            "The stream was trimmed (MAXLEN, MINID, XTRIM) past pending entries. A consumer that has "
            "read one may still finish it; otherwise it is lost."
        ),
        look=(
            "the audit log (7): whether streamops trimmed it, and where the backup is",
            "who trims: XADD with MAXLEN in the producers, a cron job, a policy",
        ),
        fixes=(
            Remedy("restore", "A backup of them was written: add them to the stream again."),
            Remedy("ack", "Acknowledge the rows that remain."),
            Remedy("trim", "Trim safely from now on: pending entries are kept."),
        ),
    ),
)
