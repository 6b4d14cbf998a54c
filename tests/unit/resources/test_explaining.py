"""Whatever the console shows is explained: every finding, every basis of a lag, every column of its lists."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from streamops import resources
from streamops.model.lag import LagBasis
from streamops.model.observation import FindingCode
from streamops.monitor.rules import RULES, Rule
from streamops.operations.registry import OPERATIONS
from streamops.resources.groups import BASES, TIME_LAG
from streamops.resources.table import Column
from tests.support.tables import table

MEASURED = {"DRILL_COLUMNS", "SIMULATION_COLUMNS", "RETENTION_COLUMNS", "PLAN_COLUMNS", "OUTCOME_COLUMNS"}
"""Tables of commands that measure or act: no list of the console has them."""


def listed() -> Iterator[tuple[str, str]]:
    """The tables of all resources, by module and name."""
    for module in iter_modules(resources.__path__):
        names = vars(import_module(f"streamops.resources.{module.name}"))
        yield from (
            (module.name, name) for name in names if name.endswith("_COLUMNS") and name not in MEASURED
        )


def test_every_finding_has_one_rule() -> None:
    assert sorted(rule.code for rule in RULES) == sorted(FindingCode)


@table("rule", RULES)
def test_every_rule_explains_what_it_finds(rule: Rule) -> None:
    assert rule.means.endswith(".")
    assert rule.cause.endswith(".")
    assert rule.look
    assert rule.fixes
    for remedy in rule.fixes:
        assert remedy.words.endswith(".")
        assert not remedy.operation or remedy.operation in OPERATIONS


@table("basis", LagBasis)
def test_every_basis_of_a_lag_is_explained(basis: LagBasis) -> None:
    assert BASES[basis].endswith(".")
    assert "TIME" in TIME_LAG


@table(("module", "name"), listed())
def test_every_column_of_a_list_says_where_it_comes_from(module: str, name: str) -> None:
    table: tuple[Column[object], ...] = getattr(import_module(f"streamops.resources.{module}"), name)
    assert [column.key for column in table if not (column.help and column.source)] == []
