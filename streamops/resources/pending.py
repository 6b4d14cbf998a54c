"""Pending entries, their sums by consumer and their distribution: rows, columns and JSON."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from msgspec import Struct

from streamops.model.entries import EntryId, PendingEntry, id_age
from streamops.model.json_text import Json, text_json
from streamops.model.pending import DELIVERY_BOUNDS, IDLE_BOUNDS, PendingProfile
from streamops.resources.kinds import NAME_WIDTH, duration_cell, idle_cell, idle_seconds, of_rows, seconds
from streamops.resources.table import Align, Cell, Column, Resource, Tone
from streamops.resources.units import terse


class PendingRow(Struct, frozen=True):
    """A pending entry and the server's clock when it was read; None if that may not be asked."""

    entry: PendingEntry
    now: datetime | None

    @property
    def age(self) -> timedelta | None:
        """Time since the entry was produced, by its ID; None if that is not known."""
        return None if self.now is None else id_age(self.entry.id, self.now)


class SummaryRow(Struct, frozen=True):
    """A group's pending entries as a whole, as XPENDING sums them up."""

    stream: str
    group: str
    pending: int
    smallest_id: EntryId | None
    greatest_id: EntryId | None
    consumers: int


class OwnerRow(Struct, frozen=True):
    """A consumer and how many pending entries it has."""

    consumer: str
    pending: int


_IDLE: Final = tuple(map(terse, IDLE_BOUNDS))
IDLE_BUCKETS: Final = (
    f"≤{_IDLE[0]}",
    *(f"{low}-{high}" for low, high in pairwise(_IDLE)),
    f">{_IDLE[-1]}",
)
"""Buckets of idle times, each with both its ends: ``≤1s``, ``1s-10s``, ``>10s``."""
DELIVERY_BUCKETS: Final = (
    f"{DELIVERY_BOUNDS[0]}",
    *(f"{low + 1}-{high}" if low + 1 < high else f"{high}" for low, high in pairwise(DELIVERY_BOUNDS)),
    f">{DELIVERY_BOUNDS[-1]}",
)
"""Buckets of deliveries: ``1``, ``2``, ``3-5``, ``>5``."""


class ProfileRow(Struct, frozen=True):
    """One bucket of a distribution of pending entries."""

    measure: str
    bucket: str
    entries: int
    share: float


def profile_rows(profile: PendingProfile) -> tuple[ProfileRow, ...]:
    """One row a bucket, idle times first."""
    idle = [*(terse(bound) for bound in IDLE_BOUNDS), "longer"]
    deliveries = [*map(str, DELIVERY_BOUNDS), "more"]
    buckets = [
        *(("idle", *pair) for pair in zip(idle, profile.idle_buckets, strict=True)),
        *(("deliveries", *pair) for pair in zip(deliveries, profile.delivery_buckets, strict=True)),
    ]
    total = max(profile.scanned, 1)
    return tuple(ProfileRow(measure, end, entries, entries / total) for measure, end, entries in buckets)


def _age(row: PendingRow) -> Cell:
    return Cell("unavailable", Tone.UNKNOWN) if row.age is None else duration_cell(row.age)


PENDING = of_rows(PendingRow)


PENDING_COLUMNS: Final[tuple[Column[PendingRow], ...]] = (
    PENDING.id("id", "ID", 20, lambda row: row.entry.id, priority=0).means(
        "The entry's ID; the entry itself may be gone from the stream.", "XPENDING, the row's ID"
    ),
    PENDING.column(
        "age_seconds", "AGE", 11, lambda row: seconds(row.age), _age, align=Align.RIGHT, descending=True
    ).means(
        "Time since the entry was produced, by its ID and the server's clock; unavailable where the ID is no time.",
        "TIME, minus the time in the ID",
    ),
    PENDING.column(
        "idle_seconds",
        "IDLE",
        7,
        lambda row: idle_seconds(row.entry),
        lambda row: idle_cell(row.entry),
        align=Align.RIGHT,
        descending=True,
        rank=lambda row: row.entry.idle,
        priority=0,
    ).means(
        "Time since the entry was last delivered or claimed; free if it was released for any consumer.",
        "XPENDING, the row's idle time",
    ),
    PENDING.count("deliveries", "DELIVERIES", 10, lambda row: row.entry.delivery_count, priority=0).means(
        "How often the server counted a delivery; history reads and claims count too, a failover may lower it.",
        "XPENDING, the row's delivery count",
    ),
    PENDING.text(
        "consumer", "CONSUMER", NAME_WIDTH, lambda row: row.entry.consumer, flexible=True, priority=0
    ).means("The entry's owner.", "XPENDING, the row's consumer"),
)


SUMMARY = of_rows(SummaryRow, "XPENDING")


OWNER = of_rows(OwnerRow, "XPENDING")


SUMMARY_COLUMNS: Final[tuple[Column[SummaryRow], ...]] = (
    SUMMARY.text("stream", "STREAM", NAME_WIDTH, lambda row: row.stream).means(
        "The stream's key.", "the stream asked for"
    ),
    SUMMARY.text("group", "GROUP", NAME_WIDTH, lambda row: row.group).means(
        "The consumer group.", "XINFO GROUPS name"
    ),
    SUMMARY.count("pending", "PENDING", 9, lambda row: row.pending, descending=False).means(
        "Entries delivered to consumers of the group and not acknowledged yet."
    ),
    SUMMARY.id("smallest_id", "SMALLEST ID", 20, lambda row: row.smallest_id).means(
        "The smallest pending ID; a dash where nothing is pending."
    ),
    SUMMARY.id("greatest_id", "GREATEST ID", 20, lambda row: row.greatest_id).means(
        "The greatest pending ID; a dash where nothing is pending."
    ),
    SUMMARY.count("consumers", "CONSUMERS", 9, lambda row: row.consumers, descending=False).means(
        "Consumers that have pending entries."
    ),
)


OWNER_COLUMNS: Final[tuple[Column[OwnerRow], ...]] = (
    OWNER.text("consumer", "CONSUMER", NAME_WIDTH, lambda row: row.consumer, priority=0).means(
        "A consumer that has pending entries."
    ),
    OWNER.count("pending", "PENDING", 9, lambda row: row.pending, priority=0).means("How many."),
)


PROFILE = of_rows(ProfileRow, "a scan of XPENDING, page by page")


PROFILE_COLUMNS: Final[tuple[Column[ProfileRow], ...]] = (
    PROFILE.text("measure", "MEASURE", 10, lambda row: row.measure, priority=0).means(
        "What the entries are counted by: idle time or deliveries."
    ),
    PROFILE.text("bucket", "BUCKET", 10, lambda row: row.bucket, align=Align.RIGHT, priority=0).means(
        "The bucket: more than its lower end, up to and including its upper end."
    ),
    PROFILE.count("entries", "ENTRIES", 9, lambda row: row.entries, priority=0).means(
        "Pending entries in the bucket, of those that were scanned."
    ),
    PROFILE.share("share", "SHARE", 6, lambda row: row.share).means(
        "The bucket's share of the entries that were scanned."
    ),
)


def pending_json(row: PendingRow) -> Json:
    """One pending entry."""
    return pending_entry_json(row.entry, seconds(row.age))


def pending_entry_json(entry: PendingEntry, age_seconds: float | None) -> Json:
    """A pending entry with its age, which the caller knows."""
    return {
        "id": str(entry.id),
        "age_seconds": age_seconds,
        "idle_seconds": idle_seconds(entry),
        "free": entry.free,
        "deliveries": entry.delivery_count,
        "consumer": text_json(entry.consumer),
    }


def profile_json(profile: PendingProfile) -> Json:
    """The distribution of pending entries; the last bucket of each has no upper end."""
    idle_ends = [bound.total_seconds() for bound in IDLE_BOUNDS]
    longest, most = profile.longest_idle, profile.most_delivered
    return {
        "scanned": profile.scanned,
        "coverage": round(profile.coverage, 4),
        "idle": _buckets("up_to_seconds", idle_ends, profile.idle_buckets),
        "deliveries": _buckets("up_to", list(DELIVERY_BOUNDS), profile.delivery_buckets),
        "longest_idle": None if longest is None else _profiled(longest),
        "most_delivered": None if most is None else _profiled(most),
    }


def _profiled(entry: PendingEntry) -> Json:
    return {key: value for key, value in pending_entry_json(entry, None).items() if key != "age_seconds"}


def _buckets(end: str, ends: Sequence[float], counts: Sequence[int]) -> list[Json]:
    return [{end: bound, "entries": number} for bound, number in zip((*ends, None), counts, strict=True)]


PENDING_ENTRIES: Final = Resource[PendingRow](
    key=lambda row: row.entry.id,
    columns=PENDING_COLUMNS,
    text=lambda row: f"{row.entry.id} {row.entry.consumer}",
    fault=lambda row: row.entry.delivery_count > 1,
)
