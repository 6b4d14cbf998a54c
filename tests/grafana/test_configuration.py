import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.grafana.stack import ROOT, STACK, read_yaml, services
from tests.prometheus import run_program

PROVISIONING = STACK / "provisioning"
SERVICES = services()


def prometheus() -> dict[str, Any]:
    found: dict[str, Any] = read_yaml(STACK / "prometheus.yml")
    return found


def alertmanager() -> dict[str, Any]:
    found: dict[str, Any] = read_yaml(STACK / "alertmanager.yml")
    return found


def alerts() -> dict[str, set[str]]:
    """Names of the alerts, and their severities."""
    found: dict[str, set[str]] = {}
    for group in read_yaml(ROOT / "dashboards" / "streamops.rules.yml")["groups"]:
        for rule in group["rules"]:
            if "alert" in rule:
                found.setdefault(rule["alert"], set()).add(rule["labels"]["severity"])
    return found


def targets(config: list[dict[str, Any]]) -> list[str]:
    return [target for one in config for static in one["static_configs"] for target in static["targets"]]


def listens(service: str, port: str) -> bool:
    """Whether a service of the compose file listens on a port, by its command, its ports or by what it is."""
    own = {"prometheus": "9090", "alertmanager": "9093", "grafana": "3000"}
    words = SERVICES[service]["command"]
    return own.get(service) == port or any(str(word).endswith(f":{port}") for word in words)


def dashboards() -> list[Path]:
    return sorted((ROOT / "dashboards").glob("*.json"))


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


@pytest.mark.parametrize(
    "target", targets(prometheus()["scrape_configs"]) + targets(prometheus()["alerting"]["alertmanagers"])
)
def test_what_is_scraped_is_a_service_that_listens_there(target: str) -> None:
    host, _, port = target.partition(":")
    assert listens("prometheus" if host == "127.0.0.1" else host, port)


def test_alerts_are_routed_by_severities_that_there_are() -> None:
    known = {f'severity="{severity}"' for severities in alerts().values() for severity in severities}
    routes = alertmanager()["route"]["routes"]
    assert {matcher for route in routes for matcher in route["matchers"]} <= known
    receivers = {receiver["name"] for receiver in alertmanager()["receivers"]}
    assert {route["receiver"] for route in (alertmanager()["route"], *routes)} <= receivers


def test_alerts_that_speak_for_others_exist() -> None:
    matchers = [
        matcher
        for rule in alertmanager()["inhibit_rules"]
        for matcher in (*rule["source_matchers"], *rule["target_matchers"])
        if matcher.startswith("alertname")
    ]
    names = {name for matcher in matchers for name in re.findall(r'"(.*)"', matcher)[0].split("|")}
    assert names
    assert names <= alerts().keys()


def test_grafana_asks_the_prometheus_and_the_alertmanager_of_the_stack() -> None:
    sources = read_yaml(PROVISIONING / "datasources" / "datasources.yml")["datasources"]
    for source in sources:
        host, port = re.fullmatch(r"http://(\w+):(\d+)", source["url"]).groups()  # type: ignore[union-attr]  # else it fails, as it should
        assert listens(host, port)
    by_type = {source["type"]: source for source in sources}
    assert by_type["prometheus"]["jsonData"]["alertmanagerUid"] == by_type["alertmanager"]["uid"]
    assert by_type["prometheus"]["jsonData"]["timeInterval"] == prometheus()["global"]["scrape_interval"]
    version = SERVICES["prometheus"]["image"].partition(":v")[2]
    assert by_type["prometheus"]["jsonData"]["prometheusVersion"] == version
    assert [source["isDefault"] for source in sources if "isDefault" in source] == [True]


def test_grafana_finds_the_dashboards() -> None:
    (provider,) = read_yaml(PROVISIONING / "dashboards" / "streamops.yml")["providers"]
    mounts = dict(reversed(volume.split(":")[:2]) for volume in SERVICES["grafana"]["volumes"])
    place = (STACK / mounts[provider["options"]["path"]]).resolve()
    assert dashboards()
    assert {path.parent for path in dashboards()} == {place}
    home = SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert (place / Path(home).name) in dashboards()
    assert str(Path(home).parent) == provider["options"]["path"]
