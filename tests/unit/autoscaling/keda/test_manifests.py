"""What is applied to have KEDA ask the scaler."""

import tomllib
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import jsonschema
import lightkube.models.autoscaling_v2 as hpa
import msgspec
import pytest

from streamops import __version__
from streamops.autoscaling.keda.answers import Board, GroupRead, read_trigger
from streamops.autoscaling.keda.http import pool_document
from streamops.autoscaling.keda.server import GrpcOptions
from tests.support.autoscaling.keda.manifests import FOLDER, PLAIN, container
from tests.support.autoscaling.keda.serving import KNOWN
from tests.support.grafana.kinds import check, unknown_fields
from tests.support.grafana.operator_kinds import TEXT, TEXTS, Schema, closed, listed
from tests.support.grafana.stack import read_yaml
from tests.support.tables import table

SCALED: Final = tuple(sorted(FOLDER.glob("scaledobject-*.yaml")))

COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
TRIGGER: Final = closed(["type", "metadata"], type=TEXT, metadata=TEXTS, metricType={"const": "AverageValue"})
SCALED_OBJECT: Final = closed(
    ["apiVersion", "kind", "metadata", "spec"],
    apiVersion={"const": "keda.sh/v1alpha1"},
    kind={"const": "ScaledObject"},
    metadata=closed(["name"], name=TEXT, labels=TEXTS),
    spec=closed(
        ["scaleTargetRef", "triggers"],
        scaleTargetRef=closed(["name"], name=TEXT),
        pollingInterval=COUNT,
        cooldownPeriod=COUNT,
        minReplicaCount=COUNT,
        maxReplicaCount=COUNT,
        fallback=closed(
            ["failureThreshold", "replicas"],
            failureThreshold=COUNT,
            replicas=COUNT,
            behavior={
                "enum": ["static", "currentReplicas", "currentReplicasIfHigher", "currentReplicasIfLower"]
            },
        ),
        advanced=closed([], horizontalPodAutoscalerConfig=closed([], behavior={"type": "object"})),
        triggers=listed(TRIGGER),
    ),
)
"""What is used of KEDA's kind, after its custom resource definition; nothing else is allowed."""


def spec_of(path: Path) -> dict[str, Any]:
    spec: dict[str, Any] = read_yaml(path)["spec"]
    return spec


def trigger_of(kind: str) -> dict[str, str]:
    """The metadata of the one trigger of a kind."""
    (found,) = [
        trigger["metadata"]
        for path in SCALED
        for trigger in spec_of(path)["triggers"]
        if trigger["type"] == kind
    ]
    return dict(found)


def pools() -> dict[str, dict[str, Any]]:
    """The pools of the configuration."""
    (text,) = PLAIN["ConfigMap"]["data"].values()
    found: dict[str, dict[str, Any]] = tomllib.loads(text)["pools"]
    return found


def ports() -> dict[str, int]:
    """The service's ports by their names."""
    return {port["name"]: port["port"] for port in PLAIN["Service"]["spec"]["ports"]}


@table("kind", ["ConfigMap", "Deployment", "NetworkPolicy", "Service"])
def test_manifests_are_of_kubernetes_own_models(kind: str) -> None:
    check(PLAIN[kind])
    assert len(PLAIN) == 4


@pytest.mark.parametrize("path", SCALED, ids=lambda path: path.stem)
def test_scaled_objects_are_what_keda_takes(path: Path) -> None:
    jsonschema.Draft202012Validator(SCALED_OBJECT).validate(read_yaml(path))
    behavior = spec_of(path)["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    msgspec.convert(behavior, hpa.HorizontalPodAutoscalerBehavior)
    assert unknown_fields(behavior, hpa.HorizontalPodAutoscalerBehavior, "behavior") == []


@pytest.mark.parametrize("path", SCALED, ids=lambda path: path.stem)
def test_the_hpa_does_not_decide_once_more(path: Path) -> None:
    behavior = spec_of(path)["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    for rules in behavior.values():
        assert rules["stabilizationWindowSeconds"] == 0
    assert behavior["scaleDown"]["policies"] == [{"type": "Percent", "value": 100, "periodSeconds": 15}]
    # The policy orders four times as many within a decision, and there may be three between two looks of the HPA's.
    up = {policy["type"]: policy for policy in behavior["scaleUp"]["policies"]}
    assert up["Percent"]["value"] >= 300
    assert up["Pods"]["value"] >= 3 * 4
    assert {policy["periodSeconds"] for policy in up.values()} == {15}


@pytest.mark.parametrize("path", SCALED, ids=lambda path: path.stem)
def test_an_outage_takes_no_worker_away(path: Path) -> None:
    fallback = spec_of(path)["fallback"]
    assert fallback["behavior"] == "currentReplicasIfHigher"
    assert fallback["replicas"] == max(1, spec_of(path)["minReplicaCount"])


@pytest.mark.parametrize("path", SCALED, ids=lambda path: path.stem)
def test_limits_are_the_pools(path: Path) -> None:
    pool = pools()["billing"]
    spec = spec_of(path)
    assert (spec["minReplicaCount"], spec["maxReplicaCount"]) == (pool["minimum"], pool["maximum"])


@pytest.mark.parametrize("kind", ["external", "external-push"])
def test_triggers_are_understood(kind: str) -> None:
    metadata = trigger_of(kind)
    board = Board({name: GroupRead(pool["stream"], pool["group"]) for name, pool in pools().items()})
    assert read_trigger(metadata, board)[0] == "billing"
    host, _, port = metadata["scalerAddress"].partition(":")
    assert host.partition(".")[0] == PLAIN["Service"]["metadata"]["name"]
    assert int(port) == ports()["grpc"] == GrpcOptions().port


def test_the_trigger_over_http_finds_the_number() -> None:
    metadata = trigger_of("metrics-api")
    url = urlsplit(metadata["url"])
    assert url.hostname is not None
    assert url.hostname.partition(".")[0] == PLAIN["Service"]["metadata"]["name"]
    assert url.port == ports()["http"]
    assert url.path == "/pools/billing"
    assert "billing" in pools()
    assert pool_document("billing", KNOWN)[metadata["valueLocation"]] == 7
    assert metadata["targetValue"] == "1"


def test_labels_selectors_and_ports_meet() -> None:
    pod = PLAIN["Deployment"]["spec"]["template"]["metadata"]["labels"].items()
    assert PLAIN["Deployment"]["spec"]["selector"]["matchLabels"].items() <= pod
    assert PLAIN["Service"]["spec"]["selector"].items() <= pod
    assert PLAIN["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"].items() <= pod
    inside = {port["name"]: port["containerPort"] for port in container()["ports"]}
    assert inside == ports()
    assert {f"0.0.0.0:{port}" for port in inside.values()} <= set(container()["args"])
    (rule,) = PLAIN["NetworkPolicy"]["spec"]["ingress"]
    assert {port["port"] for port in rule["ports"]} == inside.keys()
    assert {container()[probe]["httpGet"]["port"] for probe in ("livenessProbe", "readinessProbe")} == {
        "http"
    }


def test_the_container_is_ours_and_can_do_no_more_than_it_must() -> None:
    pod = PLAIN["Deployment"]["spec"]["template"]["spec"]
    assert container()["image"] == f"streamops:{__version__}"
    assert PLAIN["Deployment"]["spec"]["replicas"] == 1
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    own = container()["securityContext"]
    assert own["readOnlyRootFilesystem"] is True
    assert own["allowPrivilegeEscalation"] is False
    assert own["capabilities"] == {"drop": ["ALL"]}
    assert container()["resources"]["requests"].keys() == {"cpu", "memory"}
    mounts = {mount["name"] for mount in container()["volumeMounts"]}
    assert mounts == {volume["name"] for volume in pod["volumes"]}
