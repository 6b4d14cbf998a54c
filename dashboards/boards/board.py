"""A board: lines of panels under headings, with its variables, links and annotations, as JSON."""

import json
from typing import Final

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard, prometheus
from msgspec import Struct

from dashboards.boards import links, variables
from dashboards.boards.queries import DATASOURCE
from dashboards.rules import COMPONENT

COLUMNS: Final = 24
HEADING_HEIGHT: Final = 1
OURS: Final = f'component="{COMPONENT}"'
FIRING: Final = f'ALERTS{{alertstate="firing", {OURS}}}'
"""What our own rules say; it cannot be narrowed by job, because some are about what is missing."""


def firing(severity: str) -> str:
    """Those of a severity."""
    return f'ALERTS{{alertstate="firing", severity="{severity}", {OURS}}}'


class Line(Struct, frozen=True):
    """Panels side by side, of one height.

    Attributes:
        height: In rows of Grafana's grid, each about 38 pixels.
        panels: From the left, each with its width; the widths fill the grid.
    """

    height: int
    panels: tuple[tuple[int, dashboard.Panel], ...]


class Section(Struct, frozen=True):
    """Lines under a heading.

    Attributes:
        title: The heading.
        lines: From the top.
    """

    title: str
    lines: tuple[Line, ...]


class Board(Struct, frozen=True):
    """One dashboard.

    Attributes:
        uid: What links call it; never changes.
        title: Its name.
        description: What it answers.
        variables: Those at the top, after the data source.
        sections: From the top.
        hours: How long back it shows.
    """

    uid: str
    title: str
    description: str
    variables: tuple[dashboard.VariableModel, ...]
    sections: tuple[Section, ...]
    hours: int = 1


def line(height: int, *panels: tuple[int, dashboard.Panel]) -> Line:
    """Panels side by side, each after its width."""
    return Line(height, panels)


def evenly(height: int, *panels: dashboard.Panel) -> Line:
    """Panels side by side, equally wide."""
    return Line(height, tuple((COLUMNS // len(panels), panel) for panel in panels))


def render(board: Board) -> str:
    """The board as the JSON that Grafana imports."""
    document = json.dumps(_model(board), cls=JSONEncoder, indent=2, ensure_ascii=False)
    return f"{document}\n"


def _model(board: Board) -> dashboard.Dashboard:
    return dashboard.Dashboard(
        uid=board.uid,
        title=f"streamops / {board.title}",
        description=board.description,
        tags=[links.TAG, "redis", "streams"],
        # Provisioned boards cannot be saved anyway; changes belong into the builders.
        editable=False,
        graph_tooltip=dashboard.DashboardCursorSync.CROSSHAIR,
        time=dashboard.DashboardDashboardTime(from_val=f"now-{board.hours}h", to="now"),
        timepicker=dashboard.TimePickerConfig(refresh_intervals=["10s", "30s", "1m", "5m", "15m"]),
        refresh="30s",
        panels=_placed(board.sections),
        templating=dashboard.DashboardDashboardTemplating(
            list_val=[variables.datasource(), *board.variables]
        ),
        annotations=dashboard.AnnotationContainer(list_val=[_own_annotations(), _alerts()]),
        links=[links.others()],
    )


def _placed(sections: tuple[Section, ...]) -> list[dashboard.Panel | dashboard.RowPanel]:
    panels: list[dashboard.Panel | dashboard.RowPanel] = []
    y = 0
    for section in sections:
        heading = dashboard.GridPos(h=HEADING_HEIGHT, w=COLUMNS, x=0, y=y)
        panels.append(dashboard.RowPanel(title=section.title, grid_pos=heading, id_val=len(panels) + 1))
        y += HEADING_HEIGHT
        for row in section.lines:
            x = 0
            for width, panel in row.panels:
                panel.id_val = len(panels) + 1
                panel.grid_pos = dashboard.GridPos(h=row.height, w=width, x=x, y=y)
                panels.append(panel)
                x += width
            y += row.height
    return panels


def _own_annotations() -> dashboard.AnnotationQuery:
    grafana = dashboard.DataSourceRef(type_val="grafana", uid="-- Grafana --")
    return _shown(
        dashboard.AnnotationQuery(
            name="Annotations",
            datasource=grafana,
            enable=True,
            hide=True,
            icon_color="rgba(0, 211, 255, 1)",
            type_val="dashboard",
            built_in=1,
        )
    )


def _alerts() -> dashboard.AnnotationQuery:
    asked = prometheus.Dataquery(
        expr=FIRING,
        ref_id="Alerts",
        range_val=True,
        instant=False,
        datasource=DATASOURCE,
        legend_format="{{alertname}}",
    )
    return _shown(
        dashboard.AnnotationQuery(
            name="Firing alerts",
            datasource=DATASOURCE,
            enable=True,
            icon_color="red",
            expr=FIRING,
            target=asked,
            step="60s",
            title_format="{{alertname}}",
            text_format="{{severity}} {{stream}} {{group}} {{handler}} {{pool}}",
            tag_keys="severity,stream,group",
        )
    )


def _shown(annotation: dashboard.AnnotationQuery) -> dashboard.AnnotationQuery:
    # The SDK puts its toggle into a menu, which newer Grafanas fold away.
    annotation.placement = None  # type: ignore[assignment]
    return annotation
