"""Pools of the configuration, judged together, and all that is needed to reach what runs their workers."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from streamops.autoscaling.policy.config import ScalingConfig
from streamops.errors import SettingsError, known_hint
from streamops.model.secret import Secret
from streamops.settings.connections import located
from streamops.settings.decoding import ConfigProblem, join_key
from streamops.settings.secrets import split_command
from streamops.settings.state import resolve_path
from streamops.settings.tables import KubernetesTable, PoolTable
from streamops.targets.specs import (
    SERVICE_ACCOUNT,
    CommandSpec,
    KubernetesSpec,
    LocalSpec,
    TargetSpec,
)


class ConfiguredPool(Struct, frozen=True):
    """A pool of a configuration file.

    Attributes:
        name: Its name.
        table: What is stated.
        file: The file that it stands in.
    """

    name: str
    table: PoolTable
    file: Path

    @property
    def scaling(self) -> ScalingConfig:
        """Its limits and objective."""
        return self.table.scaling()

    @property
    def where(self) -> str:
        """File and table, for errors."""
        return f"{self.file}: {self.key}"

    @property
    def key(self) -> str:
        """Its table."""
        return join_key("pools", self.name)


class PoolSettings(Struct, frozen=True):
    """The pools of a context.

    Attributes:
        pools: They by name.
        budgets: Workers that pools have together at most, by the name of the budget.
    """

    pools: dict[str, ConfiguredPool]
    budgets: dict[str, int]

    def find(self, name: str) -> ConfiguredPool:
        """The pool of that name; raises ``SettingsError`` where there is none."""
        if name in self.pools:
            return self.pools[name]
        hint = known_hint(name, self.pools, "pools")
        if not self.pools:
            hint = "Configure it under [pools.NAME]; `streamops config example` shows how."
        raise SettingsError(f"no pool named {name!r} is configured for this context", hint)


def find_problems(
    pools: Collection[ConfiguredPool], budgets: Mapping[str, int], contexts: Collection[str]
) -> Iterator[ConfigProblem]:
    """Everything that is wrong with pools together; budgets are workers by name."""
    for pool in pools:
        yield from _reference_problems(pool, budgets, contexts)
    yield from _twins(pools)
    yield from _budget_problems(pools, budgets)


def read_target(pool: ConfiguredPool, environ: Mapping[str, str]) -> TargetSpec:
    """The target of a pool.

    Raises:
        SettingsError: Its table makes no sense.
    """
    table = pool.table
    with located(pool.where):
        if table.kubernetes is not None:
            return _kubernetes(table.kubernetes, environ)
        if table.command is not None:
            command = table.command
            return CommandSpec(
                get=tuple(split_command(command.get)),
                set=tuple(split_command(command.set)),
                timeout=command.timeout,
                env={name: Secret(value) for name, value in command.env.items()},
            )
    return LocalSpec()


def _kubernetes(table: KubernetesTable, environ: Mapping[str, str]) -> KubernetesSpec:
    return KubernetesSpec(
        name=table.name,
        kind=table.kind,
        api_version=table.api_version,
        plural=table.plural or f"{table.kind.lower()}s",
        namespace=table.namespace or "",
        kubeconfig=_kubeconfig(table, environ),
        context=table.context or "",
        timeout=table.timeout,
    )


def _kubeconfig(table: KubernetesTable, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Where to look for the context, as ``kubectl`` does; nowhere in a pod, whose account says all."""
    if table.kubeconfig is not None:
        return (table.kubeconfig,)
    if table.context is None and environ.get("KUBERNETES_SERVICE_HOST") and Path(SERVICE_ACCOUNT).is_dir():
        return ()
    if named := [path for path in environ.get("KUBECONFIG", "").split(os.pathsep) if path]:
        return tuple(named)
    return (str(resolve_path("~/.kube/config", Path.cwd(), environ)),)


def _reference_problems(
    pool: ConfiguredPool, budgets: Collection[str], contexts: Collection[str]
) -> Iterator[ConfigProblem]:
    for key, name, known in (
        ("budget", pool.table.budget, budgets),
        ("context", pool.table.context, contexts),
    ):
        if name is not None and name not in known:
            yield _problem(pool, key, f"no {key} named {name!r}", known_hint(name, known, f"{key}s"))


def _twins(pools: Collection[ConfiguredPool]) -> Iterator[ConfigProblem]:
    """Pools that would count the same work, or set the same number."""
    groups: dict[object, list[ConfiguredPool]] = {}
    objects: dict[object, ConfiguredPool] = {}
    for pool in pools:
        table = pool.table
        before = groups.setdefault((table.stream, table.group), [])
        for other in before:
            if None in (contexts := {table.context, other.table.context}) or len(contexts) == 1:
                text = f"{other.key} has the same stream and group: both would order workers for the same entries"
                yield _problem(pool, "group", text, "Keep one of them.")
        before.append(pool)
        if table.kubernetes is not None:
            named = _identity(table.kubernetes)
            if (other := objects.setdefault(named, pool)) is not pool:
                text = f"{other.key} has the same object: each would undo what the other does"
                yield _problem(pool, "kubernetes", text, "Give each an object of its own.")


def _identity(table: KubernetesTable) -> object:
    return (table.kubeconfig, table.context, table.namespace, table.api_version, table.kind, table.name)


def _budget_problems(
    pools: Collection[ConfiguredPool], budgets: Mapping[str, int]
) -> Iterator[ConfigProblem]:
    for name, workers in budgets.items():
        sharing = [pool for pool in pools if pool.table.budget == name]
        least = sum(pool.table.minimum for pool in sharing)
        if least > workers:
            text = f"{workers} workers, of which its pools have {least} at least"
            yield _budget_problem(sharing, name, text, "Raise it, or lower their minimum.")
        contexts = sorted({pool.table.context for pool in sharing if pool.table.context})
        if len(contexts) > 1:
            text = f"its pools are in several contexts: {', '.join(contexts)}"
            yield _budget_problem(
                sharing, name, text, "No controller sees all contexts: set one budget per context."
            )


def _budget_problem(sharing: Sequence[ConfiguredPool], name: str, text: str, hint: str) -> ConfigProblem:
    return ConfigProblem(str(sharing[0].file), join_key("budgets", name), text, hint)


def _problem(pool: ConfiguredPool, key: str, text: str, hint: str) -> ConfigProblem:
    return ConfigProblem(str(pool.file), f"{pool.key}.{key}", text, hint)
