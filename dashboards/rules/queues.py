"""Alerts on dead letters, delayed messages, and streams that outgrow what they are to keep."""

from collections.abc import Iterator

from dashboards.rules.building import AT_ONCE, Alert, Severity
from dashboards.rules.matching import EXPORTER, age
from dashboards.rules.pace import HOUR, MINUTE, Pace


def queue_alerts(pace: Pace) -> Iterator[Alert]:
    """The alerts."""
    yield _letters(pace)
    yield _more_letters(pace)
    yield _overdue(pace)
    yield _foreign()
    yield _outgrown(pace)


def _letters(pace: Pace) -> Alert:
    return Alert(
        name="DLQNotEmpty",
        expr="streamops_dlq_entries > 0",
        lasting=30 * MINUTE,
        severity=Severity.INFO,
        summary="Dead letters lie in {{ $labels.stream }}",
        description='{{ $value | printf "%.0f" }} dead letters of {{ $labels.source }} lie in {{ $labels.stream }} '
        f"in database {{{{ $labels.db }}}}, for {pace.words(30 * MINUTE)} or more.",
    )


def _more_letters(pace: Pace) -> Alert:
    """A queue is born with its first letters, which ``increase`` does not see.

    A queue that was not there counts in full, if the exporter was there, and saw Redis. One that is shown anew,
    because the exporter was told to or has room for it again, has letters that are older.
    """
    span, added = 15 * MINUTE, "streamops_dlq_entries_added_total"
    window, oldest = pace.range(span), age("streamops_dlq_oldest_timestamp_seconds", "db", "stream", "source")
    return Alert(
        name="DLQGrowing",
        expr=f"""
increase({added}[{window}]) > 10
or
(
  {added} > 10 unless {added} offset {window}
  and {EXPORTER} streamops_up offset {window} == 1
  and {oldest} <= {pace.seconds(span)}
)
""",
        lasting=AT_ONCE,
        severity=Severity.WARNING,
        summary="Dead letters keep coming into {{ $labels.stream }}",
        description='About {{ $value | printf "%.0f" }} entries of {{ $labels.source }} became dead letters in '
        f"{{{{ $labels.stream }}}} in database {{{{ $labels.db }}}} within {pace.words(15 * MINUTE)}.",
    )


def _overdue(pace: Pace) -> Alert:
    return Alert(
        name="DelayedOverdue",
        expr=f"streamops:delayed_overdue_seconds > {pace.seconds(MINUTE)}",
        lasting=5 * MINUTE,
        severity=Severity.CRITICAL,
        summary="Delayed messages in {{ $labels.queue }} are overdue",
        description="The next message of {{ $labels.queue }} in database {{ $labels.db }} has been due for "
        "{{ $value | humanizeDuration }}, and nothing moved it to its stream: no worker runs for it, or none can write.",
    )


def _foreign() -> Alert:
    return Alert(
        name="DelayedForeign",
        expr="streamops_delayed_foreign_entries > 0",
        lasting=5 * MINUTE,
        severity=Severity.WARNING,
        summary="Another program writes to the delayed queue {{ $labels.queue }}",
        description='{{ $value | printf "%.0f" }} members of {{ $labels.queue }} in database {{ $labels.db }}, or more, are '
        "no delayed messages. They stay untouched; the configuration probably names the wrong sorted set.",
    )


def _outgrown(pace: Pace) -> Alert:
    """Trimming by whole nodes leaves a hundred entries more."""
    return Alert(
        name="StreamOverLimit",
        expr="streamops_stream_length > 1.2 * streamops_stream_max_length + 100",
        lasting=HOUR,
        severity=Severity.WARNING,
        summary="Stream {{ $labels.stream }} is longer than its retention policy says",
        description='Stream {{ $labels.stream }} in database {{ $labels.db }} has {{ $value | printf "%.0f" }} entries, and for '
        f"{pace.words(HOUR)} had over 1.2 times as many as its retention policy says.",
    )
