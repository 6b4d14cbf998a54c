"""Alerts on workers: what their own endpoint says, and what their pools were told."""

from collections.abc import Iterator

from dashboards.rules.building import Alert, Severity
from dashboards.rules.matching import GROUP_WORDS
from dashboards.rules.pace import HOUR, MINUTE, Pace
from dashboards.rules.records import FAILURES


def worker_alerts(pace: Pace) -> Iterator[Alert]:
    """The alerts."""
    yield _failures(pace)
    yield _paused(pace)


def _failures(pace: Pace) -> Alert:
    """One failure in a quiet hour is a large share of little."""
    return Alert(
        name="HandlerFailures",
        expr=f"""
streamops:handler_failure_ratio:rate10m > 0.05
and
sum without (instance, pod) (increase(streamops_handler_failures_total[{pace.range(FAILURES)}])) > 5
""",
        lasting=10 * MINUTE,
        severity=Severity.WARNING,
        summary=f"Handler {{{{ $labels.handler }}}} of {GROUP_WORDS} fails",
        description="{{ $value | humanizePercentage }} of the calls of handler {{ $labels.handler }} for "
        f"{GROUP_WORDS} failed within {pace.words(FAILURES)}.",
    )


def _paused(pace: Pace) -> Alert:
    return Alert(
        name="PoolPaused",
        expr="streamops_pool_paused == 1",
        lasting=HOUR,
        severity=Severity.INFO,
        summary="Pool {{ $labels.pool }} is paused",
        description=f"The workers of pool {{{{ $labels.pool }}}} have been told to read nothing, for {pace.words(HOUR)} or more.",
    )
