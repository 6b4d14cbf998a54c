"""A client of one scale subresource, and what Kubernetes' answers and silences mean in words. Importing this imports lightkube."""

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Final, NamedTuple, Self, TypeVar

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
from streamops.targets.specs import KubernetesSpec
from streamops.targets.target import changed, decode_pause, one_line

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
    """Kubernetes' way of telling an error; everything may be missing."""

    message: str | None = None
    reason: str | None = None
    details: _Details | None = None


class Asked(NamedTuple):
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


def explain(error: Exception, asked: Asked) -> TargetError:
    """An error of the client's as one of ours."""
    answered = _answered(error)
    if answered is not None:
        return _explain_answer(answered.response, asked)
    if isinstance(error, (TimeoutError, httpx2.TimeoutException)):
        unsure = "; whether it was done is not known" if asked.writes else ""
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
    return TargetError(f"{asked.label}: what answers speaks no Kubernetes", NOT_DONE_HINT)


def _answered(error: BaseException | None) -> httpx2.HTTPStatusError | None:
    """The refusal behind an error: lightkube stumbles over those whose bodies are not what it expects."""
    while error is not None and not isinstance(error, httpx2.HTTPStatusError):
        error = error.__context__
    return error


def _explain_answer(response: httpx2.Response, asked: Asked) -> TargetError:
    code, status = response.status_code, _decode_status(response.content)
    said = one_line(status.message or "") or f"status {code}"
    spec = asked.spec
    match code:
        case _ if code == CONFLICT:
            return changed(asked.label, "it was changed by somebody else at the same moment")
        case _ if code == FORBIDDEN:
            return TargetError(f"{asked.label}: not allowed: {said}", _permission_hint(asked))
        case _ if code == UNAUTHORIZED:
            hint = "Renew the credentials of the kubeconfig, or the token of the service account."
            return TargetError(f"{asked.label}: Kubernetes does not know who asks: {said}", hint)
        case _ if code in (NOT_FOUND, BAD_METHOD):
            return _missing(asked, status)
        case _ if code == TOO_MANY or code in SERVER_ERRORS:
            pause = decode_pause(response.headers.get("Retry-After", ""))
            if pause is None and status.details and status.details.retryAfterSeconds:
                pause = decode_pause(str(status.details.retryAfterSeconds))
            return TargetError(
                f"{asked.label}: Kubernetes is in trouble: {said}",
                f"It asks to be left alone for {pause.total_seconds():g} s." if pause else NOT_DONE_HINT,
                retryable=True,
                retry_after=pause,
            )
    return TargetError(f"{asked.label}: Kubernetes refuses, status {code}: {said}", f"Check {spec.resource}.")


def _decode_status(content: bytes) -> _Status:
    try:
        return msgspec.json.decode(content, type=_Status)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _Status()


def _permission_hint(asked: Asked) -> str:
    spec = asked.spec
    return (
        f"Grant its account in namespace {asked.namespace}: "
        f'apiGroups: ["{spec.group}"], resources: ["{spec.resource}"], resourceNames: ["{spec.name}"], '
        'verbs: ["get", "update"].'
    )


def _missing(asked: Asked, status: _Status) -> TargetError:
    spec = asked.spec
    if status.details and status.details.name:
        hint = f"`kubectl -n {asked.namespace} get {spec.plural}` lists those that there are."
        return TargetError(
            f"{asked.label}: there is no {spec.kind} of that name in namespace {asked.namespace}", hint
        )
    return TargetError(
        f"{asked.label}: {spec.plural} of {spec.api_version} do not exist here, or cannot be scaled",
        "`kubectl api-resources` tells kinds, versions and plurals; a custom one needs a scale subresource.",
    )


def _passing(asked: Asked, what: str) -> TargetError:
    return TargetError(f"{asked.label}: {what}", NOT_DONE_HINT, retryable=True)


def _transport_words(error: httpx2.TransportError) -> str:
    return one_line(str(error)) or type(error).__name__
