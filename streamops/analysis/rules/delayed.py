"""Rules 17 and 18: queues of delayed messages."""

from streamops.analysis.rules.subject import QueueSubject
from streamops.analysis.thresholds import Thresholds
from streamops.analysis.wording import command, counted, quoted, span
from streamops.model.observation import Finding, FindingCode, Health


def delayed_overdue(subject: QueueSubject, thresholds: Thresholds) -> Finding | None:
    """Rule 17: messages are due, and nothing moves them to their stream."""
    queue = subject.queue
    if queue.next_due_at is None or (late := subject.now - queue.next_due_at) < thresholds.delayed_overdue:
        return None
    waiting = counted(queue.due, "delayed message", "delayed messages")
    move = command("delayed run-now", queue.stream, options="--before 0s")
    return Finding(
        FindingCode.DELAYED_OVERDUE,
        Health.CRITICAL,
        f"{waiting} of {quoted(queue.stream)} due, the first for {span(late)}, and nothing moves them",
        f"Start a worker of the application: workers move what is due. Until one runs: {move}",
    )


def delayed_foreign(subject: QueueSubject, _: Thresholds) -> Finding | None:
    """Rule 18: another program keeps members in the sorted set that is the queue."""
    queue = subject.queue
    if not queue.foreign:
        return None
    members = counted(queue.foreign, "member", "members")
    return Finding(
        FindingCode.DELAYED_FOREIGN,
        Health.WARN,
        f"the delayed queue of {quoted(queue.stream)} has {members} that streamops did not write; they stay untouched",
        f"See which: {command('delayed ls', queue.stream)}; give streamops a sorted set of its own "
        "(`delayed` of the context and of Streamops)",
    )
