"""Dead letters, memory, streams that are gone, and delayed messages."""

from datetime import datetime

from streamops.model.delayed import DelayedQueue
from streamops.model.observation import Finding, FindingCode, Health
from streamops.model.streams import ServerNode, StreamRole, StreamState
from streamops.model.wording import command, counted, first_few, quoted, span
from streamops.monitor.history import GoneStreams, StreamHistory
from streamops.monitor.rates import arrivals
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
        "If this was not intended, stop the producers and bring the data back: look whether the server loaded its dump or "
        "append-only file (INFO persistence), and which replica still has it",
    )


NO_EVICTION = "noeviction"
KEEP = "Protect the streams: CONFIG SET maxmemory-policy noeviction, or give caches a server of their own"


def eviction_risk(node: ServerNode, where: str, thresholds: Thresholds) -> Finding | None:
    """The policy may evict whole streams with their groups; critical when memory runs short.

    An ``allkeys`` policy may take any stream. A ``volatile`` one takes only keys with a time to live,
    which a stream seldom has and a snapshot does not tell, so it is reported only when memory runs short.
    """
    policy, used = node.maxmemory_policy, memory_share(node)
    if used is None:
        return None
    short = used >= thresholds.eviction_memory
    if policy.startswith("allkeys-"):
        level, takes = Health.CRITICAL if short else Health.WARN, "whole streams with their groups"
    elif policy.startswith("volatile-") and short:
        level, takes = Health.WARN, "keys that have a time to live, streams among them if they have one"
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
        "Make room (XTRIM), or raise maxmemory",
    )


def memory_share(node: ServerNode) -> float | None:
    """Memory in use over maxmemory; none where there is no limit or INFO did not tell."""
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
    """Messages are due, and nothing moves them to their stream."""
    if queue.next_due_at is None or (late := now - queue.next_due_at) < thresholds.delayed_overdue:
        return None
    waiting = counted(queue.due, "delayed message", "delayed messages")
    move = command("delayed run-now", queue.stream, options="--before 0s")
    return Finding(
        FindingCode.DELAYED_OVERDUE,
        Health.CRITICAL,
        f"{waiting} of {quoted(queue.stream)} due, the first for {span(late)}, and nothing moves them",
        f"Start a worker of the application: workers move what is due. Until one runs: {move}",
    )


def delayed_foreign(queue: DelayedQueue, _now: datetime, _: Thresholds) -> Finding | None:
    """Another program keeps members in the sorted set that is the queue."""
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
