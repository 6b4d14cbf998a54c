"""Targets of configured pools: all that is needed to reach them, secrets read."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from streamops.errors import SettingsError
from streamops.model.secret import Secret
from streamops.model.topics import SHORTEST_SECRET, headers_problem
from streamops.settings.connections import located
from streamops.settings.passwords import read_password_file, run_password_command, split_command
from streamops.settings.places import resolve_path
from streamops.settings.pool_tables import KubernetesTable, WebhookTable
from streamops.settings.pools import ConfiguredPool, load_pools
from streamops.targets.specs import (
    SERVICE_ACCOUNT,
    CommandSpec,
    KubernetesSpec,
    LocalSpec,
    TargetSpec,
    WebhookSpec,
)


def find_target(
    pool: str, context: str | None, environ: Mapping[str, str], directory: Path
) -> TargetSpec | None:
    """Who runs the workers of a pool, as it is configured for a context; none where it is not.

    Raises:
        SettingsError: What is configured makes no sense, or a secret cannot be read.
    """
    pools = load_pools(environ, directory, context).pools
    return read_target(pools[pool], environ) if pool in pools else None


def read_target(pool: ConfiguredPool, environ: Mapping[str, str]) -> TargetSpec:
    """The target of a pool; reads its secrets, and runs the programs that print them.

    Raises:
        SettingsError: One cannot be read, or makes no sense.
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
        if table.webhook is not None:
            with located("webhook"):
                return _webhook(table.webhook, pool, environ)
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


def _webhook(table: WebhookTable, pool: ConfiguredPool, environ: Mapping[str, str]) -> WebhookSpec:
    def found(written: str) -> Path:
        return resolve_path(written, pool.file.parent, environ)

    headers = dict(table.headers)
    for name, path in table.header_files.items():
        with located(f"header_files.{name}"):
            headers[name] = read_password_file(found(path)).reveal()
    if problem := headers_problem(tuple(headers.items())):
        raise SettingsError(f"headers: {problem}", "Correct what the file holds.")
    return WebhookSpec(
        url=table.url,
        secret=_secret(table, found),
        headers={name: Secret(value) for name, value in headers.items()},
        ca=str(found(table.ca)) if table.ca is not None else "",
        timeout=table.timeout,
    )


def _secret(table: WebhookTable, found: Callable[[str], Path]) -> Secret | None:
    secret = None
    if table.secret_file is not None:
        with located("secret_file"):
            secret = read_password_file(found(table.secret_file))
    elif table.secret_command is not None:
        with located("secret_command"):
            secret = run_password_command(table.secret_command)
    if secret is not None and len(secret.reveal()) < SHORTEST_SECRET:
        raise SettingsError(
            f"the secret is shorter than {SHORTEST_SECRET} characters", "`openssl rand -hex 32` makes one."
        )
    return secret
