"""A target of the invented Kubernetes API."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from streamops.targets.specs import KubernetesSpec
from tests.support.targets.scale_api import ScaleApi, write_kubeconfig


def spec_of(api: ScaleApi, directory: Path, **changes: Any) -> KubernetesSpec:
    file = write_kubeconfig(directory / "config", api.url)
    stated: dict[str, Any] = {
        "name": "billing",
        "kubeconfig": (str(file),),
        "timeout": timedelta(seconds=5),
        **changes,
    }
    return KubernetesSpec(**stated)
