"""The variables at the top of a board."""

from typing import Final

from grafana_foundation_sdk.models import dashboard

from dashboards.boards.queries import DATASOURCE

SOME: Final = ".+"
ANY: Final = ".*"
"""Of labels that may be empty, which Prometheus takes for absent."""

_EXPORTER: Final = 'job=~"$job", instance=~"$instance"'


def datasource() -> dashboard.VariableModel:
    """Which Prometheus is asked."""
    variable = _variable("datasource", "Data source", dashboard.VariableType.DATASOURCE, "prometheus")
    variable.description = "The Prometheus that scrapes the exporter."
    return variable


def exporter() -> list[dashboard.VariableModel]:
    """Which exporter, and which server."""
    return [
        _query(
            "job", "Job", "label_values(streamops_up, job)", "Prometheus's job of the exporter.", every=SOME
        ),
        _query(
            "instance",
            "Instance",
            'label_values(streamops_up{job=~"$job"}, instance)',
            "The exporter's address, or the server that it was asked about.",
            every=SOME,
        ),
    ]


def streams() -> list[dashboard.VariableModel]:
    """Any number of streams, and of their groups."""
    found = f"label_values(streamops_stream_length{{{_EXPORTER}}}, stream)"
    return [
        _query("stream", "Stream", found, "The streams to look at."),
        _groups('stream=~"$stream"'),
    ]


def one_stream() -> list[dashboard.VariableModel]:
    """One stream, and any number of its groups."""
    found = f"label_values(streamops_stream_length{{{_EXPORTER}}}, stream)"
    return [
        _query("stream", "Stream", found, "The stream to look at.", many=False),
        _groups('stream="$stream"'),
    ]


def letters() -> list[dashboard.VariableModel]:
    """Streams that have dead letters, and the groups of streams."""
    found = f"label_values(streamops_stream_length{{{_EXPORTER}}}, stream)"
    return [
        _query("stream", "Stream", found, "The streams that dead letters come from."),
        _groups('stream=~"$stream"'),
        _query(
            "queue",
            "Delayed queue",
            f"label_values(streamops_delayed_entries{{{_EXPORTER}}}, queue)",
            "The queues of delayed messages to look at.",
        ),
    ]


def workers() -> list[dashboard.VariableModel]:
    """Which worker processes' own endpoints: other targets than the exporter."""
    return [
        _query(
            "worker_job",
            "Worker job",
            "label_values(streamops_concurrency_limit, job)",
            "Prometheus's job of the workers' own endpoints.",
            every=SOME,
        ),
        _query(
            "worker_instance",
            "Worker instance",
            'label_values(streamops_concurrency_limit{job=~"$worker_job"}, instance)',
            "The workers' endpoints.",
            every=SOME,
        ),
    ]


def pools() -> list[dashboard.VariableModel]:
    """Which pools: those whose workers heartbeat, and those that a controller decides about, whoever runs their workers."""
    names = "streamops_worker_slots|streamops_autoscaler_info"
    found = f'label_values({{__name__=~"{names}", {_EXPORTER}}}, pool)'
    return [_query("pool", "Pool", found, "The pools of workers to look at.")]


def _groups(stream: str) -> dashboard.VariableModel:
    found = f"label_values(streamops_group_pending_entries{{{_EXPORTER}, {stream}}}, group)"
    return _query("group", "Group", found, "The consumer groups to look at.")


def _query(
    name: str, label: str, query: str, description: str, *, every: str = ANY, many: bool = True
) -> dashboard.VariableModel:
    asked: dict[str, object] = {"query": query, "refId": f"variable-{name}"}
    variable = _variable(name, label, dashboard.VariableType.QUERY, asked)
    variable.description = description
    variable.definition = query
    variable.datasource = DATASOURCE
    variable.refresh = dashboard.VariableRefresh.ON_TIME_RANGE_CHANGED
    variable.sort = dashboard.VariableSort.NATURAL_ASC
    if many:
        variable.multi = variable.include_all = True
        variable.all_value = every
        variable.current = dashboard.VariableOption(selected=True, text=["All"], value=["$__all"])
    return variable


def _variable(
    name: str, label: str, kind: dashboard.VariableType, query: str | dict[str, object]
) -> dashboard.VariableModel:
    return dashboard.VariableModel(
        type_val=kind,
        name=name,
        label=label,
        query=query,
        hide=dashboard.VariableHide.DONT_HIDE,
        # Of intervals alone, which these are not.
        auto=None,
        auto_min=None,
        auto_count=None,
    )
