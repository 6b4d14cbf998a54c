import re
from pathlib import Path
from typing import Any

from tests.support.grafana.configuration import alertmanager, dashboards, prometheus
from tests.support.grafana.stack import ROOT, STACK, read_yaml, services
from tests.support.tables import table

PROVISIONING = STACK / "provisioning"
SERVICES = services()


def alerts() -> dict[str, set[str]]:
    """Names of the alerts, and their severities; those on findings have them from the findings."""
    groups = read_yaml(ROOT / "dashboards" / "streamops.rules.yml")["groups"]
    labels = {rule["alert"]: rule["labels"] for group in groups for rule in group["rules"]}
    return {
        name: {own["severity"]} if "severity" in own else {"warning", "critical"}
        for name, own in labels.items()
    }


def targets(config: list[dict[str, Any]]) -> list[str]:
    return [target for one in config for static in one["static_configs"] for target in static["targets"]]


def listens(service: str, port: str) -> bool:
    """Whether a service of the compose file listens on a port, by its command, its ports or by what it is."""
    own = {"prometheus": "9090", "alertmanager": "9093", "grafana": "3000"}
    words = SERVICES[service]["command"]
    return own.get(service) == port or any(str(word).endswith(f":{port}") for word in words)


@table("target", targets(prometheus()["scrape_configs"]) + targets(prometheus()["alerting"]["alertmanagers"]))
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
    image, _, _ = SERVICES["prometheus"]["image"].partition("@")
    version = image.partition(":v")[2]
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
