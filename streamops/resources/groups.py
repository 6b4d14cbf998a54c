"""Groups: rows, columns and JSON."""

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Final

from msgspec import Struct

from streamops.model.entries import PendingEntry
from streamops.model.json_text import Json, text_json
from streamops.model.lag import Lag, LagBasis
from streamops.model.observation import GroupView, Health, Rates, Retries, StreamView
from streamops.resources.consumers import consumer_json
from streamops.resources.findings import findings_json
from streamops.resources.kinds import (
    NAME_WIDTH,
    NOT_THERE,
    Columns,
    compact_cell,
    count_cell,
    duration_cell,
    idle_cell,
    idle_seconds,
    of_rows,
    rounded,
    seconds,
)
from streamops.resources.pending import pending_entry_json, profile_json
from streamops.resources.table import Align, Cell, Column, Resource, Tone
from streamops.resources.text import safe
from streamops.resources.units import LEAST_LAG, compact, duration, lag_text, spark


class GroupRow(Struct, frozen=True):
    """A stream with one of its groups, or with None if it has none."""

    stream: StreamView
    group: GroupView | None


def group_rows(streams: Iterable[StreamView]) -> tuple[GroupRow, ...]:
    """One row a group, in the order given; a stream without groups has one row too."""
    return tuple(GroupRow(stream, group) for stream in streams for group in stream.groups or (None,))


def worst_first(rows: Sequence[GroupRow], faults: Sequence[bool]) -> list[GroupRow]:
    """Rows with a fault first, the worst and those with the greatest lag on top; the others in the order given.

    Args:
        rows: The rows.
        faults: ``has_fault`` of each.
    """
    others = [row for row, fault in zip(rows, faults, strict=True) if not fault]
    return [*sorted(compress(rows, faults), key=_trouble, reverse=True), *others]


def _trouble(row: GroupRow) -> tuple[int, int]:
    if row.group is None:
        return row.stream.health, 0
    lag = row.group.group.lag
    return row.group.health, lag.entries or lag.lower or lag.upper or 0


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


def _lag_rank(view: GroupView) -> int | None:
    """Bounds sort among the counts: by what is at least there, else by what is at most."""
    lag = view.group.lag
    return next(
        (number for number in (lag.entries, lag.lower or None, lag.upper) if number is not None), None
    )


def _level(row: GroupRow) -> Health:
    return row.stream.health if row.group is None else row.group.health


def _finding_codes(row: GroupRow) -> str:
    return ",".join(found.code for found in (row.group if row.group is not None else row.stream).findings)


def _spark(view: GroupView) -> Cell:
    return Cell(spark(view.trend, TREND_WIDTH, LEAST_LAG), Tone.STRONG)


def _lost_cell(view: GroupView) -> Cell:
    if view.lost is None and view.lost_at_most is not None:
        return Cell(f"≤{compact(view.lost_at_most)}")
    return compact_cell(view.lost)


def _oldest(row: GroupRow) -> PendingEntry | None:
    return None if row.group is None else row.group.group.oldest_pending


def _no_oldest(row: GroupRow) -> Cell:
    """A dash if nothing is pending, unknown if that was not read."""
    return NOT_THERE if row.group is None or not row.group.group.pending else count_cell(None)


ROW = of_rows(GroupRow)


GROUP = Columns[GroupRow, GroupView](lambda row: row.group)


OLDEST = Columns[GroupRow, PendingEntry](_oldest, "XPENDING - + 1", missing=_no_oldest)


GROUP_COLUMNS: Final[tuple[Column[GroupRow], ...]] = (
    ROW.text(
        "stream", "STREAM", NAME_WIDTH, lambda row: row.stream.stream.name, flexible=True, priority=0
    ).means("The stream's key.", "SCAN TYPE stream, or the names in the configuration"),
    GROUP.text("group", "GROUP", 14, lambda view: view.group.name, flexible=True, priority=0).means(
        "The consumer group; a dash where the stream has none.", "XINFO GROUPS name"
    ),
    ROW.health("health", "HEALTH", 9, _level, priority=0).means(
        "The worst of the findings about the group: ok, warn, critical; unknown where too little could be read to say.",
        "streamops's own rules, over everything below",
    ),
    GROUP.column(
        "lag",
        "LAG",
        10,
        lambda view: view.group.lag.entries,
        lambda view: lag_text(view.group.lag),
        align=Align.RIGHT,
        descending=True,
        rank=_lag_rank,
        priority=0,
    ).means(
        "Entries of the stream not yet delivered to the group. A bare number is exact, or reported "
        "by a server whose count can be trusted; ≤ and ≥ are bounds, ~ is an estimate, ? is unknown.",
        "XINFO GROUPS lag if this server's can be trusted, else counted by a script (XRANGE), else bounds",
    ),
    GROUP.column(
        "time_lag_seconds",
        "LAG AGE",
        11,
        lambda view: seconds(view.group.time_lag.age),
        _time_lag,
        align=Align.RIGHT,
        descending=True,
        priority=1,
    ).means(
        "Age of the first entry not yet delivered to the group, by the server's clock; 0s if none "
        "waits; unavailable if entry IDs are not timestamps or the entry could not be read.",
        "TIME, minus the time in the ID of the first entry after last-delivered-id (XRANGE COUNT 1)",
    ),
    GROUP.count("pending", "PENDING", 8, lambda view: view.group.pending, priority=0).means(
        "Entries delivered to consumers of the group and not acknowledged yet.", "XINFO GROUPS pending"
    ),
    GROUP.count(
        "retries",
        "RETRY",
        7,
        lambda view: None if view.retries is None else view.retries.length,
        absent=True,
        priority=1,
        sparse=True,
    ).means(
        "Retries of this group, unread or pending in its retry stream; a dash if it has none, or if "
        "that is listed as a stream.",
        "XLEN of the group's retry stream T:retry:GROUP",
    ),
    GROUP.column(
        "oldest_pending_age_seconds",
        "OLDEST",
        7,
        lambda view: seconds(view.group.oldest_pending_age),
        _oldest_age,
        align=Align.RIGHT,
        descending=True,
        priority=1,
    ).means(
        "Time since the oldest pending entry was produced, by its ID; ≥ and its idle time if the ID "
        "is not a timestamp; a dash if nothing is pending.",
        "XPENDING - + 1, and TIME minus the time in that ID",
    ),
    OLDEST.column(
        "oldest_pending_idle_seconds",
        "IDLE",
        7,
        idle_seconds,
        idle_cell,
        align=Align.RIGHT,
        descending=True,
        rank=lambda oldest: oldest.idle,
        priority=4,
    ).means(
        "Time since the oldest pending entry was last delivered or claimed (the entry's idle time, "
        "not a consumer's); free if it was released.",
        "XPENDING - + 1, its idle time",
    ),
    OLDEST.count(
        "oldest_pending_deliveries",
        "DELIVERIES",
        10,
        lambda oldest: oldest.delivery_count,
        short=True,
        priority=5,
    ).means(
        "How often the oldest pending entry was delivered, as the server counts it; history reads and claims count too.",
        "XPENDING - + 1, its delivery count",
    ),
    GROUP.count("consumers", "CONS", 5, lambda view: view.group.consumers, short=True, priority=2).means(
        "Consumers of the group, alive or not.", "XINFO GROUPS consumers"
    ),
    ROW.count("length", "LENGTH", 7, lambda row: row.stream.stream.length, short=True, priority=2).means(
        "Entries in the stream (XLEN), read or not.", "XLEN"
    ),
    ROW.rate("added_per_second", "ADDED", 9, lambda row: row.stream.added_per_second, priority=3).means(
        "Rate of entries added to the stream, per second; a dash before there are two readings.",
        "XINFO STREAM entries-added of two readings (before Redis 7.0: XLEN), over the time between them",
    ),
    GROUP.rate(
        "delivered_per_second", "DELIVERED", 9, lambda view: view.rates.delivered_per_second, priority=4
    ).means(
        "Rate of first deliveries to the group, per second; a dash before there are two readings.",
        "XINFO GROUPS last-delivered-id and entries-read of two readings, or entries added less the growth of the lag",
    ),
    GROUP.rate("acked_per_second", "ACKED", 9, lambda view: view.rates.acked_per_second, priority=3).means(
        "Rate of acknowledgements by the group, per second; a dash before there are two readings.",
        "deliveries less the growth of pending, of two readings",
    ),
    GROUP.column(
        "trend",
        "TREND",
        TREND_WIDTH,
        lambda view: rounded(view.rates.lag_per_second),
        _spark,
        descending=True,
        priority=2,
    ).means(
        "The lag over the last readings, oldest left, from zero to the greatest of them, 10 at least; "
        "a blank if it was unknown.",
        "the lags of the last readings of this console",
    ),
    ROW.column(
        "findings",
        "FINDINGS",
        16,
        lambda row: _finding_codes(row) or None,
        lambda row: Cell(_finding_codes(row).replace(",", ", ")),
        flexible=True,
        priority=3,
    ).means("Finding codes of the health rules, worst first.", "streamops's own rules"),
)
"""What a table of groups shows."""


RATES: Final = frozenset({"added_per_second", "delivered_per_second", "acked_per_second"})
"""Columns that two readings tell, and one does not."""

GROUP_DETAIL_COLUMNS: Final[tuple[Column[GroupRow], ...]] = (
    GROUP.text("lag_basis", "LAG BASIS", 9, lambda view: str(view.group.lag.basis)).means(
        "The lag's basis: exact, reported, upper, lower, estimated or unknown.", "the source of LAG"
    ),
    GROUP.count("lag_lower", "LAG MIN", 9, lambda view: view.group.lag.lower).means(
        "Lower bound of the lag.", "counting, or what the group's position allows"
    ),
    GROUP.count("lag_upper", "LAG MAX", 9, lambda view: view.group.lag.upper).means(
        "Upper bound of the lag.", "XINFO GROUPS lag, or XLEN less what was counted"
    ),
    GROUP.text("lag_reason", "LAG REASON", 30, lambda view: view.group.lag.reason, flexible=True).means(
        "How the lag was determined.", "the source of LAG"
    ),
    GROUP.rate("lag_per_second", "LAG GROWTH", 9, lambda view: view.rates.lag_per_second).means(
        "Growth of the lag, entries per second; below zero while the group catches up.",
        "the lags of the last readings of this console",
    ),
    GROUP.id("last_delivered_id", "LAST DELIVERED", 18, lambda view: view.group.last_delivered_id).means(
        "The group's position: entries after this ID are not yet delivered to it.",
        "XINFO GROUPS last-delivered-id",
    ),
    GROUP.count("entries_read", "READ", 7, lambda view: view.group.entries_read, short=True).means(
        "The server's entries-read counter of the group; ? if it has none.",
        "XINFO GROUPS entries-read (Redis 7.0 and later)",
    ),
    OLDEST.id("oldest_pending_id", "OLDEST ID", 18, lambda oldest: oldest.id).means(
        "ID of the oldest pending entry."
    ),
    OLDEST.text("oldest_pending_consumer", "OWNER", 14, lambda oldest: oldest.consumer, flexible=True).means(
        "The consumer that owns the oldest pending entry."
    ),
    GROUP.column(
        "lost", "LOST", 6, lambda view: view.lost, _lost_cell, align=Align.RIGHT, descending=True
    ).means(
        "Entries trimmed before they were delivered to the group; an upper bound if some may have "
        "been trimmed before the first reading, ? if unknown.",
        "lag and arrivals less deliveries, of two readings; before the first, entries-added less length and entries-read",
    ),
)
"""What scripts and ``--fields`` can have besides."""


def group_json(view: GroupView) -> Json:
    """A group as ``status`` has it."""
    group = view.group
    return {
        "group": text_json(group.name),
        "consumers": group.consumers,
        "pending": group.pending,
        "lag": lag_json(group.lag),
        "time_lag_seconds": seconds(group.time_lag.age),
        "last_delivered_id": str(group.last_delivered_id),
        "entries_read": group.entries_read,
        "oldest_pending": _oldest_json(view),
        "rates": rates_json(view.rates),
        "lost": view.lost,
        "lost_at_most": view.lost_at_most,
        "retries": None if view.retries is None else _retries_json(view.retries),
        "health": view.health.word,
        "findings": findings_json(view.findings),
    }


def group_detail_json(view: GroupView) -> Json:
    """A group with its consumers and the distribution of its pending entries."""
    group = view.group
    members = None if group.members is None else [consumer_json(member) for member in group.members]
    return {
        "stream": text_json(view.stream),
        **group_json(view),
        "time_lag_reason": safe(group.time_lag.reason) or None,
        "reported_lag": group.reported_lag,
        "lag_per_second": rounded(view.rates.lag_per_second),
        "members": members,
        "profile": None if group.profile is None else profile_json(group.profile),
    }


def lag_json(lag: Lag) -> Json:
    """The lag, its bounds and what it rests on."""
    return {
        "entries": lag.entries,
        "lower": lag.lower,
        "upper": lag.upper,
        "basis": lag.basis,
        "reason": safe(lag.reason),
    }


def _retries_json(retries: Retries) -> Json:
    """Entries due again for one group."""
    return {"length": retries.length, "pending": retries.pending, "lag": lag_json(retries.lag)}


def rates_json(rates: Rates) -> Json | None:
    """The three rates; null where none of them is known yet."""
    known = (rates.added_per_second, rates.delivered_per_second, rates.acked_per_second)
    if all(number is None for number in known):
        return None
    added, delivered, acked = map(rounded, known)
    return {"added_per_second": added, "delivered_per_second": delivered, "acked_per_second": acked}


def _oldest_json(view: GroupView) -> Json | None:
    oldest = view.group.oldest_pending
    return None if oldest is None else pending_entry_json(oldest, seconds(view.group.oldest_pending_age))


def group_words(row: GroupRow) -> str:
    """Names, health and finding codes."""
    stream, group = row.stream, row.group
    words = [stream.stream.name, *(finding.code for finding in stream.findings)]
    if group is None:
        return " ".join([*words, stream.health.word])
    return " ".join(
        [*words, group.group.name, group.health.word, *(finding.code for finding in group.findings)]
    )


def has_fault(row: GroupRow) -> bool:
    """Whether the group, or the stream itself, has a finding."""
    group_health = Health.OK if row.group is None else row.group.health
    return group_health >= Health.WARN or bool(row.stream.findings)


GROUPS: Final = Resource[GroupRow](
    key=lambda row: (row.stream.stream.name, None if row.group is None else row.group.group.name),
    columns=GROUP_COLUMNS,
    more=GROUP_DETAIL_COLUMNS,
    text=group_words,
    fault=has_fault,
    name=lambda row: row.stream.stream.name if row.group is None else row.group.group.name,
    rows=lambda seen: group_rows(seen.streams),
)


BASES: Final[dict[LagBasis, str]] = {
    LagBasis.EXACT: (
        "Counted, or certain from the group's position: at the stream's end, before its beginning, or in between "
        "with every entry counted (XRANGE by a script, without payloads)."
    ),
    LagBasis.REPORTED: (
        "The server's own count (XINFO GROUPS lag), of a version whose count is right, checked by counting now and then."
    ),
    LagBasis.UPPER: (
        "The server's count (XINFO GROUPS lag) is known to be too high on this version once trimming overtook a group: "
        "the truth is this or less. Redis 7.4.4 and 8.0, and Valkey 8.1.1, count right."
    ),
    LagBasis.LOWER: (
        "Counting stopped at its budget, so as not to load the server, or entries were removed while it was counted: "
        "the truth is this or more."
    ),
    LagBasis.ESTIMATED: (
        "Guessed from the times in IDs, as if entries came evenly: the server gives no count and there are too many to "
        "count each time."
    ),
    LagBasis.UNKNOWN: (
        "The server gives none: Redis before 7.0 has no such count, and later ones give nil after entries ahead of the "
        "group were deleted, or where its position was set by hand; and counting was not possible or not allowed. "
        "Unknown is not zero."
    ),
}

TIME_LAG: Final = (
    "Lag age is the server's clock (TIME) minus the time in the ID of the first entry after the group's position. "
    "It is not known if IDs are not timestamps (XADD with explicit IDs), where that entry may not be read, or "
    "where TIME may not be asked."
)
