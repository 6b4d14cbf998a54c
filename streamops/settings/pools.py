"""Pools of the configuration, judged together; ``pool_targets`` tells how theirs are reached."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, ValidationError, convert

from streamops.autoscaling.policy.config import ScalingConfig
from streamops.errors import SettingsError, known_hint
from streamops.settings.config import read_config
from streamops.settings.decoding import Problem, join_key
from streamops.settings.files import ConfigFile
from streamops.settings.pool_tables import BudgetTable, KubernetesTable, PoolTable


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


def load_pools(environ: Mapping[str, str], cwd: Path, context: str | None) -> PoolSettings:
    """The pools whose streams are in a context; no secret is read and no program run.

    Args:
        environ: The environment.
        cwd: The working directory.
        context: The context in use; none where a URL stands in for one.

    Raises:
        SettingsError: They make no sense together, or ask for what their file may not ask for.
    """
    config = read_config(environ, cwd)
    pools, budgets = _merge(config.files)
    for problem in find_problems(pools, budgets, config.contexts):
        raise SettingsError(problem.message, problem.hint)
    here = {pool.name: pool for pool in pools if pool.table.context in (None, context)}
    return PoolSettings(here, {name: table.workers for name, table in budgets.items()})


def pool_problems(files: tuple[ConfigFile, ...], contexts: Collection[str]) -> Iterator[Problem]:
    """What is wrong with the pools of some files together, beyond what each file's own problems tell.

    Args:
        files: The files, the strongest first.
        contexts: The contexts that there are.
    """
    pools, budgets = _merge(files)
    yield from find_problems(pools, budgets, contexts)


def find_problems(
    pools: Collection[ConfiguredPool], budgets: Mapping[str, BudgetTable], contexts: Collection[str]
) -> Iterator[Problem]:
    """Everything that is wrong with pools together."""
    for pool in pools:
        yield from _reference_problems(pool, budgets, contexts)
    yield from _twins(pools)
    yield from _budget_problems(pools, budgets)


def _merge(files: tuple[ConfigFile, ...]) -> tuple[tuple[ConfiguredPool, ...], dict[str, BudgetTable]]:
    """Pools and budgets of all files; of two with one name the stronger file's. Broken ones are told of elsewhere."""
    pools: dict[str, ConfiguredPool] = {}
    budgets: dict[str, BudgetTable] = {}
    for file in files:
        for name, stated in file.stated.get("pools", {}).items():
            try:
                pools.setdefault(name, ConfiguredPool(name, convert(stated, PoolTable), file.path))
            except ValidationError:
                continue
        for name, stated in file.stated.get("budgets", {}).items():
            try:
                budgets.setdefault(name, convert(stated, BudgetTable))
            except ValidationError:
                continue
    return tuple(pools.values()), budgets


def _reference_problems(
    pool: ConfiguredPool, budgets: Collection[str], contexts: Collection[str]
) -> Iterator[Problem]:
    for key, name, known in (
        ("budget", pool.table.budget, budgets),
        ("context", pool.table.context, contexts),
    ):
        if name is not None and name not in known:
            yield _problem(pool, key, f"no {key} named {name!r}", known_hint(name, known, f"{key}s"))


def _twins(pools: Collection[ConfiguredPool]) -> Iterator[Problem]:
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
    pools: Collection[ConfiguredPool], budgets: Mapping[str, BudgetTable]
) -> Iterator[Problem]:
    for name, budget in budgets.items():
        sharing = [pool for pool in pools if pool.table.budget == name]
        least = sum(pool.table.minimum for pool in sharing)
        if least > budget.workers:
            text = f"{budget.workers} workers, of which its pools have {least} at least"
            yield _budget_problem(sharing, name, text, "Raise it, or lower their minimum.")
        contexts = sorted({pool.table.context for pool in sharing if pool.table.context})
        if len(contexts) > 1:
            text = f"its pools are in several contexts: {', '.join(contexts)}"
            yield _budget_problem(
                sharing, name, text, "Nobody sees all of them to share it out: a budget a context."
            )


def _budget_problem(sharing: Sequence[ConfiguredPool], name: str, text: str, hint: str) -> Problem:
    return Problem(str(sharing[0].file), join_key("budgets", name), text, hint)


def _problem(pool: ConfiguredPool, key: str, text: str, hint: str) -> Problem:
    return Problem(str(pool.file), f"{pool.key}.{key}", text, hint)
