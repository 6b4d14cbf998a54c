import ipaddress
import json
import os
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from streamops import __version__
from tests.support.grafana.commands import parse_streamops, unknown_flags
from tests.support.grafana.stack import COMPOSE, ROOT, STACK, read_yaml, services
from tests.support.servers import StartServer

PINNED = re.compile(r"streamops:\S+|[\w./-]+:v?\d+\.\d+\.\d+(-[\w.]+)?@sha256:[0-9a-f]{64}")
SECRET = re.compile(r"passw|secret|token|credential|api_?key", re.IGNORECASE)
HARMLESS = {"GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"}
SERVICES = services()

every_service = pytest.mark.parametrize("name", SERVICES)


def bind_mounts(service: dict[str, Any]) -> dict[str, Path]:
    """What of the repository a service sees, by the place where it sees it."""
    mounts = (volume.split(":") for volume in service.get("volumes", ()))
    return {words[1]: (STACK / words[0]).resolve() for words in mounts if words[0].startswith(".")}


def streamops_words(name: str) -> list[str]:
    words: list[str] = SERVICES[name]["command"]
    return words


def test_it_is_what_the_compose_specification_allows() -> None:
    schema = json.loads(
        files("check_jsonschema").joinpath("builtin_schemas/vendor/compose-spec.json").read_text()
    )
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.Draft7Validator(schema).validate(read_yaml(COMPOSE))


@every_service
def test_images_of_others_are_pinned_by_digest(name: str) -> None:
    assert PINNED.fullmatch(SERVICES[name]["image"])


def test_our_image_is_of_this_version_and_built_from_this_repository() -> None:
    ours = {name for name, service in SERVICES.items() if service["image"].startswith("streamops:")}
    assert {SERVICES[name]["image"] for name in ours} == {f"streamops:{__version__}"}
    (built,) = (service["build"] for service in SERVICES.values() if "build" in service)
    assert (STACK / built["context"]).resolve() == ROOT
    assert (ROOT / "Dockerfile").is_file()


@every_service
def test_ports_are_published_on_this_machine_alone(name: str) -> None:
    for published in SERVICES[name].get("ports", ()):
        address, outer, inner = published.split(":")
        assert ipaddress.ip_address(address).is_loopback
        assert outer.isdigit()
        assert inner.isdigit()


@every_service
def test_services_can_do_no_more_than_they_must(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    assert all(volume.endswith(":ro") for volume in service.get("volumes", ()) if volume.startswith("."))


@every_service
def test_who_is_waited_for_has_a_health_to_wait_for(name: str) -> None:
    for other, how in SERVICES[name].get("depends_on", {}).items():
        assert other in SERVICES
        assert how["condition"] in {"service_healthy", "service_started"}


@every_service
def test_there_is_no_secret(name: str) -> None:
    variables = SERVICES[name].get("environment", {})
    assert not [key for key in variables if SECRET.search(key) and key not in HARMLESS]
    assert "@" not in json.dumps(variables)
    assert not SECRET.search(json.dumps(SERVICES[name].get("command", [])))


@every_service
def test_what_is_mounted_exists(name: str) -> None:
    for place, path in bind_mounts(SERVICES[name]).items():
        assert path.exists(), f"{place} is {path}"
        assert path.is_relative_to(ROOT)


@pytest.mark.parametrize("name", ["worker", "exporter"])
def test_commands_of_streamops_are_understood(name: str) -> None:
    assert parse_streamops(streamops_words(name)) == f"streamops {streamops_words(name)[0]}"


@pytest.mark.parametrize("name", ["workload"])
def test_probes_that_call_streamops_are_understood(name: str) -> None:
    kind, program, *words = SERVICES[name]["healthcheck"]["test"]
    assert (kind, program) == ("CMD", "streamops")
    assert parse_streamops(words) == "streamops streams show"


@pytest.mark.parametrize(
    ("name", "program"), [("prometheus", "prometheus"), ("alertmanager", "prometheus-alertmanager")]
)
def test_flags_are_known(name: str, program: str) -> None:
    assert unknown_flags(program, SERVICES[name]["command"]) == []


def test_redis_starts_with_these_arguments(start_server: StartServer) -> None:
    program, *words = SERVICES["redis"]["command"]
    assert program == "redis-server"
    server = start_server(*words)
    assert server.client.config_get("maxmemory")["maxmemory"] == str(256 << 20)
    assert server.client.config_get("save")["save"] == ""


@pytest.mark.parametrize(
    ("name", "flag", "place"),
    [
        ("prometheus", "--config.file", "/etc/streamops/grafana/prometheus.yml"),
        ("alertmanager", "--config.file", "/etc/alertmanager/alertmanager.yml"),
    ],
)
def test_configuration_is_where_the_program_looks_for_it(name: str, flag: str, place: str) -> None:
    assert f"{flag}={place}" in SERVICES[name]["command"]
    assert bind_mounts(SERVICES[name])[place].is_file()


def test_prometheus_finds_the_rules_beside_its_configuration() -> None:
    mounts = bind_mounts(SERVICES["prometheus"])
    config = Path("/etc/streamops/grafana/prometheus.yml")
    for rules in read_yaml(STACK / "prometheus.yml")["rule_files"]:
        assert mounts[os.path.normpath(config.parent / rules)] == (STACK / rules).resolve()


@pytest.mark.parametrize("name", ["worker", "exporter"])
def test_probes_ask_the_port_that_is_served(name: str) -> None:
    words = streamops_words(name)
    (address,) = [word for word in words if word.startswith("0.0.0.0:")]
    probe = SERVICES[name]["healthcheck"]["test"][-1]
    assert f"http://127.0.0.1:{address.rpartition(':')[2]}/-/" in probe
    compile(probe, "probe", "exec")
