"""Delayed messages: what the server says about those selected, and the plans to move them at once or to cancel them."""

from datetime import datetime

from msgspec import Struct

from streamops.model.acting import Impact, Plan
from streamops.model.delayed import DelayedMessage
from streamops.model.wording import counted, instant, quoted, span
from streamops.operations.commands import equivalent_command
from streamops.operations.delayed.intent import CancelDelayedIntent, RunDelayedIntent
from streamops.operations.planning import fingerprint, sample


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
        now: The server's clock; none where it may not be asked.
    """

    queue: str
    ids: tuple[str, ...]
    missing: int
    sample: tuple[DelayedMessage, ...]
    queued: int
    destinations: tuple[tuple[str, int], ...]
    broken: tuple[tuple[str, str], ...]
    foreign: tuple[str, ...]
    retries: int
    now: datetime | None


UNIT = ("message", "messages")
"""IDs that the equivalent command names one by one; more are read from stdin."""


def plan_run_delayed(intent: RunDelayedIntent, evidence: DelayedEvidence) -> Plan:
    """Add the selected messages to where they go now; those that cannot become entries are left where they are."""
    broken = dict(evidence.broken)
    count = len(evidence.ids) - len(broken)
    effects = []
    if count:
        effects.append(f"{_messages(count)} will be added {_where(evidence)}, and leave the queue.")
        effects.append(_who(evidence))
    warnings = _left_out(evidence)
    if broken:
        warnings.append(
            f"{_messages(len(broken))} cannot become entries and will be left out, such as "
            f"{quoted(evidence.broken[0][0])}: {evidence.broken[0][1]}."
        )
    return Plan(
        operation="delayed.run-now",
        target=intent.stream,
        impact=Impact.REDELIVERS,
        count=count,
        unit=UNIT,
        sample=sample(_line(one, evidence.now) for one in evidence.sample if one.id not in broken),
        effects=tuple(effects),
        command=equivalent_command("delayed.run-now", intent),
        confirm=intent.stream,
        warnings=tuple(warnings),
        fingerprint=fingerprint(evidence.ids, evidence.broken),
    )


def plan_cancel_delayed(intent: CancelDelayedIntent, evidence: DelayedEvidence) -> Plan:
    """Remove the selected messages, those too that could never become entries."""
    count = len(evidence.ids)
    effects, loses = [], ""
    if count:
        kept = max(0, evidence.queued - len(evidence.foreign) - count)
        effects.append(
            f"{_messages(count)} will never be delivered; {_messages(kept)} "
            f"will stay in the queue of {intent.stream}."
        )
        if evidence.retries:
            effects.append(
                f"{_retries(evidence.retries)}: the group that failed will not get the entry behind it again."
            )
        loses = f"{_messages(count)} for good: no backup is written."
        if intent.backup is not None:
            effects.append(f"Each is written to {intent.backup} before it is removed.")
            one_stream = len(evidence.destinations) == 1 and not evidence.broken
            options = "--new-ids" if one_stream else "--to STREAM --new-ids"
            loses = (
                f"{_messages(count)}; `streamops restore {quoted(intent.backup)} {options}` adds them as entries, "
                "without their delay."
            )
    return Plan(
        operation="delayed.cancel",
        target=intent.stream,
        impact=Impact.DESTRUCTIVE,
        count=count,
        unit=UNIT,
        sample=sample(_line(one, evidence.now) for one in evidence.sample),
        effects=tuple(effects),
        loses=loses,
        command=equivalent_command("delayed.cancel", intent),
        confirm=intent.stream,
        warnings=tuple(_left_out(evidence)),
        fingerprint=fingerprint(evidence.ids),
    )


def _messages(number: int) -> str:
    return counted(number, *UNIT)


def _who(evidence: DelayedEvidence) -> str:
    """Which groups get them."""
    if not evidence.retries:
        return "Every group of that stream will get them."
    if evidence.retries == sum(number for _, number in evidence.destinations):
        return "Only the group that failed will get them."
    return (
        f"{_retries(evidence.retries)}, which only the group that failed will get; "
        "the others go to every group of their stream."
    )


def _retries(number: int) -> str:
    return "1 of them is a retry" if number == 1 else f"{number:,} of them are retries"


def _where(evidence: DelayedEvidence) -> str:
    """``to orders`` or ``to orders (3), {orders}:retry:billing (1)``."""
    places = evidence.destinations
    if len(places) == 1:
        return f"to {places[0][0]}"
    return "to " + ", ".join(f"{name} ({number:,})" for name, number in places)


def _left_out(evidence: DelayedEvidence) -> list[str]:
    words = []
    if evidence.missing:
        words.append(
            f"{counted(evidence.missing, 'ID is', 'IDs are')} not in the queue, and will be left out."
        )
    if evidence.foreign:
        members = counted(len(evidence.foreign), "member", "members")
        words.append(
            f"{members} of {quoted(evidence.queue)} that streamops did not write, such as "
            f"{quoted(evidence.foreign[0])}, will stay as they are: no command touches them."
        )
    return words


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
