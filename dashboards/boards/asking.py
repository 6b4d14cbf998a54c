"""Expressions that several boards share."""

from collections.abc import Callable
from typing import Final

from dashboards.boards.scopes import EXPORTER, KEY, OF_STREAM, POOL, Scopes
from streamops.monitor.thresholds import Thresholds

SILENT_SECONDS: Final = int(Thresholds().consumer_unseen.total_seconds())


def by_group(expr: str) -> str:
    """One value a group."""
    return f"max by ({KEY}) ({expr})"


def beside(rows: str, key: str = KEY) -> Callable[[str], str]:
    """What makes an expression answer with the rows of another one and their labels: columns of one table."""

    def column(expr: str) -> str:
        return f"{rows} * on ({key}) group_left () max by ({key}) ({expr})"

    return column


def arriving(scopes: Scopes) -> str:
    """Entries that each group gets to do a second: what is added to its stream."""
    group = f"({scopes.group('group_pending_entries')} >= bool 0)"
    return f"{group} * {OF_STREAM} {scopes.stream.rate('stream_entries_added_total')}"


def waiting(scopes: Scopes) -> str:
    """Entries that a group has not got yet; the most it can be, where that is not known for certain."""
    return f"({scopes.group('group_lag_entries')} or {scopes.group('group_lag_upper_bound_entries')})"


def drain(scopes: Scopes) -> str:
    """How long a group that catches up still needs."""
    gain = (
        f"{scopes.group.rate('group_delivered_entries_total')} - {OF_STREAM} "
        f"{scopes.stream.rate('stream_entries_added_total')}"
    )
    return f"{waiting(scopes)} / (({gain}) > 0)"


def retention_used(scopes: Scopes) -> str:
    """Which share of its stream a group has still to read."""
    return f"{scopes.group('group_lag_entries')} / {OF_STREAM} ({scopes.stream('stream_length')} > 0)"


def silent(scopes: Scopes) -> str:
    """Consumers that hold entries and were not seen for ten minutes."""
    unseen = scopes.group.age("consumer_last_seen_timestamp_seconds")
    return f"({scopes.group('consumer_pending_entries')} > 0) and ({unseen} > {SILENT_SECONDS})"


def mean_duration(scopes: Scopes, by: str) -> str:
    """How long a call of a handler takes."""
    total = scopes.worker.rate("handler_duration_seconds_sum")
    calls = scopes.worker.rate("handler_duration_seconds_count")
    return f"sum by ({by}) ({total}) / (sum by ({by}) ({calls}) > 0)"


def quantile(share: float, family: str, scopes: Scopes, by: str = "") -> str:
    """A quantile of a histogram."""
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({share}, sum by ({labels}) ({scopes.worker.rate(f'{family}_bucket')}))"


def busy_share(by: str = "") -> str:
    """Which share of the workers' slots is taken."""
    total = f"sum by ({by}) " if by else "sum"
    return f"{total}({POOL('worker_busy')}) / ({total}({POOL('worker_slots')}) > 0)"


def memory_share() -> str:
    """Which share of its limit a server's memory takes."""
    return f"{EXPORTER('redis_memory_used_bytes')} / ({EXPORTER('redis_memory_max_bytes')} > 0)"
