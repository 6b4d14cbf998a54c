"""The files of the stack, read for the tests."""

from pathlib import Path
from typing import Any, Final

import yaml

from tests.support.project import PROJECT

ROOT: Final = PROJECT
STACK: Final = ROOT / "grafana"
KUBERNETES: Final = STACK / "kubernetes"
COMPOSE: Final = STACK / "compose.yaml"


def read_yaml(path: Path) -> Any:  # noqa: ANN401 - any YAML
    """The one document of a file."""
    return yaml.safe_load(path.read_text())


def services() -> dict[str, dict[str, Any]]:
    """The services of the compose file, what they share merged in."""
    found: dict[str, dict[str, Any]] = read_yaml(COMPOSE)["services"]
    return found


def manifests() -> dict[str, dict[str, Any]]:
    """The Kubernetes manifests by their kinds, kustomize's own left out."""
    found = (read_yaml(path) for path in sorted(KUBERNETES.glob("*.yaml")))
    return {manifest["kind"]: manifest for manifest in found if manifest["kind"] != "Kustomization"}
