"""The rules: written by their builder, clean, about metrics that exist, and each tried on series made up for it."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest
import yaml

from dashboards.rules.files import all_alerts, build_rules, rule_files
from dashboards.rules.runbooks import anchor, fixes
from streamops.exporter.catalogue import FAMILY, WORKER_FAMILIES
from streamops.exporter.families import MetricKind
from tests.support.dashboards.rules import CASES, DIRECTORY, rules
from tests.support.tables import table

ALERTS: Final = all_alerts()
NAMES: Final = sorted({(alert.name, alert.severity.value) for alert in ALERTS})

NAME: Final = re.compile(r"\b[a-z_][a-z0-9_]*(?::[a-z0-9_]+)*\b")
OWN: Final = re.compile(r"streamops[:_][a-z0-9_:]+")
OF_PROMETHEUS: Final = {"up", "scrape_timeout_seconds"}
SPAN: Final = re.compile(r"(?:\[|offset )(\d+)(ms|[smh])\b")
SECONDS_IN: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


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
        assert stem == "records" or file["group_eval_order"] == groups


def test_every_alert_fires_in_one_case_and_is_silent_in_another() -> None:
    for name, severity in NAMES:
        fires: set[str] = set()
        silent: set[str] = set()
        for case, check in checks():
            if check["alertname"] == name:
                severities = {alert["exp_labels"]["severity"] for alert in check["exp_alerts"]}
                (fires if severity in severities else silent).add(case)
        assert fires, f"no case in which {name} fires as {severity}"
        assert silent - fires, f"no case in which {name} is near and silent as {severity}"


def test_every_metric_of_a_rule_exists() -> None:
    known = known_metrics() | {rule["record"] for rule in rules() if "record" in rule}
    for rule in rules():
        named = set(OWN.findall(rule["expr"]))
        assert named <= known, rule
        assert named or any(name in OF_PROMETHEUS for name in NAME.findall(rule["expr"])), rule


def test_every_label_that_words_name_is_there() -> None:
    """Labels that Prometheus or a join adds stand beside those of the families that an alert is about."""
    given = {"instance", "job", "maxmemory_policy"}
    for rule in rules():
        if "alert" not in rule:
            continue
        labels = set(re.findall(r"\$labels\.(\w+)", " ".join(rule["annotations"].values())))
        families = [FAMILY[name] for name in OWN.findall(_inlined(rule["expr"])) if name in FAMILY]
        families += [family for family in WORKER_FAMILIES if family.name in _inlined(rule["expr"])]
        assert labels <= given.union(*(family.labels for family in families)), rule["alert"]


def _inlined(expr: str) -> str:
    """The expression with what was recorded for it put in its place."""
    for other in reversed(rules()):
        if "record" in other:
            expr = expr.replace(other["record"], f"({other['expr']})")
    return expr


def test_spans_are_divided() -> None:
    """Windows, offsets and durations: all of them, by the same number; names and thresholds of entries stay."""
    for real, fast in zip(rules(), rules(faster=60), strict=True):
        assert real.get("record") == fast.get("record")
        spans = [_seconds(*found) for found in SPAN.findall(real["expr"])]
        assert [_seconds(*found) * 60 for found in SPAN.findall(fast["expr"])] == pytest.approx(spans)
        if "for" in real:
            assert _whole(fast["for"]) * 60 == pytest.approx(_whole(real["for"]))
        if real.get("alert") not in {
            "OldestPending",
            "DeadConsumer",
            "TimeLag",
            "DelayedOverdue",
            "SnapshotStale",
            "AutoscalerSilent",
        }:
            plain = SPAN.sub("", real["expr"]).replace("< 600", "< 10").replace("<= 900", "<= 15")
            assert plain == SPAN.sub("", fast["expr"])
        else:
            assert real["expr"] != fast["expr"]


def test_a_runbook_address_of_ones_own() -> None:
    text = build_rules(runbooks="https://runbooks.example/streamops")
    urls = [rule["annotations"]["runbook_url"] for rule in _alerts_of(text)]
    assert urls[0] == f"https://runbooks.example/streamops#{anchor(ALERTS[0].name)}"
    assert len(urls) == len(ALERTS)
    assert "fix" not in _alerts_of(text)[0]["annotations"]


@table("address", ["dashboards/RUNBOOKS.md", "/RUNBOOKS.md", "https://", "ftp://h/R"])
def test_a_runbook_address_that_is_not_absolute_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="no absolute address"):
        build_rules(runbooks=address)


def test_without_an_address_each_alert_says_itself_what_to_do() -> None:
    for rule in _alerts_of(build_rules()):
        assert "runbook_url" not in rule["annotations"]
        assert rule["annotations"]["fix"] == fixes()[rule["alert"]]
    stalled = fixes()["GroupStalled"].splitlines()
    assert stalled[0].startswith("Read the consumers' log. If something")
    assert stalled[1:] == ["$ streamops claim STREAM GROUP --to CONSUMER --min-idle 10m --dry-run"]


def _alerts_of(text: str) -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"] if "alert" in rule]


def _seconds(number: str, unit: str) -> float:
    return int(number) * SECONDS_IN[unit]


def _whole(text: str) -> float:
    found = re.fullmatch(r"(\d+)(ms|[smh])", text)
    assert found is not None
    return _seconds(found[1], found[2])
