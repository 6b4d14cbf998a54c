import jsonschema
import pytest

from dashboards.manifests import manifest_files
from streamops import __version__
from tests.support.grafana.commands import parse_streamops
from tests.support.grafana.kinds import MODELS, check
from tests.support.grafana.kubernetes import MANIFESTS, container
from tests.support.grafana.operator_kinds import OPERATOR
from tests.support.grafana.stack import KUBERNETES, ROOT, read_yaml
from tests.support.tables import table


@table("kind", MODELS)
def test_manifests_are_of_kubernetes_own_models(kind: str) -> None:
    check(MANIFESTS[kind])


@pytest.mark.parametrize("kind", OPERATOR)
def test_manifests_are_what_the_operator_takes(kind: str) -> None:
    jsonschema.Draft202012Validator(OPERATOR[kind]).validate(MANIFESTS[kind])


def test_the_rules_are_those_of_the_dashboards() -> None:
    rules = read_yaml(ROOT / "dashboards" / "streamops.rules.yml")
    assert MANIFESTS["PrometheusRule"]["spec"] == rules


def test_the_manifest_of_the_rules_is_what_the_builder_writes() -> None:
    for path, text in manifest_files().items():
        assert (ROOT / "dashboards" / path).read_text() == text, "run `python -m dashboards`"


def test_kustomization_lists_every_manifest() -> None:
    listed_files = read_yaml(KUBERNETES / "kustomization.yaml")["resources"]
    assert sorted(listed_files) == sorted(
        path.name for path in KUBERNETES.glob("*.yaml") if path.name != "kustomization.yaml"
    )


def test_labels_and_selectors_meet() -> None:
    pod = MANIFESTS["Deployment"]["spec"]["template"]["metadata"]["labels"].items()
    service = MANIFESTS["Service"]["metadata"]["labels"].items()
    assert MANIFESTS["Deployment"]["spec"]["selector"]["matchLabels"].items() <= pod
    assert MANIFESTS["Service"]["spec"]["selector"].items() <= pod
    assert MANIFESTS["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"].items() <= pod
    assert MANIFESTS["ServiceMonitor"]["spec"]["selector"]["matchLabels"].items() <= service


def test_the_port_of_container_service_and_network_policy_is_one() -> None:
    (port,) = container()["ports"]
    (service,) = MANIFESTS["Service"]["spec"]["ports"]
    (endpoint,) = MANIFESTS["ServiceMonitor"]["spec"]["endpoints"]
    (rule,) = MANIFESTS["NetworkPolicy"]["spec"]["ingress"]
    assert f":{port['containerPort']}" in container()["args"][-1]
    assert service["targetPort"] == rule["ports"][0]["port"] == port["name"]
    assert service["port"] == port["containerPort"]
    assert endpoint["port"] == service["name"]
    assert {container()[probe]["httpGet"]["port"] for probe in ("livenessProbe", "readinessProbe")} == {
        port["name"]
    }


def test_the_container_is_ours_and_its_command_is_understood() -> None:
    assert container()["image"] == f"streamops:{__version__}"
    assert parse_streamops(container()["args"]) == "streamops exporter"


def test_the_container_can_do_no_more_than_it_must() -> None:
    pod = MANIFESTS["Deployment"]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    own = container()["securityContext"]
    assert own["readOnlyRootFilesystem"] is True
    assert own["allowPrivilegeEscalation"] is False
    assert own["capabilities"] == {"drop": ["ALL"]}
    assert container()["resources"]["limits"]["memory"]
    assert container()["resources"]["requests"].keys() == {"cpu", "memory"}


def test_volumes_are_what_is_mounted() -> None:
    volumes = {
        volume["name"]: volume for volume in MANIFESTS["Deployment"]["spec"]["template"]["spec"]["volumes"]
    }
    mounts = {mount["name"]: mount["mountPath"] for mount in container()["volumeMounts"]}
    assert volumes.keys() == mounts.keys()
    assert volumes["config"]["configMap"]["name"] == MANIFESTS["ConfigMap"]["metadata"]["name"]
    (variable,) = container()["env"]
    (file,) = MANIFESTS["ConfigMap"]["data"]
    assert variable == {"name": "STREAMOPS_CONFIG", "value": f"{mounts['config']}/{file}"}
