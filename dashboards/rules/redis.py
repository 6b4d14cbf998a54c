"""Alerts on what Redis does when its memory is full."""

from collections.abc import Iterator
from typing import Final

from dashboards.rules.building import Alert, Severity
from dashboards.rules.pace import MINUTE

SHARE: Final = "Redis {{ $labels.address }} uses {{ $value | humanizePercentage }} of its maxmemory"


def redis_alerts() -> Iterator[Alert]:
    """The alerts."""
    yield _eviction(
        "allkeys-.+", Severity.CRITICAL, "whole streams with their groups, whenever more is needed"
    )
    yield _eviction(
        "volatile-.+", Severity.WARNING, "keys that have a time to live, streams among them if they have one"
    )
    yield Alert(
        name="WritesWillFail",
        expr=_memory("noeviction", 0.9),
        lasting=5 * MINUTE,
        severity=Severity.CRITICAL,
        summary="Redis {{ $labels.address }} is about to refuse writes",
        description=f"{SHARE} under noeviction. When it is full, XADD is refused while XACK works, so that not even dead "
        "letters can be written.",
    )


def _eviction(policy: str, severity: Severity, takes: str) -> Alert:
    return Alert(
        name="EvictionRisk",
        expr=_memory(policy, 0.7),
        lasting=5 * MINUTE,
        severity=severity,
        summary="Redis {{ $labels.address }} may evict streams",
        description=f"{SHARE}, and its policy {{{{ $labels.maxmemory_policy }}}} evicts {takes}.",
    )


def _memory(policy: str, share: float) -> str:
    """Servers whose memory is used so far; absent where there is no limit."""
    return f"""
streamops_redis_memory_used_bytes / streamops_redis_memory_max_bytes
* on (job, instance, address) group_left (maxmemory_policy)
streamops_redis_config_info{{maxmemory_policy=~"{policy}"}}
> {share}
"""
