"""Delayed messages: what the server says about those selected, and the plans to move them at once or to cancel them."""

from collections.abc import Iterator
from datetime import datetime

from msgspec import Struct

from streamops.model.acting import Plan
from streamops.model.delayed import DelayedMessage
from streamops.model.effects import (
    BROKEN,
    CANCELLED,
    DUE_NOW,
    MESSAGES_LOST,
    NOT_IN_QUEUE,
    NOT_OURS,
    RETRIES_LOST,
    STILL_DELAYED,
    Said,
)
from streamops.model.fields import Passing
from streamops.model.wording import counted, instant, quoted, span
from streamops.operations.delayed.intent import CancelDelayedIntent, RunDelayedIntent
from streamops.operations.planning import planned


class DelayedEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about the messages selected.

    Attributes:
        queue: The queue's key.
        ids: Those that are there, the first due first, or in the order asked for.
        missing: How many of the IDs asked for are not there.
        sample: The first few of them.
        queued: How many messages the queue has in all.
        destinations: Where those go that can become entries, and how many go there.
        broken: Those of them that cannot become entries, by ID with the reason; ``ids`` has them too.
        foreign: Members and bodies of other programs that were asked for; ``ids`` does not have them.
        retries: How many of those that can become entries are due again for one group alone.
        now: The server's clock; None if it may not be asked.
    """

    queue: str
    ids: tuple[str, ...]
    missing: int
    sample: tuple[DelayedMessage, ...]
    queued: Passing[int]
    destinations: tuple[tuple[str, int], ...]
    broken: tuple[tuple[str, str], ...]
    foreign: tuple[str, ...]
    retries: int
    now: datetime | None


UNIT = ("message", "messages")


def plan_run_delayed(intent: RunDelayedIntent, evidence: DelayedEvidence) -> Plan:
    """Add the selected messages to where they go now; those that cannot become entries are left where they are."""
    broken = dict(evidence.broken)
    count = len(evidence.ids) - len(broken)
    first, why = next(iter(evidence.broken), ("", ""))
    return planned(
        intent,
        count,
        unit=UNIT,
        sample=(_line(one, evidence.now) for one in evidence.sample if one.id not in broken),
        effects=[DUE_NOW(count, names=evidence.destinations), count and _who(evidence)],
        warnings=[*_left_out(evidence), BROKEN(len(broken), why, names=[quoted(first)])],
    )


def plan_cancel_delayed(intent: CancelDelayedIntent, evidence: DelayedEvidence) -> Plan:
    """Remove the selected messages, those too that could never become entries."""
    count, backup = len(evidence.ids), intent.backup
    kept = max(0, evidence.queued - len(evidence.foreign) - count)
    way_back = " for good: no backup is written"
    if backup is not None:
        one_stream = len(evidence.destinations) == 1 and not evidence.broken
        options = "--new-ids" if one_stream else "--to STREAM --new-ids"
        way_back = (
            f"; `streamops restore {quoted(backup)} {options}` adds them as entries, without their delay"
        )
    return planned(
        intent,
        count,
        unit=UNIT,
        sample=(_line(one, evidence.now) for one in evidence.sample),
        effects=[
            CANCELLED(count, counted(kept, *UNIT), intent.stream),
            RETRIES_LOST(evidence.retries),
            backup and f"Each is written to {backup} before it is removed.",
        ]
        if count
        else (),
        loses=[MESSAGES_LOST(count, way_back)],
        warnings=_left_out(evidence),
        facts=[STILL_DELAYED(kept)],
    )


def _who(evidence: DelayedEvidence) -> str:
    """Which groups get them."""
    retries = evidence.retries
    if not retries:
        return "Every group of that stream, if it has any, is given them."
    if retries == sum(number for _, number in evidence.destinations):
        return "Only the group that failed is given them."
    some = counted(retries, "of them is a retry", "of them are retries")
    return f"{some}, delivered to the group that failed alone; the others go to all groups of their stream."


def _left_out(evidence: DelayedEvidence) -> Iterator[Said]:
    yield NOT_IN_QUEUE(evidence.missing)
    yield NOT_OURS(len(evidence.foreign), quoted(evidence.queue), names=map(quoted, evidence.foreign[:1]))


def _line(message: DelayedMessage, now: datetime | None) -> str:
    if message.body is None:
        return f"{quoted(message.id)}: {message.problem}"
    words = f"{quoted(message.id)} to {message.body.destination}, {_due(message, now)}"
    if message.body.group:
        words += f", attempt {message.body.attempt} of group {message.body.group}"
    return words


def _due(message: DelayedMessage, now: datetime | None) -> str:
    if message.due_at is None:
        return "never due"
    if now is None:
        return f"due at {instant(message.due_at)}"
    if message.due_at <= now:
        return f"overdue by {span(now - message.due_at)}"
    return f"due in {span(message.due_at - now)}"
