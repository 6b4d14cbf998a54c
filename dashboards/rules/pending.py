"""Alerts on what was delivered and is not done."""

from collections.abc import Iterator

from dashboards.rules.building import Alert, Severity
from dashboards.rules.matching import GROUP_WORDS, UNJUDGED
from dashboards.rules.pace import MINUTE, Pace


def pending_alerts(pace: Pace) -> Iterator[Alert]:
    """The alerts."""
    yield _oldest(pace)
    yield _poison()
    yield _dead(pace)
    yield _dangling()


def _oldest(pace: Pace) -> Alert:
    """Not by the age of the entry: one that a late group has just been given is old, and nobody's fault."""
    return Alert(
        name="OldestPending",
        expr=f"""
streamops:group_oldest_pending_held_seconds > {pace.seconds(15 * MINUTE)}
{UNJUDGED}
""",
        lasting=5 * MINUTE,
        severity=Severity.WARNING,
        summary=f"An entry has been pending for too long in {GROUP_WORDS}",
        description=f"The oldest pending entry of {GROUP_WORDS} in database {{{{ $labels.db }}}} has been with consumers for "
        "{{ $value | humanizeDuration }} without being acknowledged.",
    )


def _poison() -> Alert:
    return Alert(
        name="PoisonEntry",
        expr=f"""
streamops_group_oldest_pending_deliveries > 10
{UNJUDGED}
""",
        lasting=5 * MINUTE,
        severity=Severity.WARNING,
        summary=f"An entry is delivered again and again to {GROUP_WORDS}",
        description=f"The oldest pending entry of {GROUP_WORDS} in database {{{{ $labels.db }}}} was delivered "
        '{{ $value | printf "%.0f" }} times and is still not acknowledged.',
    )


def _dead(pace: Pace) -> Alert:
    return Alert(
        name="DeadConsumer",
        expr=f"""
streamops:consumer_unseen_seconds > {pace.seconds(10 * MINUTE)}
and streamops_consumer_pending_entries > 0
{UNJUDGED}
""",
        lasting=5 * MINUTE,
        severity=Severity.WARNING,
        summary=f"Consumer {{{{ $labels.consumer }}}} of {GROUP_WORDS} seems dead",
        description=f"Consumer {{{{ $labels.consumer }}}} of {GROUP_WORDS} in database {{{{ $labels.db }}}} holds pending "
        "entries and was last seen {{ $value | humanizeDuration }} ago.",
    )


def _dangling() -> Alert:
    return Alert(
        name="DanglingPending",
        expr=f"""
streamops_group_dangling_pending_entries > 0
{UNJUDGED}
""",
        lasting=5 * MINUTE,
        severity=Severity.CRITICAL,
        summary=f"Pending entries of {GROUP_WORDS} are gone from the stream",
        description='At least {{ $value | printf "%.0f" }} pending entries of '
        f"{GROUP_WORDS} in database {{{{ $labels.db }}}} were trimmed away before they were acknowledged: a "
        "consumer that claims them gets nothing.",
    )
