"""Alerts on controllers of pools: one that is gone, one that cannot see, and those whose pools need a person."""

from collections.abc import Iterator

from dashboards.rules.building import Alert, Severity
from dashboards.rules.matching import age
from dashboards.rules.pace import MINUTE, Pace

POOL_WORDS = "pool {{ $labels.pool }}"
ERRORS = "streamops_autoscaler_apply_errors_total"
DECISIONS = "streamops_autoscaler_decisions_total"


def autoscaler_alerts(pace: Pace) -> Iterator[Alert]:
    """The alerts."""
    yield _silent(pace)
    yield _blind(pace)
    yield _failing(pace)
    yield _stuck(pace)
    yield _at_maximum(pace)


def _silent(pace: Pace) -> Alert:
    """By Redis's own clock, and only while the exporter reads it."""
    evaluated = age("streamops_autoscaler_last_evaluation_timestamp_seconds", "pool")
    return Alert(
        name="AutoscalerSilent",
        expr=f"{evaluated} > {pace.seconds(2 * MINUTE)}",
        lasting=3 * MINUTE,
        severity=Severity.WARNING,
        summary=f"Nobody decides about {POOL_WORDS}",
        description=f"The last decision about {POOL_WORDS} is {{{{ $value | humanizeDuration }}}} old: no controller leads "
        "it. It keeps the workers that it has, whatever waits.",
    )


def _blind(pace: Pace) -> Alert:
    window = pace.range(5 * MINUTE)
    return Alert(
        name="AutoscalerBlind",
        expr=f"""
sum without (direction, reason) (increase({DECISIONS}{{reason=~"unreadable|lag_unknown"}}[{window}]))
>
0.5 * sum without (direction, reason) (increase({DECISIONS}[{window}]))
""",
        lasting=10 * MINUTE,
        severity=Severity.WARNING,
        summary=f"The controller of {POOL_WORDS} cannot see what it decides about",
        description=f"For {pace.words(10 * MINUTE)}, most decisions about {POOL_WORDS} have been to change nothing, because "
        "its stream, its group's lag or its target could not be read.",
    )


def _failing(pace: Pace) -> Alert:
    """One failure passes by itself: the controller tries again."""
    window = pace.range(15 * MINUTE)
    return Alert(
        name="AutoscalerTargetFailing",
        expr=f"increase({ERRORS}[{window}]) > 1.5",
        lasting=5 * MINUTE,
        severity=Severity.WARNING,
        summary=f"The workers of {POOL_WORDS} cannot be scaled",
        description=f'About {{{{ $value | printf "%.0f" }}}} times within {pace.words(15 * MINUTE)}, whoever runs the workers '
        f"of {POOL_WORDS} failed or refused to set their number.",
    )


def _stuck(pace: Pace) -> Alert:
    window = pace.range(2 * MINUTE)
    return Alert(
        name="PoolStuck",
        expr=f"""
sum without (direction, reason) (increase({DECISIONS}{{reason="stuck"}}[{window}]))
>
0.5 * sum without (direction, reason) (increase({DECISIONS}[{window}]))
""",
        lasting=5 * MINUTE,
        severity=Severity.CRITICAL,
        summary=f"The workers of {POOL_WORDS} finish nothing",
        description=f"For {pace.words(5 * MINUTE)} the workers of {POOL_WORDS} have held entries and acknowledged none. More "
        "workers would not help, and none are ordered.",
    )


def _at_maximum(pace: Pace) -> Alert:
    of_pool = "on (job, instance, pool)"
    signal = "streamops_autoscaler_signal"
    return Alert(
        name="PoolAtMaximum",
        expr=f"""
{signal}{{signal="predicted_wait"}} > {of_pool} {signal}{{signal="objective"}}
and {of_pool} streamops_autoscaler_desired_replicas >= streamops_autoscaler_max_replicas
""",
        lasting=10 * MINUTE,
        severity=Severity.WARNING,
        summary=f"All the workers that {POOL_WORDS} may have are too few",
        description=f"{{{{ $value | humanizeDuration }}}} is how long entries are going to wait for {POOL_WORDS}, which has all "
        f"the workers that it may have, for {pace.words(10 * MINUTE)} or more.",
    )
