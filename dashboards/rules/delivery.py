"""Alerts on what waits for a group: whether it is delivered and acknowledged, and how soon."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from dashboards.rules.building import Alert, Severity
from dashboards.rules.matching import GROUP, GROUP_WORDS, UNJUDGED, fresh, not_moving, standing
from dashboards.rules.pace import MINUTE, Pace

STILL: Final = 10 * MINUTE
"""How long nothing moves before it counts as standing still."""


def delivery_alerts(pace: Pace) -> Iterator[Alert]:
    """The alerts."""
    yield _stopped(pace)
    yield _stalled(pace)
    yield _no_consumers(pace)
    yield _growing(pace)
    yield _late(pace, Severity.WARNING, 5 * MINUTE)
    yield _late(pace, Severity.CRITICAL, 30 * MINUTE)


def _stopped(pace: Pace) -> Alert:
    """A group whose consumers acknowledge is at work, whatever it was given last."""
    return Alert(
        name="GroupStopped",
        expr=f"""
streamops:group_waiting_entries
{standing("delivered", STILL, pace)}
{not_moving("acked", STILL, pace)}
{fresh(pace)}
{UNJUDGED}
""",
        lasting=5 * MINUTE,
        severity=Severity.CRITICAL,
        summary=f"Nothing is delivered to {GROUP_WORDS}",
        description='{{ $value | printf "%.0f" }} entries (at most, where the lag is not known) wait for '
        f"{GROUP_WORDS} in database {{{{ $labels.db }}}}, and none was delivered or acknowledged for "
        f"{pace.words(STILL)}.",
    )


def _stalled(pace: Pace) -> Alert:
    """Somebody must be there to acknowledge: a holder that was seen, or whoever got entries meanwhile.

    What is left with a dead consumer of an idle group is ``DeadConsumer``, and one entry that fails again and
    again, with nothing behind it, ``PoisonEntry``.
    """
    return Alert(
        name="GroupStalled",
        expr=f"""
streamops_group_pending_entries > 0
{standing("acked", STILL, pace)}
and {GROUP} (
  (streamops_consumer_pending_entries > 0 and streamops:consumer_unseen_seconds < {pace.seconds(STILL)})
  or
  increase(streamops_group_delivered_entries_total[{pace.range(STILL)}]) > 0
)
unless (streamops_group_oldest_pending_deliveries > 10 unless streamops:group_waiting_entries)
{fresh(pace)}
{UNJUDGED}
""",
        lasting=10 * MINUTE,
        severity=Severity.CRITICAL,
        summary=f"Nothing is acknowledged by {GROUP_WORDS}",
        description='{{ $value | printf "%.0f" }} entries are pending in '
        f"{GROUP_WORDS} in database {{{{ $labels.db }}}}, and none was acknowledged for {pace.words(STILL)}, "
        "though its consumers were seen.",
    )


def _no_consumers(pace: Pace) -> Alert:
    """Before Redis 7.2 nobody can be seen asking: there, only a group without any consumer counts."""
    return Alert(
        name="NoConsumers",
        expr=f"""
streamops:group_waiting_entries
and (streamops_group_active_consumers == 0 or streamops_group_consumers == 0)
{not_moving("acked", 5 * MINUTE, pace)}
{UNJUDGED}
""",
        lasting=10 * MINUTE,
        severity=Severity.WARNING,
        summary=f"Nobody reads {GROUP_WORDS}",
        description='{{ $value | printf "%.0f" }} entries (at most, where the lag is not known) wait for '
        f"{GROUP_WORDS} in database {{{{ $labels.db }}}}, and no consumer was there for {pace.words(10 * MINUTE)}. "
        "A stream that is trimmed safely cannot be trimmed past this group.",
    )


def _growing(pace: Pace) -> Alert:
    """Judged by the slope, so that neither one zero nor one decrease hides it."""
    before = pace.range(15 * MINUTE)
    return Alert(
        name="LagGrowing",
        expr=f"""
streamops_group_lag_entries > 1000
and streamops_group_lag_entries > 1.2 * (streamops_group_lag_entries offset {before})
and deriv(streamops_group_lag_entries[{pace.range(10 * MINUTE)}]) > 0
{UNJUDGED}
""",
        lasting=15 * MINUTE,
        severity=Severity.WARNING,
        summary=f"The lag of {GROUP_WORDS} keeps growing",
        description='{{ $value | printf "%.0f" }} entries wait for '
        f"{GROUP_WORDS} in database {{{{ $labels.db }}}}: over 1.2 times as many as {pace.words(15 * MINUTE)} "
        "before, and rising.",
    )


def _late(pace: Pace, severity: Severity, limit: timedelta) -> Alert:
    return Alert(
        name="TimeLag",
        expr=f"""
streamops_group_time_lag_seconds > {pace.seconds(limit)}
{UNJUDGED}
""",
        lasting=5 * MINUTE,
        severity=severity,
        summary=f"G{GROUP_WORDS[1:]} is behind by more than {pace.words(limit)}",
        description=f"The next entry for {GROUP_WORDS} in database {{{{ $labels.db }}}} has waited for "
        "{{ $value | humanizeDuration }}.",
    )
