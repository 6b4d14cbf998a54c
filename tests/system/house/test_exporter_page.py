"""The page on the exporter: its command, its lines for Prometheus and the files that it names."""

import re
import time
from pathlib import Path
from typing import Any

import yaml

from docs.reference import ROOT_DIRECTORY
from streamops.service.processes import module_command
from tests.support.prometheus import RunningProgram, RunningPrometheus, run_program
from tests.support.servers import RunningServer

CHAPTER = (ROOT_DIRECTORY / "docs" / "exporter.md").read_text()
CONFIGURATION = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"^(streamops exporter) +#", re.MULTILINE)
PATIENCE = 30.0


def configuration() -> dict[str, Any]:
    (text,) = CONFIGURATION.findall(CHAPTER)
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def test_three_lines_point_a_prometheus_at_it() -> None:
    (text,) = CONFIGURATION.findall(CHAPTER)
    lines = [line for line in text.partition("rule_files:")[0].splitlines() if not line.startswith("#")]
    assert len(lines) == 3
    assert yaml.safe_load("\n".join(lines)).keys() == {"scrape_configs"}


def test_promtool_takes_the_configuration_of_the_page(tmp_path: Path) -> None:
    (text,) = CONFIGURATION.findall(CHAPTER)
    (tmp_path / "dashboards").symlink_to(ROOT_DIRECTORY / "dashboards")
    (tmp_path / "prometheus.yml").write_text(text)
    checked = run_program("promtool", "check", "config", tmp_path / "prometheus.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "1 rule files found" in checked.stdout


def test_a_prometheus_scrapes_it(server: RunningServer) -> None:
    """As it stands there, but for the ports and the interval: rules and metrics are there."""
    (command,) = COMMAND.findall(CHAPTER)
    config = configuration()
    (job,) = config["scrape_configs"]
    ((address,),) = [static["targets"] for static in job["static_configs"]]
    server.client.xadd("orders", {"order": "1"})
    server.client.xgroup_create("orders", "billing", id="0")

    def words(_: Path, port: int) -> list[str]:
        options = ("--url", server.unix_url, "--listen", address.replace("9641", str(port)))
        return module_command("streamops", *command.split()[1:], *options)

    with RunningProgram(words, "/-/healthy") as exporter:
        job["static_configs"] = [{"targets": [address.replace("9641", str(exporter.port))]}]
        config["global"] = {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"}
        del config["alerting"]
        config["rule_files"] = [str(ROOT_DIRECTORY / path) for path in config["rule_files"]]
        with RunningPrometheus(config) as prometheus:
            deadline = time.monotonic() + PATIENCE
            lag = 'streamops_group_lag_entries{job="streamops", stream="orders", group="billing"}'
            while not (rows := prometheus.query(lag)):
                assert time.monotonic() < deadline, "nothing was scraped"
                time.sleep(0.05)
            groups = prometheus.get("/api/v1/rules")["data"]["groups"]
    assert {rule["health"] for group in groups for rule in group["rules"]} <= {"ok", "unknown"}
    assert "StreamopsConsumerGroupNotReading" in {rule["name"] for group in groups for rule in group["rules"]}
    assert rows[0]["value"][1] == "1"
