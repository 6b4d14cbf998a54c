"""What is applied to have streamops itself scale a Deployment: as few rights as that takes."""

import importlib
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
import yaml

from streamops import __version__
from streamops.settings.load import load_pools
from streamops.settings.pools import ConfiguredPool, read_target
from streamops.targets.specs import KubernetesSpec
from tests.support.grafana.kinds import unknown_fields
from tests.support.grafana.stack import KUBERNETES, read_yaml
from tests.support.tables import table

FOLDER: Final = KUBERNETES / "autoscaler"
LISTED: Final = read_yaml(FOLDER / "kustomization.yaml")["resources"]
FOUND: Final = {manifest["kind"]: manifest for manifest in (read_yaml(FOLDER / name) for name in LISTED)}
MODELS: Final = {
    "ConfigMap": "core_v1",
    "Deployment": "apps_v1",
    "Role": "rbac_v1",
    "RoleBinding": "rbac_v1",
    "ServiceAccount": "core_v1",
}
NAME: Final = "streamops-autoscaler"


def problems_of(manifest: dict[str, Any]) -> list[str]:
    """Fields that Kubernetes' own model does not have; raises where a value is not of its type."""
    model = getattr(importlib.import_module(f"lightkube.models.{MODELS[manifest['kind']]}"), manifest["kind"])
    msgspec.convert(manifest, model)
    return unknown_fields(manifest, model, manifest["kind"])


def pod() -> dict[str, Any]:
    found: dict[str, Any] = FOUND["Deployment"]["spec"]["template"]["spec"]
    return found


def container() -> dict[str, Any]:
    (found,) = pod()["containers"]
    return dict(found)


@pytest.fixture
def pools(tmp_path: Path) -> dict[str, ConfiguredPool]:
    (text,) = FOUND["ConfigMap"]["data"].values()
    path = tmp_path / "streamops.toml"
    path.write_text(text)
    return load_pools({"STREAMOPS_CONFIG": str(path)}, tmp_path, "redis").pools


def test_every_manifest_is_listed() -> None:
    assert sorted([*LISTED, "kustomization.yaml"]) == sorted(path.name for path in FOLDER.glob("*.yaml"))
    assert FOUND.keys() == MODELS.keys()


@table("kind", MODELS)
def test_manifests_are_of_kubernetes_own_models(kind: str) -> None:
    assert problems_of(FOUND[kind]) == []
    assert FOUND[kind]["metadata"]["name"] == NAME


@pytest.mark.parametrize("word", ["verbs", "resources"])
def test_the_check_finds_what_does_not_fit(word: str) -> None:
    role = yaml.safe_load(yaml.safe_dump(FOUND["Role"]))
    role["rules"][0][word] = "get"
    with pytest.raises(msgspec.ValidationError):
        problems_of(role)
    role["rules"][0] = {"verbs": ["get"], "ressources": []}
    assert problems_of(role) == ["Role.rules[0].ressources"]


def test_the_account_may_scale_what_is_configured_and_nothing_else(pools: dict[str, ConfiguredPool]) -> None:
    specs = [read_target(pool, {"HOME": "/tmp"}) for pool in pools.values()]  # noqa: S108 - not written to
    (rule,) = FOUND["Role"]["rules"]
    objects = [spec for spec in specs if isinstance(spec, KubernetesSpec)]
    assert rule["resourceNames"] == [spec.name for spec in objects]
    assert {(spec.group, spec.resource) for spec in objects} == {("apps", "deployments/scale")}
    assert (rule["apiGroups"], rule["resources"]) == (["apps"], ["deployments/scale"])
    assert rule["verbs"] == ["get", "update"]
    # Of the pod's own namespace, with the pod's own account.
    assert {spec.namespace for spec in objects} == {""}


def test_the_pod_has_the_account_and_the_account_the_role() -> None:
    binding = FOUND["RoleBinding"]
    assert binding["roleRef"] == {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": NAME}
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": NAME}]
    assert (pod()["serviceAccountName"], pod()["automountServiceAccountToken"]) == (NAME, True)
    assert FOUND["ServiceAccount"]["automountServiceAccountToken"] is False


def test_the_container_is_ours_and_can_do_no_more_than_it_must() -> None:
    assert container()["image"] == f"streamops:{__version__}"
    assert container()["args"] == ["autoscale", "run"]
    assert pod()["securityContext"]["runAsNonRoot"] is True
    own = container()["securityContext"]
    assert (own["readOnlyRootFilesystem"], own["allowPrivilegeEscalation"]) == (True, False)
    assert own["capabilities"] == {"drop": ["ALL"]}
    assert container()["resources"]["limits"]["memory"]


def test_what_is_mounted_is_what_is_read() -> None:
    volumes = {volume["name"]: volume for volume in pod()["volumes"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in container()["volumeMounts"]}
    assert volumes.keys() == mounts.keys()
    assert volumes["config"]["configMap"]["name"] == NAME
    (variable,) = container()["env"]
    (file,) = FOUND["ConfigMap"]["data"]
    assert variable == {"name": "STREAMOPS_CONFIG", "value": f"{mounts['config']}/{file}"}
    assert f'password_file = "{mounts["password"]}/password"' in FOUND["ConfigMap"]["data"][file]
