"""What all panels have, and those that are a number or words."""

from typing import Final

from grafana_foundation_sdk.models import (
    common,
    dashboard,
    prometheus,
    stat,
    text,
)

from dashboards.boards.colours import NEUTRAL, Steps
from dashboards.boards.fields import Words, mappings, thresholds
from dashboards.boards.queries import DATASOURCE, Query, instant, ranged

LAST: Final = common.ReduceDataOptions(calcs=["lastNotNull"], values=False, fields="")


def stat_panel(
    title: str,
    description: str,
    query: Query,
    *,
    unit: str,
    steps: Steps = NEUTRAL,
    none: str = "none",
    words: Words | None = None,
    decimals: int | None = None,
    trend: bool = False,
    links: tuple[dashboard.DashboardLink, ...] = (),
) -> dashboard.Panel:
    """One number, coloured by what it means.

    Args:
        title: Its name.
        description: What it is and what to do about it.
        query: What is asked.
        unit: Grafana's name of the unit.
        steps: The colour from a value on.
        none: What it says where there is no value.
        words: Words and their colours, instead of numbers.
        decimals: How many decimals; as many as are sensible where none is given.
        trend: Whether its course is drawn behind it.
        links: Where a click leads.
    """
    graph = common.BigValueGraphMode.AREA if trend else common.BigValueGraphMode.NONE
    plain = trend or (steps is NEUTRAL and not words)
    coloured = common.BigValueColorMode.VALUE if plain else common.BigValueColorMode.BACKGROUND
    return bare_panel(
        "stat",
        title,
        description,
        targets=ranged((query,)) if trend else instant((query,)),
        options=stat.Options(graph_mode=graph, color_mode=coloured, reduce_options=LAST),
        fields=dashboard.FieldConfig(
            unit=unit,
            decimals=decimals,
            no_value=none,
            color=dashboard.FieldColor(mode=dashboard.FieldColorModeId.THRESHOLDS),
            thresholds=thresholds(steps),
            mappings=mappings(words or {}),
            links=list(links) or None,
        ),
    )


def words_panel(title: str, description: str, content: str) -> dashboard.Panel:
    """Some lines of Markdown."""
    panel = dashboard.Panel(
        type_val="text",
        title=title,
        description=description,
        options=text.Options(mode=text.TextMode.MARKDOWN, content=content),
    )
    panel.repeat_direction = None
    return panel


def bare_panel(
    kind: str,
    title: str,
    description: str,
    *,
    targets: list[prometheus.Dataquery],
    options: object,
    fields: dashboard.FieldConfig,
    overrides: list[dashboard.DashboardFieldConfigSourceOverrides] | None = None,
    transformations: list[dashboard.DataTransformerConfig] | None = None,
) -> dashboard.Panel:
    """A panel of a kind that has every option of its own."""
    panel = dashboard.Panel(
        type_val=kind,
        title=title,
        description=description,
        datasource=DATASOURCE,
        targets=list(targets),
        options=options,
        transformations=transformations,
        field_config=dashboard.FieldConfigSource(defaults=fields, overrides=overrides or []),
    )
    # Means nothing for a panel that is not repeated.
    panel.repeat_direction = None
    return panel
