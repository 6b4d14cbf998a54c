"""Alerts on what Redis does when its memory is full."""

from collections.abc import Iterator
from typing import Final

from dashboards.rules.building import Alert, Severity
from dashboards.rules.matching import EXPORTER
from dashboards.rules.pace import MINUTE, Pace

SHARE: Final = "Redis {{ $labels.address }} uses {{ $value | humanizePercentage }} of its maxmemory"


def redis_alerts(pace: Pace) -> Iterator[Alert]:
    """The alerts."""
    yield _gone(pace)
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


def _gone(pace: Pace) -> Alert:
    return Alert(
        name="StreamsGone",
        expr=f"""
(
  count by (job, instance, db) (streamops_stream_length offset {pace.range(10 * MINUTE)})
  unless
  count by (job, instance, db) (streamops_stream_length)
)
and {EXPORTER} streamops_up == 1
""",
        lasting=MINUTE,
        severity=Severity.CRITICAL,
        summary="All streams of database {{ $labels.db }} are gone from Redis behind {{ $labels.instance }}",
        description=f'The exporter {{{{ $labels.instance }}}} reported {{{{ $value | printf "%.0f" }}}} streams of database '
        f"{{{{ $labels.db }}}} {pace.words(10 * MINUTE)} ago and reports none now, though Redis answers.",
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
