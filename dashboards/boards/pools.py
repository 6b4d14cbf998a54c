"""Pools that controllers scale: how many workers they have, how many are wanted, and why."""

from typing import Final

from grafana_foundation_sdk.models import dashboard

from dashboards.boards import colours
from dashboards.boards.board import Section, evenly, line
from dashboards.boards.charts import graph_panel
from dashboards.boards.panels import stat_panel
from dashboards.boards.queries import Query
from dashboards.boards.scopes import POOL
from dashboards.boards.tables import Column, Label, table_panel

WANTED: Final = "autoscaler_desired_replicas"
ORDERED: Final = "autoscaler_current_replicas"
LEAST: Final = "autoscaler_min_replicas"
MOST: Final = "autoscaler_max_replicas"
EVALUATED: Final = "autoscaler_last_evaluation_timestamp_seconds"
ERRORS: Final = "autoscaler_apply_errors_total"
DECISIONS: Final = "autoscaler_decisions_total"


def pools_section() -> Section:
    """What the controllers of the chosen pools say."""
    return Section(
        "Pools that scale themselves",
        (
            evenly(4, *_now()),
            evenly(8, _workers(), _waits(), _decisions()),
            line(8, (24, _table())),
        ),
    )


def by_pool(family: str) -> str:
    """One value a pool, whichever exporter tells it."""
    return f"max by (pool) ({POOL(family)})"


def _now() -> tuple[dashboard.Panel, ...]:
    at_maximum = f"{by_pool(WANTED)} >= {by_pool(MOST)}"
    return (
        stat_panel(
            "Pools with a controller",
            "Pools about which a controller decides now.",
            Query(f"count({by_pool(MOST)}) or vector(0)", "pools"),
            unit="none",
        ),
        stat_panel(
            "At their maximum",
            "Pools whose controller wants all the workers that it may have. With waits beyond the objective, that is too few.",
            Query(f"count({at_maximum}) or vector(0)", "pools"),
            unit="none",
            steps=colours.ANY_NOTICE,
        ),
        stat_panel(
            "Failures of targets",
            "How often, in the time shown, the target did not set the worker count.",
            Query(f"sum(max by (pool) ({POOL.increase(ERRORS)}))", "failures"),
            unit="none",
            decimals=0,
            steps=colours.ANY_WARN,
        ),
        stat_panel(
            "Longest without a decision",
            "Time since the last decision, of the pool that has waited longest. A controller decides every few seconds.",
            Query(f"max({POOL.age(EVALUATED)})", "decided"),
            unit="s",
            steps=colours.SNAPSHOT,
        ),
    )


def _workers() -> dashboard.Panel:
    return graph_panel(
        "Workers: current and desired",
        "The worker count that the target is set to, whether or not they live, and the one that the controller wants."
        " Dashed, the minimum and the maximum. Desired above current for long: the target does not follow.",
        Query(by_pool(ORDERED), "{{pool}} current"),
        Query(by_pool(WANTED), "{{pool}} desired"),
        Query(by_pool(LEAST), "{{pool}} minimum"),
        Query(by_pool(MOST), "{{pool}} maximum"),
        unit="none",
        bounds=("/ (minimum|maximum)$/",),
        none="no controller",
    )


def _waits() -> dashboard.Panel:
    return graph_panel(
        "Predicted wait",
        "How long the entry added last is going to wait, once all current workers run. Dashed, the longest it should.",
        Query(by_pool("autoscaler_predicted_wait_seconds"), "{{pool}}"),
        Query(by_pool("autoscaler_objective_seconds"), "{{pool}} objective"),
        unit="s",
        bounds=("/ objective$/",),
        none="not known",
    )


def _decisions() -> dashboard.Panel:
    by = "direction, reason"
    return graph_panel(
        "Decisions",
        "A second, by the rule that decided. `streamops pools explain POOL` shows each with its numbers.",
        Query(f"sum by ({by}) (max by (pool, {by}) ({POOL.rate(DECISIONS)}))", "{{direction}}: {{reason}}"),
        unit="cps",
        stacked=True,
        none="no decisions",
    )


def _table() -> dashboard.Panel:
    shown = (
        ("Current", by_pool(ORDERED), "none", ()),
        ("Desired", by_pool(WANTED), "none", ()),
        ("Minimum", by_pool(LEAST), "none", ()),
        ("Maximum", by_pool(MOST), "none", ()),
        ("Added/s", by_pool("autoscaler_arrivals_per_second"), "none", ()),
        ("Forecast/s", by_pool("autoscaler_expected_arrivals_per_second"), "none", ()),
        ("Per worker/s", by_pool("autoscaler_worker_entries_per_second"), "none", ()),
        ("Busy", by_pool("autoscaler_busy_ratio"), "percentunit", colours.BUSY),
        ("Wait", by_pool("autoscaler_wait_seconds"), "s", ()),
        ("Predicted", by_pool("autoscaler_predicted_wait_seconds"), "s", ()),
        ("Objective", by_pool("autoscaler_objective_seconds"), "s", ()),
        ("Start-up", by_pool("autoscaler_startup_seconds"), "s", ()),
        ("Useful", by_pool("autoscaler_capped_replicas"), "none", ()),
        ("Failures", f"max by (pool) ({POOL.increase(ERRORS)})", "none", colours.ANY_WARN),
        ("Decided ago", f"max by (pool) ({POOL.age(EVALUATED)})", "s", colours.SNAPSHOT),
    )
    return table_panel(
        "Inputs of decisions",
        "Each pool, with what its controller read and learned. Empty: not known, or no controller. Useful: more workers"
        " than this did not help when they were tried.",
        (Label("pool", "Pool"),),
        tuple(
            Column(title, expr, unit, steps, decimals=0 if title == "Failures" else None)
            for title, expr, unit, steps in shown
        ),
        by="Wants",
        none="No pool",
    )
