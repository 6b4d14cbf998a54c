"""The scale subresource against a server with Kubernetes' own optimistic locking, and against bad ones."""

import asyncio
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web

from streamops.errors import ExitCode, TargetChanged, TargetError
from streamops.model.pools import PoolSize
from streamops.targets.kubernetes import KubernetesTarget
from streamops.targets.specs import KubernetesSpec
from tests.support.servers import choose_port
from tests.support.targets.kubernetes import spec_of
from tests.support.targets.scale_api import ScaleApi, running_api, status, write_kubeconfig

THREE = PoolSize(ordered=3)
SECRET = "hunter2-of-the-north"  # noqa: S105 - a test's own


@pytest.fixture
async def api() -> AsyncIterator[ScaleApi]:
    async with running_api() as api:
        api.add()
        yield api


@pytest.fixture
async def target(api: ScaleApi, tmp_path: Path) -> AsyncIterator[KubernetesTarget]:
    target = KubernetesTarget(spec_of(api, tmp_path))
    yield target
    await target.close()


async def resize(target: KubernetesTarget, workers: int, expected: PoolSize = THREE) -> None:
    await target.resize(workers, expected, reason="12 s wait", key="k-1")


async def failing(target: KubernetesTarget, workers: int | None = None) -> TargetError:
    with pytest.raises(TargetError) as told:
        await (target.read() if workers is None else resize(target, workers))
    error = told.value
    assert "\n" not in error.message + error.hint
    assert error.hint
    assert SECRET not in error.message + error.hint
    return error


async def test_a_read_tells_ordered_and_ready_workers_and_the_version(
    api: ScaleApi, target: KubernetesTarget
) -> None:
    api.objects["apps/v1/shop/deployments/billing"].running = 2
    assert await target.read() == PoolSize(ordered=3, ready=2, version="100")
    assert (target.kind, target.label) == ("kubernetes", "deployment billing")


async def test_no_replicas_are_left_out_by_kubernetes(api: ScaleApi, target: KubernetesTarget) -> None:
    await resize(target, 0)
    assert (await target.read()).ordered == 0
    await resize(target, 2, PoolSize(ordered=0))
    assert api.objects["apps/v1/shop/deployments/billing"].replicas == 2


async def test_a_change_is_one_look_and_one_write_under_its_version(
    api: ScaleApi, target: KubernetesTarget
) -> None:
    await resize(target, 5)
    assert api.objects["apps/v1/shop/deployments/billing"].replicas == 5
    (_, (method, body)) = api.seen
    assert (method, body["spec"], body["metadata"]["resourceVersion"]) == ("PUT", {"replicas": 5}, "100")
    assert body["metadata"]["uid"] == api.objects["apps/v1/shop/deployments/billing"].uid
    assert (body["apiVersion"], body["kind"]) == ("autoscaling/v1", "Scale")


async def test_pods_that_become_ready_do_not_stand_in_the_way(
    api: ScaleApi, target: KubernetesTarget
) -> None:
    before = await target.read()
    api.objects["apps/v1/shop/deployments/billing"].version += 7
    await resize(target, 4, before)
    assert api.objects["apps/v1/shop/deployments/billing"].replicas == 4


async def test_another_number_is_never_overwritten(api: ScaleApi, target: KubernetesTarget) -> None:
    api.objects["apps/v1/shop/deployments/billing"].change(4)
    error = await failing(target, 5)
    assert isinstance(error, TargetChanged)
    assert error.exit_code is ExitCode.DRIFTED
    assert error.message == "deployment billing: it has 4 workers now, not 3"
    assert api.methods() == ["GET"]


async def test_a_change_between_look_and_write_conflicts(api: ScaleApi, target: KubernetesTarget) -> None:
    scaled = api.objects["apps/v1/shop/deployments/billing"]
    api.on_read = lambda: scaled.change(9)
    assert isinstance(await failing(target, 5), TargetChanged)
    assert scaled.replicas == 9
    assert api.methods() == ["GET", "PUT"]


@pytest.mark.parametrize("changed", [{}, {"Retry_After": "7"}])
async def test_trouble_is_told_and_not_answered_by_more_calls(
    api: ScaleApi, target: KubernetesTarget, changed: dict[str, str]
) -> None:
    api.faults["PUT"] = [
        status(429, "TooManyRequests", "too many requests, please try again later", **changed)
    ]
    error = await failing(target, 5)
    assert error.retryable
    assert error.retry_after == (timedelta(seconds=7) if changed else None)
    assert "too many requests" in error.message
    assert ("7 s" in error.hint) is bool(changed)
    assert api.methods() == ["GET", "PUT"]


async def test_the_wait_of_a_status_document_counts_too(api: ScaleApi, target: KubernetesTarget) -> None:
    body = {"kind": "Status", "message": "etcd: no leader", "details": {"retryAfterSeconds": 3}}
    api.faults["GET"] = [web.json_response(body, status=503)]
    error = await failing(target)
    assert (error.retryable, error.retry_after) == (True, timedelta(seconds=3))
    assert "etcd: no leader" in error.message


async def test_a_missing_permission_is_named(api: ScaleApi, target: KubernetesTarget) -> None:
    said = 'deployments.apps "billing" is forbidden: User "me" cannot update resource "deployments/scale"'
    api.faults["PUT"] = [status(403, "Forbidden", said)]
    error = await failing(target, 5)
    assert said in error.message
    assert not error.retryable
    for part in ("namespace shop", '["apps"]', '["deployments/scale"]', '["get", "update"]', '["billing"]'):
        assert part in error.hint


async def test_what_is_not_there_is_named(api: ScaleApi, tmp_path: Path) -> None:
    for changes, message in (
        ({"name": "other"}, "there is no Deployment of that name in namespace shop"),
        ({"namespace": "else"}, "there is no Deployment of that name in namespace else"),
        ({"kind": "Job", "plural": "jobs", "api_version": "batch/v1"}, "jobs of batch/v1 do not exist here"),
    ):
        target = KubernetesTarget(spec_of(api, tmp_path, **changes))
        assert message in (await failing(target)).message
        await target.close()


@pytest.mark.parametrize(
    ("kind", "plural", "version"),
    [
        ("StatefulSet", "statefulsets", "apps/v1"),
        ("ReplicaSet", "replicasets", "apps/v1"),
        ("WorkerPool", "workerpools", "example.com/v1alpha1"),
        ("ReplicationController", "replicationcontrollers", "v1"),
    ],
)
async def test_workloads_of_other_kinds_are_scaled(
    api: ScaleApi, tmp_path: Path, kind: str, plural: str, version: str
) -> None:
    scaled = api.add("pool", 1, plural, version)
    target = KubernetesTarget(
        spec_of(api, tmp_path, name="pool", kind=kind, plural=plural, api_version=version)
    )
    await resize(target, 2, await target.read())
    assert scaled.replicas == 2
    await target.close()


@pytest.mark.parametrize(
    ("replicas", "running", "problem"),
    [(-1, 1, "-1 workers"), (3, -2, "-2 workers"), (2_000_000_000, 1, "2000000000 workers")],
)
async def test_numbers_that_cannot_be(
    api: ScaleApi, target: KubernetesTarget, replicas: int, running: int, problem: str
) -> None:
    scaled = api.objects["apps/v1/shop/deployments/billing"]
    scaled.replicas, scaled.running = replicas, running
    assert problem in (await failing(target)).message


@pytest.mark.parametrize(
    "answer",
    [
        web.Response(body=b"<html>", content_type="text/html"),
        web.json_response({}),
        web.json_response([1]),
        web.json_response({"kind": "Scale", "metadata": {"name": "billing"}, "spec": {"replicas": "three"}}),
        web.json_response({"kind": "Scale", "metadata": {"name": "billing"}, "spec": {"replicas": True}}),
        web.json_response({"kind": "Scale", "metadata": {"name": "another"}, "spec": {"replicas": 3}}),
        web.Response(body=b'{"kind": "Scale"', content_type="application/json"),
        web.Response(status=500, body=b"not JSON", content_type="application/json"),
        web.Response(status=502, body=b"bad gateway"),
        web.Response(status=404, body=b"\xff\xfe"),
        web.Response(status=301, headers={"Location": "http://127.0.0.1:1/"}),
        web.Response(status=204),
    ],
    ids=lambda answer: f"{answer.status} {(answer.body or b'')[:40]!r}",
)
async def test_whatever_answers_it_is_one_line(
    answer: web.Response, api: ScaleApi, target: KubernetesTarget
) -> None:
    api.faults["GET"] = [answer]
    error = await failing(target)
    assert error.message.startswith("deployment ")
    assert error.retryable == (answer.status >= 500)


async def test_an_answer_other_than_what_was_asked_for_is_reported(
    api: ScaleApi, target: KubernetesTarget
) -> None:
    """An admission hook, or another autoscaler, may set something else than what was asked for."""

    def capped(document: dict[str, Any]) -> dict[str, Any]:
        document["spec"]["replicas"] = min(document["spec"]["replicas"], 4)
        return document

    api.twist = capped
    assert "it accepted 5 workers, and reports 4" in (await failing(target, 5)).message


async def test_without_a_version_nothing_is_written(api: ScaleApi, target: KubernetesTarget) -> None:
    def bare(document: dict[str, Any]) -> dict[str, Any]:
        del document["metadata"]["resourceVersion"]
        return document

    api.twist = bare
    assert "no resourceVersion" in (await failing(target, 5)).message
    assert api.methods() == ["GET"]


async def test_api_that_does_not_answer_is_told(api: ScaleApi, tmp_path: Path) -> None:
    target = KubernetesTarget(spec_of(api, tmp_path, timeout=timedelta(seconds=0.2)))
    api.faults["GET"] = [30.0]
    error = await failing(target)
    assert (error.retryable, "within 0.2 s" in error.message) == (True, True)
    api.faults["PUT"] = [30.0]
    assert "whether the change was applied is unknown" in (await failing(target, 5)).message
    await target.close()


async def test_an_unreachable_kubernetes_may_be_asked_again(tmp_path: Path) -> None:
    api = ScaleApi(url=f"http://127.0.0.1:{choose_port()}")
    target = KubernetesTarget(spec_of(api, tmp_path))
    error = await failing(target)
    assert (error.retryable, "cannot reach Kubernetes" in error.message) == (True, True)
    await target.close()


async def test_wrong_credentials(api: ScaleApi, tmp_path: Path) -> None:
    api.tokens = {"right"}
    spec = spec_of(api, tmp_path)
    write_kubeconfig(tmp_path / "config", api.url, user={"token": SECRET})
    target = KubernetesTarget(spec)
    assert "rejected the credentials" in (await failing(target)).message
    await target.close()


async def test_a_context_without_a_user(api: ScaleApi, tmp_path: Path) -> None:
    """As what reaches Kubernetes through ``kubectl proxy`` has it."""
    spec = spec_of(api, tmp_path)
    path = tmp_path / "config"
    config = yaml.safe_load(path.read_text())
    del config["users"], config["contexts"][0]["context"]["user"]
    path.write_text(yaml.safe_dump(config))
    target = KubernetesTarget(spec)
    assert (await target.read()).ordered == 3
    await target.close()


async def test_a_credential_program(api: ScaleApi, tmp_path: Path) -> None:
    api.tokens = {"right"}
    spec = spec_of(api, tmp_path)
    script = "import json; print(json.dumps({'status': {'token': 'right'}}))"
    for code, works in ((script, True), (f"import sys; sys.exit('{SECRET}')", False)):
        program = {
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "command": sys.executable,
            "args": ["-c", code],
        }
        write_kubeconfig(tmp_path / "config", api.url, user={"exec": program})
        target = KubernetesTarget(spec)
        if works:
            assert (await target.read()).ordered == 3
        else:
            assert "no credentials" in (await failing(target)).message
        await target.close()


@pytest.mark.parametrize(
    "content",
    ["", "a: [", "- 1", "clusters: 3", f"token: {SECRET}\x00", "clusters: []\ncontexts: []\n", "\udcff"],
)
async def test_a_kubeconfig_that_is_none_is_refused_by_its_path(content: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(content, errors="surrogateescape")
    error = await failing(KubernetesTarget(KubernetesSpec(name="billing", kubeconfig=(str(path),))))
    assert str(path) in error.message


async def test_the_first_file_that_has_the_context(api: ScaleApi, tmp_path: Path) -> None:
    other = write_kubeconfig(tmp_path / "other", "http://127.0.0.1:1", context="other")
    spec = spec_of(api, tmp_path)
    files = (str(tmp_path / "none"), str(other), *spec.kubeconfig)
    target = KubernetesTarget(KubernetesSpec(name="billing", kubeconfig=files, context="main"))
    assert (await target.read()).ordered == 3
    await target.close()
    for file, context, message in ((files, "else", "no context 'else' in"), (files[:1], "", "no file")):
        target = KubernetesTarget(KubernetesSpec(name="billing", kubeconfig=file, context=context))
        assert message in (await failing(target)).message


async def test_a_task_that_is_cancelled_is_cancelled(api: ScaleApi, target: KubernetesTarget) -> None:
    api.faults["GET"] = [30.0]
    task = asyncio.create_task(target.read())
    while not api.seen:  # noqa: ASYNC110 - a server in this very loop
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
