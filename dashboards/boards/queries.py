"""What a panel asks Prometheus."""

from collections.abc import Iterator
from string import ascii_uppercase
from typing import Final

from grafana_foundation_sdk.models import common, prometheus
from msgspec import Struct

DATASOURCE: Final = common.DataSourceRef(type_val="prometheus", uid="${datasource}")


class Query(Struct, frozen=True):
    """One expression.

    Attributes:
        expr: The PromQL.
        legend: What its series are called: words, and labels in double braces.
    """

    expr: str
    legend: str


def ranged(queries: tuple[Query, ...]) -> list[prometheus.Dataquery]:
    """Asked over the time that the board shows."""
    return [_target(query, ref, instant=False) for query, ref in _referred(queries)]


def instant(queries: tuple[Query, ...]) -> list[prometheus.Dataquery]:
    """Asked for the end of that time alone."""
    return [_target(query, ref, instant=True) for query, ref in _referred(queries)]


def tabled(queries: tuple[Query, ...]) -> list[prometheus.Dataquery]:
    """The same, as a table with a column a label."""
    return [
        _target(query, ref, instant=True, form=prometheus.PromQueryFormat.TABLE)
        for query, ref in _referred(queries)
    ]


def bucketed(query: Query) -> list[prometheus.Dataquery]:
    """A histogram's buckets over time."""
    return [_target(query, "A", instant=False, form=prometheus.PromQueryFormat.HEATMAP)]


def _referred(queries: tuple[Query, ...]) -> Iterator[tuple[Query, str]]:
    return zip(queries, ascii_uppercase[: len(queries)], strict=True)


def _target(
    query: Query,
    ref: str,
    *,
    instant: bool,
    form: prometheus.PromQueryFormat = prometheus.PromQueryFormat.TIME_SERIES,
) -> prometheus.Dataquery:
    return prometheus.Dataquery(
        expr=query.expr,
        instant=instant,
        range_val=not instant,
        editor_mode=prometheus.QueryEditorMode.CODE,
        format_val=form,
        legend_format=query.legend,
        ref_id=ref,
        datasource=DATASOURCE,
    )
