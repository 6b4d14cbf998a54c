"""Which target a pool has, and all that is needed to reach it, secrets included."""

from datetime import timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct

from streamops.model.secret import Secret

SERVICE_ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
"""Where Kubernetes mounts the account of a pod."""

DEFAULT_TIMEOUT: Final = timedelta(seconds=10)
COMMAND_TIMEOUT: Final = timedelta(seconds=30)


class TargetKind(StrEnum):
    """Who runs the workers of a pool."""

    LOCAL = "local"
    KUBERNETES = "kubernetes"
    COMMAND = "command"


class LocalSpec(Struct, frozen=True, kw_only=True, tag="local"):
    """Processes of ``streamops run --workers auto``, told through Redis."""


class KubernetesSpec(Struct, frozen=True, kw_only=True, tag="kubernetes"):
    """The scale subresource of an object in Kubernetes.

    Attributes:
        name: The object's name.
        kind: Its kind.
        api_version: Group and version of that kind.
        plural: How paths and permissions name it.
        namespace: Its namespace; empty for the one of the context, or of the pod.
        kubeconfig: Files to look for the context in, the first that has it; none for the account of the pod.
        context: The context; empty for a file's current one.
        account: Where the account of the pod is mounted.
        timeout: The longest wait for an answer.
    """

    name: str
    kind: str = "Deployment"
    api_version: str = "apps/v1"
    plural: str = "deployments"
    namespace: str = ""
    kubeconfig: tuple[str, ...] = ()
    context: str = ""
    account: str = SERVICE_ACCOUNT
    timeout: timedelta = DEFAULT_TIMEOUT

    @property
    def group(self) -> str:
        """The API group; empty for the core."""
        return self.api_version.rpartition("/")[0]

    @property
    def resource(self) -> str:
        """What permissions call it: ``deployments/scale``."""
        return f"{self.plural}/scale"


class CommandSpec(Struct, frozen=True, kw_only=True, tag="command"):
    """Two programs, each with its arguments; run without a shell.

    Attributes:
        get: Prints how many workers there are.
        set: Asks for another number, which ``{desired}`` stands for.
        timeout: The longest that either may take.
        env: Variables beside those of this process; their values are not shown.
    """

    get: tuple[str, ...]
    set: tuple[str, ...]
    timeout: timedelta = COMMAND_TIMEOUT
    env: dict[str, Secret] = {}


TargetSpec = LocalSpec | KubernetesSpec | CommandSpec
