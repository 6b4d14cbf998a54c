"""Whatever the console shows is explained: every finding, every basis of a lag, every column of its lists."""

from streamops.model.lag import LagBasis
from streamops.model.observation import FindingCode
from streamops.operations.registry import OPERATIONS
from streamops.present import columns
from streamops.present.explaining import BASES, FINDINGS, TIME_LAG
from streamops.present.table import Column
from tests.support.tables import table

MEASURED = {"BENCH_COLUMNS", "BENCH_DETAIL_COLUMNS", "DRILL_COLUMNS", "PLAN_COLUMNS", "OUTCOME_COLUMNS"}
"""Tables of commands that measure or act: no list of the console has them."""

LISTED = [name for name in columns.__all__ if name not in MEASURED]


@table("code", FindingCode)
def test_every_finding_is_explained(code: FindingCode) -> None:
    told = FINDINGS[code]
    assert told.means.endswith(".")
    assert told.comes.endswith(".")
    assert told.look
    assert told.mend
    for remedy in told.mend:
        assert remedy.words.endswith(".")
        assert not remedy.operation or remedy.operation in OPERATIONS


@table("basis", LagBasis)
def test_every_basis_of_a_lag_is_explained(basis: LagBasis) -> None:
    assert BASES[basis].endswith(".")
    assert "TIME" in TIME_LAG


@table("name", LISTED)
def test_every_column_of_a_list_says_where_it_comes_from(name: str) -> None:
    table: tuple[Column[object], ...] = getattr(columns, name)
    assert [column.key for column in table if not (column.help and column.source)] == []
