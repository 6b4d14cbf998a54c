"""What is worked out once, for alerts and dashboards alike."""

from typing import Final

from dashboards.rules.building import Record
from dashboards.rules.matching import age
from dashboards.rules.pace import MINUTE, Pace

RATES: Final = 5 * MINUTE
FAILURES: Final = 10 * MINUTE
CALLS: Final = "streamops_handler_duration_seconds_count"


def records(pace: Pace) -> tuple[Record, ...]:
    """The recording rules, those first that others build on. Their names stay what they are at any pace."""
    return (*_rates(pace), *_waiting(), *_ages(), *_workers(pace), _scrapes())


def _rates(pace: Pace) -> tuple[Record, ...]:
    window = pace.range(RATES)
    return tuple(
        Record(f"streamops:{name}:rate5m", f"rate(streamops_{name}_total[{window}])")
        for name in ("stream_entries_added", "group_delivered_entries", "group_acked_entries")
    )


def _waiting() -> tuple[Record, ...]:
    return (
        # Entries that are known to wait; where their number is not known, at most so many.
        Record(
            "streamops:group_waiting_entries",
            """
streamops_group_lag_entries > 0
or
(streamops_group_lag_upper_bound_entries and streamops_group_time_lag_seconds > 0)
""",
        ),
        Record(
            "streamops:group_retention_used_ratio",
            "streamops_group_lag_entries / ignoring (group) group_left () streamops_stream_length",
        ),
        # Absent where a group does not catch up.
        Record(
            "streamops:group_drain_seconds",
            """
streamops_group_lag_entries
/
(
  streamops:group_delivered_entries:rate5m
  - ignoring (group) group_left ()
  streamops:stream_entries_added:rate5m
  > 0
)
""",
        ),
    )


def _ages() -> tuple[Record, ...]:
    of_group = ("db", "stream", "group")
    return (
        Record(
            "streamops:group_oldest_pending_age_seconds",
            age("streamops_group_oldest_pending_entry_timestamp_seconds", *of_group),
        ),
        Record(
            "streamops:group_oldest_pending_idle_seconds",
            age("streamops_group_oldest_pending_delivered_timestamp_seconds", *of_group),
        ),
        # How long consumers have had it. One that is delivered again and again is never idle for long: of its age,
        # what entries wait for delivery in the first place is taken off. Of one that was given back its age alone tells.
        Record(
            "streamops:group_oldest_pending_held_seconds",
            """
(
  streamops:group_oldest_pending_age_seconds - streamops_group_time_lag_seconds
  and
  streamops_group_oldest_pending_deliveries > 1
)
> streamops:group_oldest_pending_idle_seconds
or
streamops:group_oldest_pending_idle_seconds
or
streamops:group_oldest_pending_age_seconds - streamops_group_time_lag_seconds
""",
        ),
        Record(
            "streamops:consumer_unseen_seconds",
            age("streamops_consumer_last_seen_timestamp_seconds", *of_group, "consumer"),
        ),
        # Negative while it is not due yet.
        Record(
            "streamops:delayed_overdue_seconds",
            age("streamops_delayed_next_due_timestamp_seconds", "db", "queue"),
        ),
    )


def _workers(pace: Pace) -> tuple[Record, ...]:
    failures = "streamops_handler_failures_total"
    return (
        # Of all workers of a job together: which of them met the failures says little.
        Record(
            "streamops:handler_failure_ratio:rate10m",
            f"""
sum without (instance, pod) (rate({failures}[{pace.range(FAILURES)}]))
/
sum without (instance, pod) (rate({CALLS}[{pace.range(FAILURES)}]))
""",
        ),
        Record(
            "streamops:entry_latency_seconds:p99_5m",
            "histogram_quantile(0.99, sum without (instance, pod) "
            f"(rate(streamops_entry_latency_seconds_bucket[{pace.range(RATES)}])))",
        ),
    )


def _scrapes() -> Record:
    return Record(
        "streamops:scrape_duration_seconds", "sum without (phase) (streamops_scrape_duration_seconds)"
    )
