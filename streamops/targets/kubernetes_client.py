"""A client of one scale subresource, by the account of the pod or by a kubeconfig. Importing this imports lightkube."""

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Final, Self, TypeVar

import msgspec
import yaml
from httpx2 import Timeout
from lightkube.config.kubeconfig import KubeConfig, SingleConfig
from lightkube.config.models import User
from lightkube.core.async_client import AsyncClient
from lightkube.core.exceptions import ConfigError
from lightkube.core.resource import ApiInfo, NamespacedSubResource, ResourceDef
from lightkube.models import autoscaling_v1

from streamops.errors import TargetError
from streamops.targets.kubernetes_faults import Asked, explain
from streamops.targets.specs import KubernetesSpec
from streamops.targets.target import one_line

T = TypeVar("T")

_MANAGER: Final = "streamops"
_HINT: Final = "Check it with `kubectl config view`, or name another file or context for the pool."
_BROKEN: Final = (KeyError, ValueError, TypeError, AttributeError, yaml.YAMLError, msgspec.MsgspecError)
"""What a file raises that is YAML and no kubeconfig, or neither."""


class Scale(NamespacedSubResource, autoscaling_v1.Scale):
    """The scale subresource of an object of any kind; subclasses say of which."""


class ScaleClient:
    """Reads and writes the scale subresource of one object; whatever fails is a ``TargetError``."""

    def __init__(self, spec: KubernetesSpec, client: AsyncClient) -> None:
        self._spec = spec
        self._client = client
        self._kind = _kind(spec)

    @classmethod
    async def open(cls, spec: KubernetesSpec) -> Self:
        """A client that is not connected yet.

        Raises:
            TargetError: There is no account and no kubeconfig, or they make no sense.
        """
        # It reads files, and parses certificates.
        return cls(spec, await asyncio.to_thread(_connect, spec))

    async def get(self) -> Scale:
        """The subresource as it is."""
        return await self._ask(self._client.get(self._kind, self._spec.name), writes=False)

    async def put(self, scale: Scale, workers: int) -> Scale:
        """Ask for a number of replicas, if the object is still as it was read; as it is then."""
        scale.spec = autoscaling_v1.ScaleSpec(replicas=workers)
        return await self._ask(self._client.replace(scale, self._spec.name), writes=True)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.close()

    async def _ask(self, call: Awaitable[T], *, writes: bool) -> T:
        try:
            async with asyncio.timeout(self._spec.timeout.total_seconds()):
                return await call
        except Exception as error:  # noqa: BLE001 - lightkube lets through whatever its parts raise
            problem = explain(error, Asked(self._spec, self._client.namespace, writes))
        raise problem


def _kind(spec: KubernetesSpec) -> type[Scale]:
    """The scale subresource of the kind of object that is meant, built in or custom."""

    class ScaleOf(Scale):
        _api_info = ApiInfo(
            resource=ResourceDef("autoscaling", "v1", "Scale"),
            parent=ResourceDef(spec.group, spec.api_version.rpartition("/")[2], spec.kind),
            plural=spec.plural,
            verbs=["get", "put"],
            action="scale",
        )

    return ScaleOf


def _connect(spec: KubernetesSpec) -> AsyncClient:
    place = ", ".join(spec.kubeconfig) or spec.account
    try:
        config = _find(spec)
        return AsyncClient(
            # What is reached without a user, as through `kubectl proxy`, needs no credentials.
            config=config if config.user else config._replace(user=User()),
            namespace=spec.namespace or None,
            timeout=Timeout(spec.timeout.total_seconds()),
            field_manager=_MANAGER,
        )
    except ConfigError as error:
        problem = one_line(str(error))
    except OSError as error:
        problem = f"cannot read {place}: {error.strerror or 'a certificate or key makes no sense'}"
    except _BROKEN:
        # Outside the handlers' reach: these hold what stands in the file.
        problem = f"{place}: no kubeconfig, or an incomplete one"
    raise TargetError(f"Kubernetes: {problem}", _HINT)


def _find(spec: KubernetesSpec) -> SingleConfig:
    """The context that is meant, of the first file that has it."""
    if not spec.kubeconfig:
        return _known(KubeConfig.from_service_account(service_account=spec.account).get())
    there = [path for path in spec.kubeconfig if Path(path).is_file()]
    if not there:
        raise ConfigError(f"no file {', '.join(spec.kubeconfig)}")
    files = [KubeConfig.from_file(path) for path in there]
    for file in files:
        name = spec.context or file.current_context
        if name in file.contexts:
            return _known(file.get(name))
    wanted = f"no context {spec.context!r}" if spec.context else "no current context"
    raise ConfigError(f"{wanted} in {', '.join(there)}")


def _known(config: SingleConfig | None) -> SingleConfig:
    if config is None:
        raise ConfigError("no context")
    return config
