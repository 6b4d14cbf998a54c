"""The rules, as Prometheus's own promtool runs them: on what happened to a server, and on series that are made up."""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from dashboards.rules import RULES_FILE, build_rules
from streamops.exporter.catalogue import FAMILY
from streamops.exporter.shown import ScrapeReading
from streamops.model.observation import FindingCode
from streamops.monitor.rules import RULE_OF, RULES
from tests.support.dashboards.rules import CASES
from tests.support.exporter.samples import told
from tests.support.invented import minutes, seconds
from tests.support.monitor.rule_series import SERIES, Series, observations
from tests.support.prometheus import run_program

ADDRESS: Final = "https://runbooks.example/RUNBOOKS.md"
MEANINGS: Final = {rule.code.value: rule.means.replace("'", "''") for rule in RULES}
MEANT: Final = re.compile(r"\$\{(\w+)\}")
EVERY: Final = seconds(10)
LASTING, KEPT = minutes(1), minutes(6)
ALERTS: Final = sorted({rule.alert for rule in RULES})
EXPORTER: Final = {"job": "streamops", "instance": "exporter:9641"}

Labels = tuple[str, ...]


def test_promtool_finds_nothing(tmp_path: Path) -> None:
    path = tmp_path / RULES_FILE
    path.write_text(build_rules())
    done = run_program("promtool", "check", "rules", "--lint=all", "--lint-fatal", path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_promtool_agrees_with_each_case_of_the_rules(path: Path, tmp_path: Path) -> None:
    """``${code}`` in a case is what a rule means; ``fix`` is left out, as it is long and the runbook has its text."""
    rules = yaml.safe_load(build_rules(runbooks=ADDRESS))
    for alert in (alert for group in rules["groups"] for alert in group["rules"]):
        del alert["annotations"]["fix"]
    (tmp_path / RULES_FILE).write_text(yaml.safe_dump(rules))
    case = tmp_path / "tests" / path.name
    case.parent.mkdir()
    case.write_text(MEANT.sub(lambda code: MEANINGS[code[1]], path.read_text()))
    done = run_program("promtool", "test", "rules", case)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_the_rules_find_fires_its_alert_for_as_long_as_it_is_found(tmp_path: Path) -> None:
    """After a minute, and until six minutes after it was last found; its words are seen to by the cases above."""
    rules = yaml.safe_load(build_rules())
    for alert in (alert for group in rules["groups"] for alert in group["rules"]):
        del alert["annotations"]
    (tmp_path / RULES_FILE).write_text(yaml.safe_dump(rules))
    tests = {
        "rule_files": [RULES_FILE],
        "evaluation_interval": written(EVERY),
        "tests": [case(series) for series in SERIES],
    }
    path = tmp_path / "series.yml"
    path.write_text(yaml.safe_dump(tests))
    done = run_program("promtool", "test", "rules", path)
    assert done.returncode == 0, done.stdout + done.stderr


def case(series: Series) -> dict[str, Any]:
    """A series as promtool reads it: what the exporter shows of each reading, and the alerts that fire at each."""
    shown = [told(ScrapeReading(seen))["finding"] for seen in observations(series)]
    subjects = sorted({labels for samples in shown for labels in samples})
    names = FAMILY["streamops_finding"].labels
    found = {one: [one in samples for samples in shown] for one in subjects}
    labels_of = {
        values: EXPORTER | {name: value for name, value in zip(names, values, strict=True) if value}
        for values in subjects
    }
    return {
        "name": series.name,
        "interval": written(series.step),
        "input_series": [
            {
                "series": selector("streamops_finding", labels_of[one]),
                "values": " ".join("1" if is_there else "stale" for is_there in found[one]),
            }
            for one in subjects
        ],
        "alert_rule_test": [
            {
                "alertname": alert,
                "eval_time": written(series.step * number),
                "exp_alerts": [
                    {"exp_labels": {"component": "streamops", **labels_of[one]}}
                    for one in firing(found, series.step, number)
                    if RULE_OF[FindingCode(labels_of[one]["code"])].alert == alert
                ],
            }
            for number in range(series.readings)
            for alert in ALERTS
        ],
    }


def selector(name: str, labels: Mapping[str, str]) -> str:
    """One series as Prometheus writes it."""
    matchers = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return f"{name}{{{matchers}}}"


def firing(found: Mapping[Labels, Sequence[bool]], step: timedelta, number: int) -> list[Labels]:
    """What fires at a reading, given which was found in each."""
    fires = []
    for labels, readings in found.items():
        since, last, is_firing = None, timedelta(0), False
        for at, is_found in ((step * place, readings[place]) for place in range(number + 1)):
            if is_found:
                since = at if since is None else since
                last, is_firing = at, is_firing or at - since >= LASTING
            elif not is_firing or at - (last + EVERY) >= KEPT:
                since, is_firing = None, False
        if is_firing:
            fires.append(labels)
    return fires


def written(span: timedelta) -> str:
    """A span as Prometheus reads it."""
    return f"{span.total_seconds():g}s"
