"""The targets of pools, each made when it is first asked for and kept until the console is closed."""

from collections.abc import Callable

from streamops.targets.build import target_of
from streamops.targets.local import LocalTarget
from streamops.targets.specs import LocalSpec, TargetSpec
from streamops.targets.target import Target
from streamops.wire.server import Server

FindSpec = Callable[[str], TargetSpec]
"""What the configuration says of a pool; may read secrets and run programs, and raise ``SettingsError``."""


def anything_local(_pool: str) -> TargetSpec:
    """Where nothing is configured: supervisors that listen to the server."""
    return LocalSpec()


class Targets:
    """Who runs the workers of each pool.

    Args:
        find: What the configuration says of a pool.
        by: Who asks, for whoever looks.
    """

    def __init__(self, find: FindSpec = anything_local, by: str = "") -> None:
        self._find = find
        self._by = by
        self._known: dict[str, Target] = {}

    def of(self, server: Server, pool: str) -> Target:
        """The target of a pool.

        Raises:
            SettingsError: What is configured makes no sense.
            TargetError: It needs a library that is not installed, or a file that is not there.
        """
        if pool not in self._known:
            spec = self._find(pool)
            self._known[pool] = target_of(pool, spec, lambda: LocalTarget(server, pool, self._by))
        return self._known[pool]

    def use(self, pool: str, target: Target) -> None:
        """Take this for a pool's target, whatever is configured."""
        self._known[pool] = target

    async def close(self) -> None:
        """Let go of all connections."""
        targets, self._known = self._known, {}
        for target in targets.values():
            await target.close()
