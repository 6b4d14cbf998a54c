"""Ways from one board to another, with the variables and the time taken along."""

from typing import Final

from grafana_foundation_sdk.models import dashboard

TAG: Final = "streamops"

OVERVIEW: Final = "streamops-overview"
STREAM: Final = "streamops-stream"
WORKERS: Final = "streamops-workers"
LETTERS: Final = "streamops-dead-letters"
SCALING: Final = "streamops-autoscaler"

_KEPT: Final = "${datasource:queryparam}&${job:queryparam}&${__url_time_range}"
_ALL_GROUPS: Final = "var-group=$__all"


def others() -> dashboard.DashboardLink:
    """The other boards, above the panels of each."""
    return _shown(
        dashboard.DashboardLink(
            title="streamops",
            type_val=dashboard.DashboardLinkType.DASHBOARDS,
            tags=[TAG],
            icon="external link",
            tooltip="The other boards, with the same variables and time",
            include_vars=True,
            keep_time=True,
        )
    )


def board(title: str, uid: str) -> dashboard.DashboardLink:
    """Another board as it stands, from a number that it explains."""
    kept = "${instance:queryparam}&" + _KEPT
    return _link(title, f"/d/{uid}?{kept}")


def row_to_stream(label: str = "stream", *, group: bool = True) -> dashboard.DashboardLink:
    """From a table's row to the board of its stream.

    Args:
        label: Which column names the stream.
        group: Whether the row names a group as well.
    """
    chosen = f"var-group={_cell('group')}" if group else _ALL_GROUPS
    named = f"var-stream={_cell(label)}&var-instance={_cell('instance')}&{chosen}"
    return _link("Open the stream", f"/d/{STREAM}?{named}&{_KEPT}")


def line_to_stream(
    label: str = "stream", *, group: bool = True, instance: bool = True
) -> dashboard.DashboardLink:
    """From a line of a graph to the board of its stream.

    Args:
        label: Which of its labels names the stream.
        group: Whether it has a group as well.
        instance: Whether its instance is the exporter's; a worker's own endpoint is another one.
    """
    chosen = f"var-group={_label('group')}" if group else _ALL_GROUPS
    where = f"var-instance={_label('instance')}" if instance else "${instance:queryparam}"
    return _link("Open the stream", f"/d/{STREAM}?var-stream={_label(label)}&{where}&{chosen}&{_KEPT}")


def _cell(name: str) -> str:
    return "${__data.fields." + name + ":percentencode}"


def _label(name: str) -> str:
    return "${__field.labels." + name + ":percentencode}"


def _link(title: str, url: str) -> dashboard.DashboardLink:
    return _shown(dashboard.DashboardLink(title=title, url=url))


def _shown(link: dashboard.DashboardLink) -> dashboard.DashboardLink:
    # The SDK puts every link into a menu, which newer Grafanas fold away.
    link.placement = None  # type: ignore[assignment]
    return link
