"""Workers that Kubernetes runs: the scale subresource of a Deployment, StatefulSet, ReplicaSet or custom resource."""

from typing import TYPE_CHECKING, Final

from streamops.errors import TargetError
from streamops.model.pools import PoolSize
from streamops.targets.specs import KubernetesSpec
from streamops.targets.target import MOST_WORKERS, require_done, require_expected

if TYPE_CHECKING:
    from streamops.targets.kubernetes_client import Scale, ScaleClient

INSTALL: Final = "pip install 'streamops[kubernetes]'"
LIAR_HINT: Final = "See what `kubectl get --raw` answers for it: this is not as Kubernetes does."


class KubernetesTarget:
    """One object with replicas. Nothing is ever asked twice by itself: the next reading is the next try.

    Its ``ready`` is ``status.replicas``: pods that exist, those that are starting or ending included; heartbeats tell
    which of them work. Its ``version`` is the object's ``resourceVersion``, which every pod that becomes ready
    changes too. So a write does not hold on to the one that was read: it reads anew, insists on the number that was
    decided on, and writes under the version of that moment.
    """

    kind: str = "kubernetes"

    def __init__(self, spec: KubernetesSpec) -> None:
        place = f"{spec.namespace}/" if spec.namespace else ""
        self.label = f"{spec.kind.lower()} {place}{spec.name}"
        self._spec = spec
        self._client: ScaleClient | None = None

    async def read(self) -> PoolSize:
        """As ``Target.read``."""
        client = await self._connected()
        return self._size(await client.get())

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:  # noqa: ARG002
        """As ``Target.resize``; Kubernetes keeps no reason, and the version makes a repetition harmless."""
        client = await self._connected()
        scale = await client.get()
        found = self._size(scale)
        require_expected(self.label, found, expected)
        if not found.version:
            raise TargetError(
                f"{self.label}: tells no resourceVersion, without which a change could undo another's",
                LIAR_HINT,
            )
        require_done(self.label, workers, self._size(await client.put(scale, workers)))

    async def close(self) -> None:
        """As ``Target.close``."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _connected(self) -> "ScaleClient":
        if self._client is None:
            try:
                from streamops.targets.kubernetes_client import ScaleClient  # noqa: PLC0415 - an extra
            except ImportError:
                raise TargetError(
                    f"{self.label}: Kubernetes takes lightkube", f"Install it: {INSTALL}"
                ) from None
            self._client = await ScaleClient.open(self._spec)
        return self._client

    def _size(self, scale: "Scale") -> PoolSize:
        """What the subresource says, if it is one and makes sense; zero replicas are left out by Kubernetes."""
        named = scale.metadata.name if scale.metadata else None
        if scale.kind != "Scale" or scale.spec is None or scale.metadata is None or named != self._spec.name:
            raise TargetError(f"{self.label}: what answers is not its scale subresource", LIAR_HINT)
        ordered, ready = scale.spec.replicas or 0, scale.status.replicas if scale.status else None
        for number in (ordered, ready or 0):
            if not 0 <= number <= MOST_WORKERS:
                raise TargetError(f"{self.label}: says that it has {number} workers", LIAR_HINT)
        return PoolSize(ordered=ordered, ready=ready, version=scale.metadata.resourceVersion or "")
