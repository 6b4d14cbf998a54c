"""Dead letters, memory, streams that are gone, and delayed messages."""

from datetime import datetime
from typing import Final

from streamops.model.delayed import DelayedQueue
from streamops.model.observation import Finding, FindingCode, Health
from streamops.model.streams import ServerNode, StreamRole, StreamState
from streamops.model.wording import command, counted, first_few, quoted, span
from streamops.monitor.history import GoneStreams, StreamHistory
from streamops.monitor.rates import arrivals
from streamops.monitor.rules.rule import Need, Remedy, Rule, RuleScope
from streamops.monitor.samples import SampleSeries, StreamSample
from streamops.monitor.thresholds import Thresholds


def streams_gone(gone: GoneStreams | None, now: datetime, thresholds: Thresholds) -> Finding | None:
    """Streams vanished with their server's data, or the last ones did; critical in the first case."""
    if gone is None or now - gone.at >= thresholds.report_for:
        return None
    how = "the server was restarted without its data, or replaced" if gone.other_server else "none is left"
    return Finding(
        FindingCode.STREAMS_GONE,
        Health.CRITICAL if gone.other_server else Health.WARN,
        f"{counted(len(gone.names), 'stream', 'streams')} vanished {span(now - gone.at)} ago, with all groups "
        f"({first_few([quoted(name) for name in gone.names])}): {how}",
        "If this was not intended, stop the producers and restore the data: check whether the server "
        "loaded its dump or append-only file (INFO persistence), and which replica still has it",
    )


NO_EVICTION = "noeviction"
KEEP = "Protect the streams: CONFIG SET maxmemory-policy noeviction, or give caches a server of their own"


def eviction_risk(node: ServerNode, where: str, thresholds: Thresholds) -> Finding | None:
    """The policy may evict whole streams with their groups; critical when memory runs short.

    An ``allkeys`` policy may take any stream. A ``volatile`` one takes only keys with a time to live,
    which a stream seldom has and a snapshot does not report, so it is reported only when memory runs short.
    """
    policy, used = node.maxmemory_policy, memory_share(node)
    if used is None:
        return None
    short = used >= thresholds.eviction_memory
    if policy.startswith("allkeys-"):
        level, takes = Health.CRITICAL if short else Health.WARN, "whole streams with their groups"
    elif policy.startswith("volatile-") and short:
        level, takes = Health.WARN, "keys with a TTL, including streams that have one"
    else:
        return None
    evicted = node.evicted_keys
    so_far = f"; {counted(evicted, 'key', 'keys')} evicted since it started" if evicted else ""
    return Finding(
        FindingCode.EVICTION_RISK,
        level,
        f"{where}the policy {quoted(policy)} evicts {takes}, and {used:.0%} of maxmemory is in use{so_far}",
        KEEP,
    )


def oom(node: ServerNode, where: str, thresholds: Thresholds) -> Finding | None:
    """Without eviction a full memory refuses XADD while XACK works, so dead letters get lost."""
    used = memory_share(node)
    if used is None or used < thresholds.oom_memory or node.maxmemory_policy != NO_EVICTION:
        return None
    return Finding(
        FindingCode.OOM,
        Health.CRITICAL,
        f"{where}{used:.0%} of maxmemory is in use under {NO_EVICTION}: when it is full, "
        "XADD is refused while XACK works, so dead letters cannot be written",
        "Free memory (XTRIM), or raise maxmemory",
    )


def memory_share(node: ServerNode) -> float | None:
    """Memory in use over maxmemory; None if there is no limit or INFO did not tell."""
    if not node.max_memory or node.used_memory is None:
        return None
    return node.used_memory / node.max_memory


def dead_letters(stream: StreamState, history: StreamHistory, thresholds: Thresholds) -> Finding | None:
    """A dead-letter stream has entries; critical while they keep coming."""
    if stream.role is not StreamRole.DEAD_LETTERS or stream.length < thresholds.dead_letters:
        return None
    text = counted(stream.length, "dead letter", "dead letters")
    if stream.source is not None:
        text += f" of {quoted(stream.source)}"
    growth = history.growth
    added = arrivals(growth.values[0], growth.values[-1]) if growth is not None else None
    critical = growth is not None and added is not None and _fast(growth, added, thresholds)
    if growth is not None and added:
        text += f", {added:,} added in {span(growth.span)}"
    show = command("dlq show", stream.name)
    replay = command("replay", stream.name)
    return Finding(
        FindingCode.DEAD_LETTERS,
        Health.CRITICAL if critical else Health.WARN,
        text,
        f"See the reasons: {show}; fix the cause, then replay them: {replay}",
    )


def _fast(growth: SampleSeries[StreamSample], added: int, thresholds: Thresholds) -> bool:
    """Whether enough came, or, where readings are sparse and span longer, proportionally more."""
    longer = max(1.0, growth.span / thresholds.dead_letters_growth_within)
    return added >= thresholds.dead_letters_growth * longer


def delayed_overdue(queue: DelayedQueue, now: datetime, thresholds: Thresholds) -> Finding | None:
    """Messages are overdue: no worker moves them to their stream."""
    if queue.next_due_at is None or (late := now - queue.next_due_at) < thresholds.delayed_overdue:
        return None
    of = f"of {quoted(queue.stream)}"
    due = counted(queue.due, f"delayed message {of} is", f"delayed messages {of} are")
    move = command("delayed run-now", queue.stream, options="--before 0s")
    return Finding(
        FindingCode.DELAYED_OVERDUE,
        Health.CRITICAL,
        f"{due} overdue, the first by {span(late)}: no worker moves due messages",
        f"Start a worker of the application. Until one runs: {move}",
        stream=queue.stream,
    )


def delayed_foreign(queue: DelayedQueue, _now: datetime, _: Thresholds) -> Finding | None:
    """Another program keeps members in the sorted set that is the queue."""
    if not queue.foreign:
        return None
    members = counted(queue.foreign, "member", "members")
    return Finding(
        FindingCode.DELAYED_FOREIGN,
        Health.WARN,
        f"the delayed queue of {quoted(queue.stream)} has {members} that streamops did not write; it leaves them untouched",
        f"See which: {command('delayed ls', queue.stream)}; name a sorted set of its own "
        "(`delayed` of the context and of Streamops)",
        stream=queue.stream,
    )


RULES: Final = (
    Rule(
        dead_letters,
        alert="StreamopsDeadLetters",
        judged=RuleScope.STREAM,
        means="Entries were dead-lettered: they failed for good.",
        cause="They used up their attempts, were rejected, or crashed workers. It is critical while more are added.",
        look=(
            "their reasons (4, or Enter): one cause or many",
            "the newest of them: does it still happen",
        ),
        fixes=(
            Remedy("replay", "The cause is fixed: replay them, filtered and rate-limited."),
            Remedy("dlq.purge", "They are worthless: delete them; a backup is written first."),
        ),
    ),
    Rule(
        eviction_risk,
        alert="StreamopsEvictionRisk",
        judged=RuleScope.NODE,
        needs=frozenset({Need.MEMORY}),
        means="The server may delete whole streams when memory is short: its maxmemory-policy evicts keys.",
        cause="A server configured as a cache is used for streams. Eviction is silent: a stream is deleted with its groups.",
        look=(
            "CONFIG GET maxmemory-policy, and INFO memory: how near it is",
            "evicted_keys of INFO stats: whether it has happened",
        ),
        fixes=(
            Remedy("", "Set maxmemory-policy to noeviction, or move the streams to a server of their own."),
        ),
    ),
    Rule(
        oom,
        alert="StreamopsRedisMemoryNearlyFull",
        judged=RuleScope.NODE,
        needs=frozenset({Need.MEMORY}),
        means=(
            "Memory is nearly full and the policy refuses writes: producers will get errors, and so "
            "will retries, dead letters and the audit log."
        ),
        cause="Streams that are not trimmed, payloads that are large, or other data on the same server.",
        look=(
            "LENGTH and ENTRY SIZE of the streams (2), the longest first",
            "MEMORY USAGE of a stream: its size, compared with INFO memory",
        ),
        fixes=(
            Remedy("trim", "Free memory: a safe trim keeps what any group still needs."),
            Remedy("", "Raise maxmemory."),
        ),
    ),
    Rule(
        streams_gone,
        alert="StreamopsEntriesLost",
        judged=RuleScope.SERVER,
        means="Streams and their groups vanished from the server.",
        cause=(
            "The server started without its data (no dump file, an empty volume), another server answers "
            "at its address, or the database was flushed. Producers may already add to new streams "
            "of the same names."
        ),
        look=(
            "whether it is the right server, and its uptime (INFO)",
            "whether a replica, a dump or an append-only file still has the data",
        ),
        fixes=(
            Remedy("", "Stop the producers, and restore the data before anything else is written."),
            Remedy("restore", "Entries were exported or backed up: add them to the stream again."),
        ),
    ),
    Rule(
        delayed_overdue,
        alert="StreamopsDelayedMessages",
        judged=RuleScope.QUEUE,
        needs=frozenset({Need.DELAYED}),
        means="Delayed messages are overdue, and no worker moves them to their stream: retries and reminders are late.",
        cause="Workers of the stream move due messages. No worker runs, or none can write to the queue.",
        look=(
            "the queues and how long they are overdue: streamops delayed ls",
            "the workers (5): whether one reads this stream",
        ),
        fixes=(
            Remedy("", "Start a worker of the application."),
            Remedy(
                "delayed.run-now",
                "If no worker can run: move due messages by hand, or every minute by a timer.",
            ),
        ),
    ),
    Rule(
        delayed_foreign,
        alert="StreamopsDelayedMessages",
        judged=RuleScope.QUEUE,
        needs=frozenset({Need.DELAYED}),
        means="The sorted set that is the stream's delayed queue has members that streamops did not write.",
        cause="The configuration names another program's sorted set as a delayed queue, or another program writes to this one.",
        look=(
            "which members, and why they are no messages: streamops delayed ls STREAM",
            "`delayed` of the context and of Streamops: which set they name",
        ),
        fixes=(
            Remedy(
                "",
                "Give streamops a sorted set that no other program uses. streamops never removes or "
                "moves members of other programs.",
            ),
        ),
    ),
)
