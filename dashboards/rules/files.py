"""The file of rules: which groups it has, and what stands above them."""

from collections.abc import Iterator
from typing import Final

from dashboards.rules.autoscaler import autoscaler_alerts
from dashboards.rules.building import Alert, RuleGroup, render
from dashboards.rules.delivery import delivery_alerts
from dashboards.rules.exporter import exporter_alerts
from dashboards.rules.pace import Pace
from dashboards.rules.pending import pending_alerts
from dashboards.rules.position import position_alerts
from dashboards.rules.queues import queue_alerts
from dashboards.rules.records import records
from dashboards.rules.redis import redis_alerts
from dashboards.rules.workers import worker_alerts

RULES_FILE: Final = "streamops.rules.yml"
PREAMBLE: Final = """\
Written by `python -m dashboards`; do not edit.

Scrape exporters as job `streamops`, workers' own metrics as `streamops-workers`, every minute or more often.
Two exporters on one Redis raise every alert twice: group notifications by alertname, db, stream and group.
"""
UNLINKED: Final = """\
The annotation `fix` is what RUNBOOKS.md says to do. Where you serve that file at an address, have a checkout print the
rules with a `runbook_url` for each alert: `python -m dashboards --runbooks https://HOST/RUNBOOKS.md`.
"""


def rule_groups(pace: Pace) -> Iterator[RuleGroup]:
    """All rules, at a pace."""
    yield RuleGroup("streamops-records", records(pace))
    yield RuleGroup("streamops-exporter", tuple(exporter_alerts(pace)))
    yield RuleGroup("streamops-delivery", tuple(delivery_alerts(pace)))
    yield RuleGroup("streamops-position", tuple(position_alerts(pace)))
    yield RuleGroup("streamops-pending", tuple(pending_alerts(pace)))
    yield RuleGroup("streamops-queues", tuple(queue_alerts(pace)))
    yield RuleGroup("streamops-redis", tuple(redis_alerts(pace)))
    yield RuleGroup("streamops-workers", tuple(worker_alerts(pace)))
    yield RuleGroup("streamops-autoscaler", tuple(autoscaler_alerts(pace)))


def all_alerts() -> list[Alert]:
    """The alerts at their own pace, in order."""
    return [rule for group in rule_groups(Pace()) for rule in group.rules if isinstance(rule, Alert)]


def build_rules(faster: float = 1, runbooks: str = "") -> str:
    """The rules as Prometheus reads them.

    Args:
        faster: What all spans are divided by: durations, windows, and thresholds that are spans. Shares of the
            scrape timeout stay, as the timeout does.
        runbooks: The absolute address of the runbooks, to which the anchor is added; empty where they have none, so that
            each alert tells itself what to do.

    Raises:
        ValueError: The address is not absolute.
    """
    pace = Pace(faster)
    return render(rule_groups(pace), pace, runbooks, PREAMBLE if runbooks else PREAMBLE + UNLINKED)


def rule_files() -> dict[str, str]:
    """The file, by its path below this package's directory."""
    return {RULES_FILE: build_rules()}
