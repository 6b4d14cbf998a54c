"""From what is configured to what can be asked. Only what is used is imported: lightkube is heavy."""

from collections.abc import Callable

from streamops.targets.specs import CommandSpec, KubernetesSpec, LocalSpec, TargetSpec
from streamops.targets.target import Target


def target_of(pool: str, spec: TargetSpec, local: Callable[[], Target]) -> Target:
    """The target of a pool.

    Args:
        pool: The pool's name.
        spec: Which target it has.
        local: Makes the target of processes on this machine, which is reached through Redis and not by itself.
    """
    match spec:
        case LocalSpec():
            return local()
        case KubernetesSpec():
            from streamops.targets.kubernetes import KubernetesTarget  # noqa: PLC0415

            return KubernetesTarget(spec)
        case CommandSpec():
            from streamops.targets.command import CommandTarget  # noqa: PLC0415

            return CommandTarget(pool, spec)
