import re
from pathlib import Path

import yaml

from tests.support.grafana.configuration import prometheus
from tests.support.grafana.stack import ROOT, STACK, read_yaml
from tests.support.prometheus import run_program


def test_prometheus_takes_its_configuration_and_the_rules() -> None:
    checked = run_program("promtool", "check", "config", STACK / "prometheus.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    found = re.search(r"SUCCESS: (\d+) rules found", checked.stdout)
    assert found is not None
    groups = read_yaml(ROOT / "dashboards" / "streamops.rules.yml")["groups"]
    assert int(found[1]) == sum(len(group["rules"]) for group in groups)


def test_prometheus_refuses_a_broken_one(tmp_path: Path) -> None:
    config = prometheus()
    config["scrape_configs"][0]["scrape_intervall"] = "15s"
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    assert run_program("promtool", "check", "config", tmp_path / "prometheus.yml").returncode


def test_alertmanager_takes_its_configuration() -> None:
    checked = run_program("amtool", "check-config", STACK / "alertmanager.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
