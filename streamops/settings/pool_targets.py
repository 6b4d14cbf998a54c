"""Targets of configured pools: all that is needed to reach them."""

import os
from collections.abc import Mapping
from pathlib import Path

from streamops.model.secret import Secret
from streamops.settings.connections import located
from streamops.settings.passwords import split_command
from streamops.settings.places import resolve_path
from streamops.settings.pool_tables import KubernetesTable
from streamops.settings.pools import ConfiguredPool, load_pools
from streamops.targets.specs import (
    SERVICE_ACCOUNT,
    CommandSpec,
    KubernetesSpec,
    LocalSpec,
    TargetSpec,
)


def find_target(
    pool: str, context: str | None, environ: Mapping[str, str], directory: Path
) -> TargetSpec | None:
    """Who runs the workers of a pool, as it is configured for a context; none where it is not.

    Raises:
        SettingsError: What is configured makes no sense.
    """
    pools = load_pools(environ, directory, context).pools
    return read_target(pools[pool], environ) if pool in pools else None


def read_target(pool: ConfiguredPool, environ: Mapping[str, str]) -> TargetSpec:
    """The target of a pool.

    Raises:
        SettingsError: Its table makes no sense.
    """
    table = pool.table
    with located(pool.where):
        if table.kubernetes is not None:
            return _kubernetes(table.kubernetes, pool, environ)
        if table.command is not None:
            command = table.command
            return CommandSpec(
                get=tuple(split_command(command.get)),
                set=tuple(split_command(command.set)),
                timeout=command.timeout,
                env={name: Secret(value) for name, value in command.env.items()},
            )
    return LocalSpec()


def _kubernetes(table: KubernetesTable, pool: ConfiguredPool, environ: Mapping[str, str]) -> KubernetesSpec:
    return KubernetesSpec(
        name=table.name,
        kind=table.kind,
        api_version=table.api_version,
        plural=table.plural or f"{table.kind.lower()}s",
        namespace=table.namespace or "",
        kubeconfig=_kubeconfig(table, pool, environ),
        context=table.context or "",
        timeout=table.timeout,
    )


def _kubeconfig(table: KubernetesTable, pool: ConfiguredPool, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Where to look for the context, as ``kubectl`` does; nowhere in a pod, whose account says all."""
    if table.kubeconfig is not None:
        return (str(resolve_path(table.kubeconfig, pool.file.parent, environ)),)
    if table.context is None and environ.get("KUBERNETES_SERVICE_HOST") and Path(SERVICE_ACCOUNT).is_dir():
        return ()
    if named := [path for path in environ.get("KUBECONFIG", "").split(os.pathsep) if path]:
        return tuple(named)
    return (str(resolve_path("~/.kube/config", Path.cwd(), environ)),)
