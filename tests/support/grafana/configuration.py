"""The configuration of the stack."""

from pathlib import Path
from typing import Any

from tests.support.grafana.stack import ROOT, STACK, read_yaml


def prometheus() -> dict[str, Any]:
    found: dict[str, Any] = read_yaml(STACK / "prometheus.yml")
    return found


def alertmanager() -> dict[str, Any]:
    found: dict[str, Any] = read_yaml(STACK / "alertmanager.yml")
    return found


def dashboards() -> list[Path]:
    return sorted((ROOT / "dashboards").glob("*.json"))
