"""Rules 14 and 15: what the server does when its memory is full."""

from streamops.analysis.rules.subject import NodeSubject
from streamops.analysis.thresholds import Thresholds
from streamops.analysis.wording import counted, quoted
from streamops.model.observation import Finding, FindingCode, Health

NO_EVICTION = "noeviction"
KEEP = "Protect the streams: CONFIG SET maxmemory-policy noeviction, or give caches a server of their own"


def eviction_risk(subject: NodeSubject, thresholds: Thresholds) -> Finding | None:
    """Rule 14: the policy may evict whole streams with their groups; critical when memory runs short.

    An ``allkeys`` policy may take any stream. A ``volatile`` one takes only keys with a time to live,
    which a stream seldom has and a snapshot does not tell, so it is reported only when memory runs short.
    """
    policy, used = subject.node.maxmemory_policy, memory_share(subject)
    if used is None:
        return None
    short = used >= thresholds.eviction_memory
    if policy.startswith("allkeys-"):
        level, takes = Health.CRITICAL if short else Health.WARN, "whole streams with their groups"
    elif policy.startswith("volatile-") and short:
        level, takes = Health.WARN, "keys that have a time to live, streams among them if they have one"
    else:
        return None
    evicted = subject.node.evicted_keys
    so_far = f"; {counted(evicted, 'key', 'keys')} evicted since it started" if evicted else ""
    return Finding(
        FindingCode.EVICTION_RISK,
        level,
        f"{_where(subject)}the policy {quoted(policy)} evicts {takes}, "
        f"and {used:.0%} of maxmemory is in use{so_far}",
        KEEP,
    )


def oom(subject: NodeSubject, thresholds: Thresholds) -> Finding | None:
    """Rule 15: without eviction a full memory refuses XADD while XACK works, so dead letters get lost."""
    used = memory_share(subject)
    if used is None or used < thresholds.oom_memory or subject.node.maxmemory_policy != NO_EVICTION:
        return None
    return Finding(
        FindingCode.OOM,
        Health.CRITICAL,
        f"{_where(subject)}{used:.0%} of maxmemory is in use under {NO_EVICTION}: when it is full, "
        "XADD is refused while XACK works, so dead letters cannot be written",
        "Make room (XTRIM), or raise maxmemory",
    )


def memory_share(subject: NodeSubject) -> float | None:
    """Memory in use over maxmemory; none where there is no limit or INFO did not tell."""
    node = subject.node
    if not node.max_memory or node.used_memory is None:
        return None
    return node.used_memory / node.max_memory


def _where(subject: NodeSubject) -> str:
    return f"{quoted(subject.node.address)}: " if subject.named else ""
