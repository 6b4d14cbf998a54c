"""The manifests of KEDA."""

from typing import Any, Final

from tests.support.grafana.stack import KUBERNETES, read_yaml

FOLDER: Final = KUBERNETES / "keda"
PLAIN: Final = {
    manifest["kind"]: manifest
    for manifest in map(read_yaml, sorted(FOLDER.glob("*.yaml")))
    if manifest["kind"] not in {"Kustomization", "ScaledObject"}
}


def container() -> dict[str, Any]:
    (found,) = PLAIN["Deployment"]["spec"]["template"]["spec"]["containers"]
    return dict(found)
