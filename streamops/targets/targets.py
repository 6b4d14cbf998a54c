"""The targets of pools, each made when it is first asked for and kept until the console is closed."""

from collections.abc import Callable
from typing import Final

from streamops.errors import TargetError
from streamops.targets.local import LocalTarget
from streamops.targets.specs import CommandSpec, KubernetesSpec, TargetSpec
from streamops.targets.target import Target
from streamops.wire.server import Server

INSTALL: Final = "Install it: pip install 'streamops[kubernetes]'"
FindSpec = Callable[[str], TargetSpec | None]
"""What the configuration says of a pool, None if it names no such pool; may raise ``SettingsError``.

It may read secrets and run programs.
"""


def nothing_configured(_pool: str) -> None:
    """The configuration names no pool."""


class Targets:
    """Who runs the workers of each pool.

    Args:
        find: What the configuration says of a pool.
        by: Who asks, for the pool's record.
    """

    def __init__(self, find: FindSpec = nothing_configured, by: str = "") -> None:
        self._find = find
        self._by = by
        self._known: dict[str, Target] = {}

    def of(self, server: Server, pool: str) -> Target:
        """The target of a pool: supervisors that listen to the server, unless the configuration names another.

        Raises:
            SettingsError: What is configured makes no sense.
            TargetError: It needs a library that is not installed, or a file that is not there.
        """
        if pool not in self._known:
            self._known[pool] = self._make(server, pool, self._find(pool))
        return self._known[pool]

    def _make(self, server: Server, pool: str, spec: TargetSpec | None) -> Target:
        """Import only what is used: lightkube is heavy, and an extra."""
        match spec:
            case KubernetesSpec():
                try:
                    from streamops.targets.kubernetes import KubernetesTarget  # noqa: PLC0415
                except ImportError:
                    raise TargetError(f"pool {pool}: Kubernetes takes lightkube", INSTALL) from None
                return KubernetesTarget(spec)
            case CommandSpec():
                from streamops.targets.command import CommandTarget  # noqa: PLC0415

                return CommandTarget(pool, spec)
            case _:
                return LocalTarget(server, pool, self._by)

    def has(self, pool: str) -> bool:
        """Whether the configuration names a pool; raises ``SettingsError`` if what it says makes no sense."""
        return self._find(pool) is not None

    def use(self, pool: str, target: Target) -> None:
        """Take this for a pool's target, whatever is configured."""
        self._known[pool] = target

    async def close(self) -> None:
        """Let go of all connections."""
        targets, self._known = self._known, {}
        for target in targets.values():
            await target.close()
