"""The rules: written by their builder, clean, about metrics that exist, and each tried on series made up for it."""

import re
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from typing import Any, Final

import pytest
import yaml

from dashboards import rules as dashboard_rules
from dashboards.rules import FINDING_KEPT, Alert, build_rules, rule_files
from dashboards.runbooks import anchor, fixes
from docs.worker_families import WORKER_FAMILIES
from streamops.exporter.catalogue import FAMILY
from streamops.exporter.families import MetricKind
from streamops.monitor.rules import RULES
from streamops.monitor.thresholds import Thresholds
from tests.support.dashboards.rules import CASES, DIRECTORY, rules
from tests.support.dashboards.shown import BOARDS
from tests.support.tables import table

ALERTS: Final = [alert for some in dashboard_rules.ALERTS.values() for alert in some]
NAMES: Final = sorted(alert.name for alert in ALERTS)

NAME: Final = re.compile(r"\b[a-z_][a-z0-9_]*(?::[a-z0-9_]+)*\b")
OWN: Final = re.compile(r"streamops[:_][a-z0-9_:]+")
LABEL: Final = re.compile(r"\$labels\.(\w+)")
OF_PROMETHEUS: Final = {"up", "scrape_timeout_seconds"}


@cache
def read_cases() -> dict[str, dict[str, Any]]:
    """The files of cases, by their names."""
    return {path.stem: yaml.safe_load(path.read_text()) for path in CASES}


def checks() -> Iterator[tuple[str, dict[str, Any]]]:
    """Everything that the cases expect of alerts: the case's name and one check."""
    for file in read_cases().values():
        for case in file["tests"]:
            for check in case.get("alert_rule_test", ()):
                yield case["name"], check


def known_metrics() -> set[str]:
    """The names of all series that exporter and workers print."""
    names = set(FAMILY)
    for family in WORKER_FAMILIES:
        parts = ("_bucket", "_sum", "_count") if family.kind is MetricKind.HISTOGRAM else ("",)
        names.update(f"{family.name}{part}" for part in parts)
    return names


def test_the_committed_files_are_what_the_builder_makes() -> None:
    for path, text in rule_files().items():
        assert (DIRECTORY / path).read_text() == text, "run `python -m dashboards`"


def test_cases_name_the_groups_of_rules_in_order() -> None:
    """Without that promtool judges them in any order, and an alert may come before what it builds on."""
    groups = [group["name"] for group in yaml.safe_load(build_rules())["groups"]]
    for stem, file in read_cases().items():
        assert file["group_eval_order"] == groups, stem


def test_every_alert_of_its_own_fires_in_one_case_and_is_silent_in_another() -> None:
    """Those on findings are made alike by one function: some of each kind suffice."""
    for alert in ALERTS:
        of_name = [
            (case, check["exp_alerts"]) for case, check in checks() if check["alertname"] == alert.name
        ]
        fires = {case for case, expected in of_name if any(_is_of(alert, one) for one in expected)}
        near = {case for case, _ in of_name} - fires
        if not alert.expr.startswith("streamops_finding{"):
            assert fires, f"no case in which {alert.runbook} fires"
            assert near, f"no case in which {alert.runbook} is near and silent"


def _is_of(alert: Alert, expected: dict[str, Any]) -> bool:
    return bool(expected["exp_labels"].get("code", "") == alert.code)


def test_every_health_rule_has_its_alert() -> None:
    found = {alert.expr: alert.name for alert in ALERTS if alert.expr.startswith("streamops_finding{")}
    assert found == {f'streamops_finding{{code="{rule.code.value}"}}': rule.alert for rule in RULES}


def test_a_restart_of_the_exporter_outlasts_no_rule() -> None:
    """What a rule finds from history alone, it finds again before the alert would end."""
    defaults = Thresholds()
    spans = (defaults.stopped_after, defaults.stalled_after, defaults.lag_growing_for)
    assert max(spans) < timedelta(minutes=int(FINDING_KEPT.removesuffix("m")))


def test_every_metric_of_a_rule_exists() -> None:
    known = known_metrics()
    for rule in rules():
        named = set(OWN.findall(rule["expr"]))
        assert named <= known, rule
        assert named or any(name in OF_PROMETHEUS for name in NAME.findall(rule["expr"])), rule


def test_every_label_that_words_name_is_there() -> None:
    """Labels that Prometheus or a join adds stand beside those of the families that an alert is about."""
    given = {"instance", "job", "maxmemory_policy"}
    for rule in rules():
        labels = set(LABEL.findall(" ".join(rule["annotations"].values())))
        families = [FAMILY[name] for name in OWN.findall(rule["expr"]) if name in FAMILY]
        families += [family for family in WORKER_FAMILIES if family.name in rule["expr"]]
        assert labels <= given.union(*(family.labels for family in families)), rule["alert"]


def test_the_table_of_firing_alerts_names_what_each_is_about() -> None:
    panels = BOARDS["streamops-overview"]["panels"]
    (panel,) = [panel for panel in panels if panel["title"] == "Firing alerts"]
    columns = set(panel["transformations"][1]["options"]["renameByName"])
    for rule in rules():
        assert set(LABEL.findall(rule["annotations"]["summary"])) <= columns, rule["alert"]


def test_a_runbook_address_of_ones_own() -> None:
    text = build_rules(runbooks="https://runbooks.example/streamops")
    urls = [rule["annotations"]["runbook_url"] for rule in _alerts_of(text)]
    assert urls[0] == f"https://runbooks.example/streamops#{anchor(ALERTS[0].runbook)}"
    assert len(urls) == len(ALERTS)
    assert [rule["annotations"]["fix"] for rule in _alerts_of(text)] == [
        fixes()[alert.runbook] for alert in ALERTS
    ]


@table("address", ["dashboards/RUNBOOKS.md", "/RUNBOOKS.md", "https://", "ftp://h/R"])
def test_a_runbook_address_that_is_not_absolute_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="no absolute address"):
        build_rules(runbooks=address)


def test_without_an_address_each_alert_says_itself_what_to_do() -> None:
    for rule in _alerts_of(build_rules()):
        assert "runbook_url" not in rule["annotations"]
        assert rule["annotations"]["fix"] == fixes()[rule["labels"].get("code", rule["alert"])]
    stalled = fixes()["stalled"].splitlines()
    assert stalled[0].startswith("Read the consumers' log. If something")
    assert stalled[1:] == ["$ streamops claim STREAM GROUP --to CONSUMER --min-idle 10m --dry-run"]


def _alerts_of(text: str) -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"]]
