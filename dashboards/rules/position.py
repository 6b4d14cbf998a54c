"""Alerts on where a group stands in its stream: moved back, overtaken by trimming, or not known."""

from collections.abc import Iterator

from dashboards.rules.building import AT_ONCE, Alert, Severity
from dashboards.rules.matching import EXPORTER, GROUP_WORDS, STREAM, UNJUDGED
from dashboards.rules.pace import MINUTE, Pace


def position_alerts(pace: Pace) -> Iterator[Alert]:
    """The alerts."""
    yield _rewound(pace)
    yield _lost(pace)
    yield _edge(pace)
    yield _unknown(pace)


def _rewound(pace: Pace) -> Alert:
    return Alert(
        name="GroupRewound",
        expr=f"""
increase(streamops_group_rewinds_total[{pace.range(10 * MINUTE)}]) > 0
{UNJUDGED}
""",
        lasting=AT_ONCE,
        severity=Severity.WARNING,
        summary=f"The position of {GROUP_WORDS} moved back",
        description=f"Within {pace.words(10 * MINUTE)} the position of {GROUP_WORDS} in database {{{{ $labels.db }}}} moved "
        'back (about {{ $value | printf "%.0f" }} times in all): entries are delivered once more.',
    )


def _lost(pace: Pace) -> Alert:
    return Alert(
        name="EntriesLost",
        expr=f"""
increase(streamops_group_lost_entries_total[{pace.range(10 * MINUTE)}]) > 0
{UNJUDGED}
""",
        lasting=AT_ONCE,
        severity=Severity.CRITICAL,
        summary=f"Entries were trimmed away before they were delivered to {GROUP_WORDS}",
        description='About {{ $value | printf "%.0f" }} entries '
        f"within {pace.words(10 * MINUTE)} were trimmed away before they were delivered to {GROUP_WORDS} "
        "in database {{ $labels.db }}.",
    )


def _edge(pace: Pace) -> Alert:
    """Deleting shortens a stream too, which queues do that delete what is done; it moves max-deleted-id.

    Redis before 7.0 does not tell trimming from deleting, and is left out.
    """
    window = pace.range(10 * MINUTE)
    return Alert(
        name="RetentionEdge",
        expr=f"""
streamops:group_retention_used_ratio > 0.8
and {STREAM} increase(streamops_stream_removed_entries_total[{window}]) > 0
unless {STREAM} changes(streamops_stream_max_deleted_timestamp_seconds[{window}]) > 0
unless {EXPORTER} streamops_redis_info{{version=~"[1-6][.].*"}}
{UNJUDGED}
""",
        lasting=5 * MINUTE,
        severity=Severity.WARNING,
        summary=f"Trimming is about to overtake {GROUP_WORDS}",
        description="{{ $value | humanizePercentage }} of a stream that is being trimmed are not yet delivered to "
        f"{GROUP_WORDS} in database {{{{ $labels.db }}}}. What is trimmed away before that is lost to the group.",
    )


def _unknown(pace: Pace) -> Alert:
    return Alert(
        name="LagUnknown",
        expr=f"""
(
  (streamops_group_lag_upper_bound_entries and streamops_group_lag_known == 0)
  or
  streamops_group_lag_known == 0
)
{UNJUDGED}
""",
        lasting=30 * MINUTE,
        severity=Severity.INFO,
        summary=f"The lag of {GROUP_WORDS} is not known",
        description=f"For {pace.words(30 * MINUTE)} it could not be told how many entries wait for "
        f"{GROUP_WORDS} in database {{{{ $labels.db }}}}"
        '{{ if gt $value 0.0 }}; it is {{ $value | printf "%.0f" }} entries at most{{ end }}. '
        "Alerts on its lag are silent.",
    )
