"""Workers that Kubernetes runs: the scale subresource of a Deployment, StatefulSet, ReplicaSet or custom resource.

Importing this imports lightkube, which the extra ``kubernetes`` brings.
"""

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import httpx2
import msgspec
import yaml
from httpx2 import Timeout
from lightkube.config.kubeconfig import KubeConfig, SingleConfig
from lightkube.config.models import User
from lightkube.core.async_client import AsyncClient
from lightkube.core.exceptions import ConfigError
from lightkube.core.resource import ApiInfo, NamespacedSubResource, ResourceDef
from lightkube.models import autoscaling_v1
from msgspec import Struct

from streamops.errors import TargetError
from streamops.model.pools import PoolSize
from streamops.targets.specs import KubernetesSpec
from streamops.targets.target import (
    MOST_WORKERS,
    changed,
    decode_pause,
    one_line,
    require_done,
    require_expected,
)

T = TypeVar("T")

LIAR_HINT: Final = (
    "Check what `kubectl get --raw` answers for it: a Kubernetes API server does not answer like this."
)
_MANAGER: Final = "streamops"
_HINT: Final = "Check it with `kubectl config view`, or name another file or context for the pool."
_BROKEN: Final = (KeyError, ValueError, TypeError, AttributeError, yaml.YAMLError, msgspec.MsgspecError)
"""What a file raises that is YAML and no kubeconfig, or neither."""


class ScaleResource(NamespacedSubResource, autoscaling_v1.Scale):
    """The scale subresource of an object of any kind; subclasses say of which."""


class KubernetesTarget:
    """One object with replicas. Nothing is ever asked twice by itself: the next reading is the next try.

    Its ``ready`` is ``status.replicas``: pods that exist, those that are starting or ending included; heartbeats tell
    which of them work. Its ``version`` is the object's ``resourceVersion``, which every pod that becomes ready
    changes too. So a write does not hold on to the one that was read: it reads again, insists on the number that was
    decided on, and writes under the version of that moment.
    """

    kind: str = "kubernetes"

    def __init__(self, spec: KubernetesSpec) -> None:
        place = f"{spec.namespace}/" if spec.namespace else ""
        self.label = f"{spec.kind.lower()} {place}{spec.name}"
        self._spec = spec
        self._scale = _kind(spec)
        self._client: AsyncClient | None = None

    async def read(self) -> PoolSize:
        """As ``Target.read``."""
        return self._size(await self._get())

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:  # noqa: ARG002
        """As ``Target.resize``; Kubernetes keeps no reason, and the version makes a repetition harmless."""
        scale = await self._get()
        found = self._size(scale)
        require_expected(self.label, found, expected)
        if not found.version:
            raise TargetError(
                f"{self.label}: its scale has no resourceVersion, so a concurrent change could be overwritten",
                LIAR_HINT,
            )
        scale.spec = autoscaling_v1.ScaleSpec(replicas=workers)
        client = await self._connected()
        done = await self._ask(client, client.replace(scale, self._spec.name), writes=True)
        require_done(self.label, workers, self._size(done))

    async def close(self) -> None:
        """As ``Target.close``."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _get(self) -> ScaleResource:
        client = await self._connected()
        return await self._ask(client, client.get(self._scale, self._spec.name), writes=False)

    async def _connected(self) -> AsyncClient:
        if self._client is None:
            # It reads files, and parses certificates.
            self._client = await asyncio.to_thread(_connect, self._spec)
        return self._client

    async def _ask(self, client: AsyncClient, call: Awaitable[T], *, writes: bool) -> T:
        try:
            async with asyncio.timeout(self._spec.timeout.total_seconds()):
                return await call
        except Exception as error:  # noqa: BLE001 - lightkube lets through whatever its parts raise
            problem = explain(error, ScaleRequest(self._spec, client.namespace, writes))
        raise problem

    def _size(self, scale: ScaleResource) -> PoolSize:
        """What the subresource says, if it is one and makes sense; zero replicas are left out by Kubernetes."""
        named = scale.metadata.name if scale.metadata else None
        if scale.kind != "Scale" or scale.spec is None or scale.metadata is None or named != self._spec.name:
            raise TargetError(f"{self.label}: the answer is not its scale subresource", LIAR_HINT)
        ordered, ready = scale.spec.replicas or 0, scale.status.replicas if scale.status else None
        for number in (ordered, ready or 0):
            if not 0 <= number <= MOST_WORKERS:
                raise TargetError(f"{self.label}: reports {number} workers", LIAR_HINT)
        return PoolSize(ordered=ordered, ready=ready, version=scale.metadata.resourceVersion or "")


def _kind(spec: KubernetesSpec) -> type[ScaleResource]:
    """The scale subresource of the kind of object that is meant, built in or custom."""

    class ScaleOf(ScaleResource):
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


UNAUTHORIZED: Final = 401
FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
BAD_METHOD: Final = 405
CONFLICT: Final = 409
TOO_MANY: Final = 429
SERVER_ERRORS: Final = range(500, 600)

NOT_DONE_HINT: Final = "Look at the object with `kubectl get`, and at the API server's health."


class _Details(Struct):
    name: str | None = None
    retryAfterSeconds: int | None = None  # noqa: N815 - Kubernetes' word


class _Status(Struct):
    """Kubernetes' way of saying an error; everything may be missing."""

    message: str | None = None
    reason: str | None = None
    details: _Details | None = None


class ScaleRequest(NamedTuple):
    """What was asked for, for the words of an error.

    Attributes:
        spec: Of which object.
        namespace: Where that is.
        writes: Whether something was to be changed.
    """

    spec: KubernetesSpec
    namespace: str
    writes: bool

    @property
    def label(self) -> str:
        """The object, with its namespace."""
        return f"{self.spec.kind.lower()} {self.namespace}/{self.spec.name}"


def explain(error: Exception, asked: ScaleRequest) -> TargetError:
    """An error of the client's as one of ours."""
    answered = _answered(error)
    if answered is not None:
        return _explain_answer(answered.response, asked)
    if isinstance(error, (TimeoutError, httpx2.TimeoutException)):
        unsure = "; whether the change was applied is unknown" if asked.writes else ""
        seconds = asked.spec.timeout.total_seconds()
        return _passing(asked, f"Kubernetes did not answer within {seconds:g} s{unsure}")
    if isinstance(error, httpx2.TransportError):
        return _passing(asked, f"cannot reach Kubernetes: {_transport_words(error)}")
    if isinstance(error, (ConfigError, OSError)):
        # What a credential program said may hold anything: which one, and how it ended, is enough.
        words = str(error).partition(": ")[0] if isinstance(error, ConfigError) else error.strerror
        return TargetError(
            f"{asked.label}: no credentials for Kubernetes: {one_line(words or '')}",
            "Run `kubectl get` with the same kubeconfig and context to see why.",
        )
    return TargetError(f"{asked.label}: the answer is not from a Kubernetes API server", NOT_DONE_HINT)


def _answered(error: BaseException | None) -> httpx2.HTTPStatusError | None:
    """The refusal behind an error: lightkube stumbles over those whose bodies are not what it expects."""
    while error is not None and not isinstance(error, httpx2.HTTPStatusError):
        error = error.__context__
    return error


def _explain_answer(response: httpx2.Response, asked: ScaleRequest) -> TargetError:
    code, status = response.status_code, _decode_status(response.content)
    said = one_line(status.message or "") or f"status {code}"
    spec = asked.spec
    match code:
        case _ if code == CONFLICT:
            return changed(asked.label, "another client changed it at the same time")
        case _ if code == FORBIDDEN:
            return TargetError(f"{asked.label}: not allowed: {said}", _permission_hint(asked))
        case _ if code == UNAUTHORIZED:
            hint = "Renew the credentials of the kubeconfig, or the token of the service account."
            return TargetError(f"{asked.label}: Kubernetes rejected the credentials: {said}", hint)
        case _ if code in (NOT_FOUND, BAD_METHOD):
            return _missing(asked, status)
        case _ if code == TOO_MANY or code in SERVER_ERRORS:
            pause = decode_pause(response.headers.get("Retry-After", ""))
            if pause is None and status.details and status.details.retryAfterSeconds:
                pause = decode_pause(str(status.details.retryAfterSeconds))
            return TargetError(
                f"{asked.label}: the Kubernetes API server failed: {said}",
                f"Its Retry-After is {pause.total_seconds():g} s." if pause else NOT_DONE_HINT,
                retryable=True,
                retry_after=pause,
            )
    return TargetError(
        f"{asked.label}: Kubernetes refused with status {code}: {said}", f"Check {spec.resource}."
    )


def _decode_status(content: bytes) -> _Status:
    try:
        return msgspec.json.decode(content, type=_Status)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _Status()


def _permission_hint(asked: ScaleRequest) -> str:
    spec = asked.spec
    return (
        f"Grant its account in namespace {asked.namespace}: "
        f'apiGroups: ["{spec.group}"], resources: ["{spec.resource}"], resourceNames: ["{spec.name}"], '
        'verbs: ["get", "update"].'
    )


def _missing(asked: ScaleRequest, status: _Status) -> TargetError:
    spec = asked.spec
    if status.details and status.details.name:
        hint = f"`kubectl -n {asked.namespace} get {spec.plural}` lists them."
        return TargetError(
            f"{asked.label}: there is no {spec.kind} of that name in namespace {asked.namespace}", hint
        )
    return TargetError(
        f"{asked.label}: {spec.plural} of {spec.api_version} do not exist here, or cannot be scaled",
        "`kubectl api-resources` shows kinds, versions and plurals; a custom one needs a scale subresource.",
    )


def _passing(asked: ScaleRequest, what: str) -> TargetError:
    return TargetError(f"{asked.label}: {what}", NOT_DONE_HINT, retryable=True)


def _transport_words(error: httpx2.TransportError) -> str:
    return one_line(str(error)) or type(error).__name__
