"""Alerts on the exporter itself: without it, all others are silent."""

from collections.abc import Iterator
from typing import Final

from dashboards.rules.building import Alert, Severity
from dashboards.rules.matching import EXPORTER
from dashboards.rules.pace import MINUTE, Pace

JOBS: Final = "streamops(-exporter|-probe)?"
"""The names that jobs of exporters have. That of workers has another, as workers come and go."""

DEFAULT_TIMEOUT: Final = 10
"""Prometheus's ``scrape_timeout`` in seconds, unless its configuration says something else."""


def exporter_alerts(pace: Pace) -> Iterator[Alert]:
    """The alerts."""
    yield _redis_down(pace)
    yield _exporter_down(pace)
    yield _slow()
    yield _stale(pace)
    yield _errors(pace)
    yield _capped()


def _redis_down(pace: Pace) -> Alert:
    return Alert(
        name="RedisDown",
        expr="streamops_up == 0",
        lasting=MINUTE,
        severity=Severity.CRITICAL,
        summary="Redis does not answer the exporter {{ $labels.instance }}",
        description=f"For {pace.words(MINUTE)} the exporter {{{{ $labels.instance }}}} could not read Redis. "
        "All other alerts about this Redis are silent meanwhile.",
    )


def _exporter_down(pace: Pace) -> Alert:
    return Alert(
        name="ExporterDown",
        expr=f'up{{job=~"{JOBS}"}} == 0 or absent(up{{job=~"{JOBS}"}})',
        lasting=2 * MINUTE,
        severity=Severity.CRITICAL,
        summary="{{ with $labels.instance }}The exporter {{ . }} cannot be scraped{{ else }}"
        "Prometheus scrapes no exporter of streamops{{ end }}",
        description=f"For {pace.words(2 * MINUTE)} Prometheus got no metrics from "
        "{{ with $labels.instance }}the exporter {{ . }}{{ else }}any exporter of streamops{{ end }}. "
        "All other alerts about its Redis are silent meanwhile.",
    )


def _slow() -> Alert:
    """Prometheus tells the real timeout only with its feature extra-scrape-metrics; else the default counts."""
    return Alert(
        name="ScrapeSlow",
        expr=f"""
(streamops:scrape_duration_seconds > {EXPORTER} group_left () 0.5 * scrape_timeout_seconds)
or
(streamops:scrape_duration_seconds > {DEFAULT_TIMEOUT / 2:g} unless {EXPORTER} scrape_timeout_seconds)
""",
        lasting=10 * MINUTE,
        severity=Severity.WARNING,
        summary="Reading Redis takes the exporter {{ $labels.instance }} long",
        description="Reading Redis takes the exporter {{ $labels.instance }} {{ $value | humanizeDuration }}, more than half "
        "of what Prometheus waits. Beyond that, what it serves is old.",
    )


def _stale(pace: Pace) -> Alert:
    """By Prometheus's clock against Redis's: one that is wrong shows here."""
    return Alert(
        name="SnapshotStale",
        expr=f"""
time() - streamops_snapshot_timestamp_seconds > {pace.seconds(2 * MINUTE)}
unless {EXPORTER} streamops_up == 0
""",
        lasting=2 * MINUTE,
        severity=Severity.WARNING,
        summary="The exporter {{ $labels.instance }} serves an old snapshot",
        description="The snapshot that the exporter {{ $labels.instance }} serves is {{ $value | humanizeDuration }} old, "
        "or the clocks of Redis and Prometheus differ by as much.",
    )


def _errors(pace: Pace) -> Alert:
    """What cannot be read is absent, and raises nothing else. All of it, all the time, is ``RedisDown``."""
    window = pace.range(10 * MINUTE)
    return Alert(
        name="CollectErrors",
        expr=f"""
increase(streamops_collect_errors_total[{window}]) > 0
unless {EXPORTER} max_over_time(streamops_up[{window}]) == 0
or
streamops_gaps > 0
""",
        lasting=15 * MINUTE,
        severity=Severity.WARNING,
        summary="The exporter {{ $labels.instance }} cannot read everything",
        description="The exporter {{ $labels.instance }} "
        '{{ if $labels.part }}finds {{ $value | printf "%.0f" }} gaps in what it reads: {{ $labels.part }}{{ else }}'
        'met about {{ $value | printf "%.0f" }} errors at the stage {{ $labels.stage }} '
        f"within {pace.words(10 * MINUTE)}{{{{ end }}}}. Alerts on what could not be read are silent.",
    )


def _capped() -> Alert:
    """What a pattern, a granularity or a long absence leaves out is meant to be left out."""
    return Alert(
        name="SeriesCapped",
        expr='streamops_series_omitted{reason=~"max_.+|same_name"} > 0',
        lasting=15 * MINUTE,
        severity=Severity.INFO,
        summary="The exporter {{ $labels.instance }} leaves something out",
        description='Left out by the exporter {{ $labels.instance }}: {{ $value | printf "%.0f" }} of scope '
        "{{ $labels.scope }}, because of {{ $labels.reason }}. Alerts on these are silent.",
    )
