"""The account of the pod: TLS by the cluster's own authority, a token that is renewed, a namespace."""

import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trustme

from streamops.errors import TargetError
from streamops.targets.kubernetes import KubernetesTarget
from streamops.targets.specs import KubernetesSpec
from tests.support.targets.scale_api import ScaleApi, running_api


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
async def api(authority: trustme.CA, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScaleApi]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    async with running_api(context) as api:
        api.add()
        address = urlsplit(api.url)
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", str(address.hostname))
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(address.port))
        yield api


def account(directory: Path, authority: trustme.CA, token: str) -> KubernetesSpec:
    authority.cert_pem.write_to_path(directory / "ca.crt")
    (directory / "namespace").write_text("shop")
    (directory / "token").write_text(token)
    return KubernetesSpec(name="billing", account=str(directory))


async def test_the_account_of_the_pod(api: ScaleApi, authority: trustme.CA, tmp_path: Path) -> None:
    api.tokens = {"first"}
    target = KubernetesTarget(account(tmp_path, authority, "first"))
    before = await target.read()
    await target.resize(4, before, reason="", key="k")
    assert api.objects["apps/v1/shop/deployments/billing"].replicas == 4
    # Tokens are renewed by the kubelet, in the same file.
    api.tokens = {"second"}
    (tmp_path / "token").write_text("second")
    assert (await target.read()).ordered == 4
    await target.close()


async def test_another_authority_is_not_trusted(api: ScaleApi, tmp_path: Path) -> None:
    target = KubernetesTarget(account(tmp_path, trustme.CA(), "first"))
    with pytest.raises(TargetError, match=r"cannot reach Kubernetes: .*certificate"):
        await target.read()
    assert api.seen == []
    await target.close()


async def test_a_pod_without_an_account_is_told_where_it_was_looked_for(tmp_path: Path) -> None:
    target = KubernetesTarget(KubernetesSpec(name="billing", account=str(tmp_path)))
    with pytest.raises(TargetError, match="Kubernetes: ") as told:
        await target.read()
    assert str(tmp_path) in told.value.message
    assert "kubectl" in told.value.hint
