"""The manifests and their container."""

from typing import Any

from tests.support.grafana.stack import manifests

MANIFESTS = manifests()


def container() -> dict[str, Any]:
    (found,) = MANIFESTS["Deployment"]["spec"]["template"]["spec"]["containers"]
    return dict(found)
