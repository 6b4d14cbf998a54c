"""The real ``kubectl`` as a command: its own precondition, and its own words."""

import os
import shutil
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from streamops.errors import TargetChanged, TargetError
from streamops.model.pools import PoolSize
from streamops.model.secret import Secret
from streamops.targets.command import CommandTarget
from streamops.targets.specs import CommandSpec
from tests.support.targets.scale_api import ScaleApi, running_api, status, write_kubeconfig

REQUIRE_KUBECTL = "STREAMOPS_REQUIRE_KUBECTL"
GET = ("kubectl", "get", "deployment/billing", "-o", "jsonpath={.spec.replicas}")
SET = ("kubectl", "scale", "--current-replicas={current}", "--replicas={desired}", "deployment/billing")
PATIENCE = timedelta(seconds=30)


@pytest.fixture
async def api() -> AsyncIterator[ScaleApi]:
    if shutil.which("kubectl") is None:
        if os.environ.get(REQUIRE_KUBECTL) == "1":
            pytest.fail(f"kubectl is not installed, and {REQUIRE_KUBECTL} asks for it")
        pytest.skip("kubectl is not installed")
    async with running_api() as api:
        api.add()
        yield api


@pytest.fixture
def target(api: ScaleApi, tmp_path: Path) -> CommandTarget:
    kubeconfig = write_kubeconfig(tmp_path / "config", api.url)
    env = {"KUBECONFIG": Secret(str(kubeconfig)), "HOME": Secret(str(tmp_path))}
    return CommandTarget("billing", CommandSpec(get=GET, set=SET, timeout=PATIENCE, env=env))


async def test_kubectl_counts_and_scales(api: ScaleApi, target: CommandTarget) -> None:
    before = await target.read()
    assert before == PoolSize(ordered=3)
    await target.resize(5, before, reason="why", key="k")
    assert api.objects["apps/v1/shop/deployments/billing"].replicas == 5
    assert await target.read() == PoolSize(ordered=5)


async def test_what_kubectls_own_precondition_refuses_has_changed(
    api: ScaleApi, target: CommandTarget
) -> None:
    """Somebody scales between our look and kubectl's own."""
    scaled = api.objects["apps/v1/shop/deployments/billing"]
    api.on_whole = lambda: scaled.change(9)
    with pytest.raises(TargetChanged, match="9 workers now, not 3"):
        await target.resize(5, PoolSize(ordered=3), reason="why", key="k")
    assert scaled.replicas == 9
    assert "PUT" not in api.methods()


async def test_kubectls_words_are_told(api: ScaleApi, target: CommandTarget) -> None:
    api.faults["PUT"] = [status(403, "Forbidden", 'cannot update resource "deployments/scale"')] * 9
    with pytest.raises(TargetError, match=r'set ended with status 1: .*cannot update .*"deployments/scale"'):
        await target.resize(5, PoolSize(ordered=3), reason="why", key="k")
    api.objects.clear()
    with pytest.raises(TargetError, match=r'get ended with status 1: .*"billing" not found'):
        await target.read()
