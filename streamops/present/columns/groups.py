"""Groups: what ``status`` and ``groups ls`` show; the console's first screen adds the reason and a trend."""

from typing import Final

from streamops.model.observation import GroupView
from streamops.present.cells import (
    NAME_WIDTH,
    NOT_THERE,
    compact_cell,
    count_cell,
    duration_cell,
    idle_cell,
    idle_seconds,
    name_cell,
    rate_cell,
    rounded,
    seconds,
)
from streamops.present.columns.group_cells import group_cell, group_value, oldest_cell, oldest_value
from streamops.present.rows import GroupRow
from streamops.present.spark import LEAST_LAG, spark
from streamops.present.table import Align, Cell, Column, Tone
from streamops.present.units import duration, health_text, lag_text

TREND_WIDTH: Final = 12


def _time_lag(view: GroupView) -> Cell:
    lag = view.group.time_lag
    return Cell("unavailable", Tone.UNKNOWN) if lag.age is None else duration_cell(lag.age)


def _oldest_age(view: GroupView) -> Cell:
    oldest = view.group.oldest_pending
    if view.group.oldest_pending_age is not None:
        return duration_cell(view.group.oldest_pending_age)
    if oldest is not None and not oldest.free:
        # It was produced before it was last delivered, so its idle time is a bound where its ID is no time.
        return Cell(f"≥{duration(oldest.idle)}", Tone.UNKNOWN)
    return NOT_THERE if view.group.pending == 0 else duration_cell(None)


def _retries(view: GroupView) -> Cell:
    return NOT_THERE if view.retries is None else count_cell(view.retries.length)


def _lag_rank(view: GroupView) -> int | None:
    """Bounds sort among the counts: by what is at least there, else by what is at most."""
    lag = view.group.lag
    return next(
        (number for number in (lag.entries, lag.lower or None, lag.upper) if number is not None), None
    )


def _health(row: GroupRow) -> Cell:
    return health_text(row.group.health if row.group is not None else row.stream.health)


def _finding_codes(row: GroupRow) -> str:
    return ",".join(found.code for found in (row.group if row.group is not None else row.stream).findings)


def _spark(view: GroupView) -> Cell:
    return Cell(spark(view.trend, TREND_WIDTH, LEAST_LAG), Tone.STRONG)


GROUP_COLUMNS: Final[tuple[Column[GroupRow], ...]] = (
    Column(
        key="stream",
        title="STREAM",
        help="The stream's key.",
        source="SCAN TYPE stream, or the names in the configuration",
        cell=lambda row: name_cell(row.stream.stream.name),
        value=lambda row: row.stream.stream.name,
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="group",
        title="GROUP",
        help="The consumer group; a dash where the stream has none.",
        source="XINFO GROUPS name",
        cell=group_cell(lambda view: name_cell(view.group.name)),
        value=group_value(lambda view: view.group.name),
        width=14,
        flexible=True,
        priority=0,
    ),
    Column(
        key="health",
        title="HEALTH",
        help="The worst of the findings about the group: ok, warn, critical; unknown where too little could be read to say.",
        source="streamops's own rules, over everything below",
        cell=_health,
        value=lambda row: (row.group.health if row.group is not None else row.stream.health).word,
        rank=lambda row: row.group.health if row.group is not None else row.stream.health,
        width=9,
        priority=0,
        descending=True,
    ),
    Column(
        key="lag",
        title="LAG",
        help=(
            "Entries of the stream not yet delivered to the group. A bare number is exact, or reported by a "
            "server whose report can be trusted; ≤ and ≥ are bounds, ~ is an estimate, ? is unknown."
        ),
        source="XINFO GROUPS lag where this server's can be believed, else counted by a script (XRANGE), else bounds",
        cell=group_cell(lambda view: lag_text(view.group.lag)),
        value=group_value(lambda view: view.group.lag.entries),
        rank=group_value(_lag_rank),
        width=10,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="time_lag_seconds",
        title="LAG AGE",
        help=(
            "Age of the first entry not yet delivered to the group, by the server's clock; 0s where none waits; "
            "unavailable where entry IDs are not times or the entry could not be read."
        ),
        source="TIME, minus the time in the ID of the first entry after last-delivered-id (XRANGE COUNT 1)",
        cell=group_cell(_time_lag),
        value=group_value(lambda view: seconds(view.group.time_lag.age)),
        width=11,
        align=Align.RIGHT,
        priority=1,
        descending=True,
    ),
    Column(
        key="pending",
        title="PENDING",
        help="Entries delivered to consumers of the group and not acknowledged yet.",
        source="XINFO GROUPS pending",
        cell=group_cell(lambda view: count_cell(view.group.pending)),
        value=group_value(lambda view: view.group.pending),
        width=8,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="retries",
        title="RETRY",
        help=(
            "Entries that are due again for this group alone, waiting or pending; a dash where it has no retry stream, or "
            "where that is shown as a stream of its own."
        ),
        source="XLEN of the group's retry stream T:retry:GROUP",
        cell=group_cell(_retries),
        value=group_value(lambda view: None if view.retries is None else view.retries.length),
        width=7,
        align=Align.RIGHT,
        priority=1,
        descending=True,
        sparse=True,
    ),
    Column(
        key="oldest_pending_age_seconds",
        title="OLDEST",
        help=(
            "Time since the oldest pending entry was produced, by its ID; ≥ and its idle time where the ID is no time; "
            "a dash where nothing is pending."
        ),
        source="XPENDING - + 1, and TIME minus the time in that ID",
        cell=group_cell(_oldest_age),
        value=group_value(lambda view: seconds(view.group.oldest_pending_age)),
        width=7,
        align=Align.RIGHT,
        priority=1,
        descending=True,
    ),
    Column(
        key="oldest_pending_idle_seconds",
        title="IDLE",
        help="Time since the oldest pending entry was last delivered or claimed; free where it was given back.",
        source="XPENDING - + 1, its idle time",
        cell=oldest_cell(idle_cell),
        value=oldest_value(idle_seconds),
        rank=oldest_value(lambda oldest: oldest.idle),
        width=7,
        align=Align.RIGHT,
        priority=4,
        descending=True,
    ),
    Column(
        key="oldest_pending_deliveries",
        title="TRIES",
        help="How often the oldest pending entry was delivered, as the server counts it; history reads and claims count too.",
        source="XPENDING - + 1, its delivery count",
        cell=oldest_cell(lambda oldest: compact_cell(oldest.delivery_count)),
        value=oldest_value(lambda oldest: oldest.delivery_count),
        width=5,
        align=Align.RIGHT,
        priority=5,
        descending=True,
    ),
    Column(
        key="consumers",
        title="CONS",
        help="Consumers that the group knows, alive or not.",
        source="XINFO GROUPS consumers",
        cell=group_cell(lambda view: compact_cell(view.group.consumers)),
        value=group_value(lambda view: view.group.consumers),
        width=5,
        align=Align.RIGHT,
        priority=2,
        descending=True,
    ),
    Column(
        key="length",
        title="LENGTH",
        help="Entries in the stream (XLEN), whoever has read them.",
        source="XLEN",
        cell=lambda row: compact_cell(row.stream.stream.length),
        value=lambda row: row.stream.stream.length,
        width=7,
        align=Align.RIGHT,
        priority=2,
        descending=True,
    ),
    Column(
        key="added_per_second",
        title="ADDED",
        help="Entries added to the stream a second, over the recent past; a dash before there are two readings.",
        source="XINFO STREAM entries-added of two readings (before Redis 7.0: XLEN), over the time between them",
        cell=lambda row: rate_cell(row.stream.added_per_second),
        value=lambda row: rounded(row.stream.added_per_second),
        width=9,
        align=Align.RIGHT,
        priority=3,
        descending=True,
    ),
    Column(
        key="delivered_per_second",
        title="DELIVERED",
        help="Entries delivered to the group for the first time, a second; a dash before there are two readings.",
        source="XINFO GROUPS last-delivered-id and entries-read of two readings, or arrivals less what the lag grew",
        cell=group_cell(lambda view: rate_cell(view.rates.delivered_per_second)),
        value=group_value(lambda view: rounded(view.rates.delivered_per_second)),
        width=9,
        align=Align.RIGHT,
        priority=4,
        descending=True,
    ),
    Column(
        key="acked_per_second",
        title="ACKED",
        help="Entries acknowledged by the group, a second; a dash before there are two readings.",
        source="deliveries less the growth of pending, of two readings",
        cell=group_cell(lambda view: rate_cell(view.rates.acked_per_second)),
        value=group_value(lambda view: rounded(view.rates.acked_per_second)),
        width=9,
        align=Align.RIGHT,
        priority=3,
        descending=True,
    ),
    Column(
        key="trend",
        title="TREND",
        help="The lag over the last readings, oldest left, from zero to the greatest of them, 10 at least; a blank where it was not known.",
        source="the lags of the last readings of this console",
        cell=group_cell(_spark),
        value=group_value(lambda view: rounded(view.rates.lag_per_second)),
        width=TREND_WIDTH,
        priority=2,
        descending=True,
    ),
    Column(
        key="findings",
        title="FINDINGS",
        help="Codes of what the health rules found, worst first.",
        source="streamops's own rules",
        cell=lambda row: Cell(_finding_codes(row).replace(",", ", ")),
        value=lambda row: _finding_codes(row) or None,
        width=16,
        flexible=True,
        priority=3,
    ),
)
"""What a table of groups shows."""
