"""Panels that draw: lines, bars, buckets and spans of time."""

from collections.abc import Mapping
from typing import Final

from grafana_foundation_sdk.models import bargauge, common, dashboard, heatmap, statetimeline, timeseries

from dashboards.boards.colours import NEUTRAL, OK, Steps
from dashboards.boards.fields import fixed, override, thresholds
from dashboards.boards.panels import LAST, bare_panel
from dashboards.boards.queries import Query, bucketed, instant, ranged

TOOLTIP: Final = common.VizTooltipOptions(
    mode=common.TooltipDisplayMode.MULTI, sort=common.SortOrder.DESCENDING, hide_zeros=False
)
FADED: Final = 12
SOLID: Final = 60


def graph_panel(
    title: str,
    description: str,
    *queries: Query,
    unit: str,
    steps: Steps = (),
    colours: Mapping[str, str] | None = None,
    bounds: tuple[str, ...] = (),
    stacked: bool = False,
    most: float | None = None,
    none: str = "no data",
    links: tuple[dashboard.DashboardLink, ...] = (),
) -> dashboard.Panel:
    """Lines over time, with a table of their last and highest values below.

    Args:
        title: Its name.
        description: What it is and what to do about it.
        queries: What is asked.
        unit: Grafana's name of the unit.
        steps: Where lines of warning are drawn.
        colours: Fixed colours of series, by what they are called.
        bounds: Series that are bounds rather than measurements, by what they are called or a /pattern/ of that: drawn
            dashed, without a filling.
        stacked: Whether the series are parts of a whole.
        most: The axis's upper end, for shares.
        none: What it says where there is nothing.
        links: Where a click on a line leads.
    """
    style = timeseries.FieldConfig(
        draw_style=common.GraphDrawStyle.LINE,
        line_interpolation=common.LineInterpolation.LINEAR,
        line_width=1,
        fill_opacity=SOLID if stacked else FADED,
        gradient_mode=common.GraphGradientMode.NONE,
        show_points=common.VisibilityMode.NEVER,
        span_nulls=False,
        axis_soft_min=0,
        stacking=common.StackingConfig(
            mode=common.StackingMode.NORMAL if stacked else common.StackingMode.NONE, group="A"
        ),
        thresholds_style=common.GraphThresholdsStyleConfig(
            mode=common.GraphThresholdsStyleMode.DASHED if steps else common.GraphThresholdsStyleMode.OFF
        ),
    )
    return bare_panel(
        "timeseries",
        title,
        description,
        targets=ranged(queries),
        options=timeseries.Options(legend=_legend(), tooltip=TOOLTIP),
        fields=dashboard.FieldConfig(
            unit=unit,
            min_val=0,
            max_val=most,
            no_value=none,
            color=dashboard.FieldColor(mode=dashboard.FieldColorModeId.PALETTE_CLASSIC_BY_NAME),
            thresholds=thresholds(steps or ((None, OK),)),
            custom=style,
            links=list(links) or None,
        ),
        overrides=[*fixed(colours or {}), *(_bound(name) for name in bounds)],
    )


def bars_panel(
    title: str,
    description: str,
    query: Query,
    *,
    unit: str,
    steps: Steps = NEUTRAL,
    colours: Mapping[str, str] | None = None,
    none: str = "none",
    links: tuple[dashboard.DashboardLink, ...] = (),
) -> dashboard.Panel:
    """One bar a series, as they are now."""
    return bare_panel(
        "bargauge",
        title,
        description,
        targets=instant((query,)),
        options=bargauge.Options(
            display_mode=common.BarGaugeDisplayMode.BASIC,
            orientation=common.VizOrientation.HORIZONTAL,
            name_placement=common.BarGaugeNamePlacement.LEFT,
            reduce_options=LAST,
            legend=common.VizLegendOptions(show_legend=False),
        ),
        fields=dashboard.FieldConfig(
            unit=unit,
            min_val=0,
            no_value=none,
            color=dashboard.FieldColor(mode=dashboard.FieldColorModeId.THRESHOLDS),
            thresholds=thresholds(steps),
            links=list(links) or None,
        ),
        overrides=fixed(colours or {}),
    )


def heat_panel(title: str, description: str, query: Query) -> dashboard.Panel:
    """How many fell into which bucket of seconds, over time."""
    scheme = heatmap.HeatmapColorOptions(
        mode=heatmap.HeatmapColorMode.SCHEME,
        scheme="Oranges",
        scale=heatmap.HeatmapColorScale.EXPONENTIAL,
        exponent=0.5,
        steps=64,
        fill="dark-orange",
    )
    return bare_panel(
        "heatmap",
        title,
        description,
        targets=bucketed(query),
        options=heatmap.Options(
            calculate=False,
            color=scheme,
            cell_gap=1,
            cell_values=heatmap.CellValues(unit="ops"),
            y_axis=heatmap.YAxisConfig(unit="s", axis_placement=common.AxisPlacement.LEFT),
            legend=heatmap.HeatmapLegend(show=True),
            tooltip=heatmap.HeatmapTooltip(mode=common.TooltipDisplayMode.SINGLE, y_histogram=True),
        ),
        fields=dashboard.FieldConfig(unit="s", no_value="no data", custom=heatmap.FieldConfig()),
    )


def timeline_panel(
    title: str, description: str, query: Query, *, endings: Mapping[str, str], none: str = "none"
) -> dashboard.Panel:
    """One line a series, with a bar for as long as its value is 1.

    Args:
        title: Its name.
        description: What it is and what to do about it.
        query: What is asked; what its series are called ends with a colon, a blank and what is so.
        endings: The colours, by what is so.
        none: What it says where there is nothing.
    """
    return bare_panel(
        "state-timeline",
        title,
        description,
        targets=ranged((query,)),
        options=statetimeline.Options(
            show_value=common.VisibilityMode.NEVER,
            row_height=0.8,
            merge_values=True,
            legend=common.VizLegendOptions(show_legend=False),
            tooltip=TOOLTIP,
        ),
        fields=dashboard.FieldConfig(
            unit="none",
            no_value=none,
            color=dashboard.FieldColor(mode=dashboard.FieldColorModeId.THRESHOLDS),
            thresholds=thresholds(NEUTRAL),
            custom=statetimeline.FieldConfig(line_width=0, fill_opacity=80, span_nulls=False),
        ),
        overrides=fixed(endings, "/: %s$/"),
    )


def _legend() -> common.VizLegendOptions:
    return common.VizLegendOptions(
        show_legend=True,
        display_mode=common.LegendDisplayMode.TABLE,
        placement=common.LegendPlacement.BOTTOM,
        calcs=["lastNotNull", "max"],
        sort_by="Last *",
        sort_desc=True,
    )


def _bound(name: str) -> dashboard.DashboardFieldConfigSourceOverrides:
    return override(
        name,
        "byRegexp" if name.startswith("/") else "byName",
        custom__fillOpacity=0,
        custom__lineStyle=common.LineStyle(fill="dash", dash=[10, 10]),
    )
