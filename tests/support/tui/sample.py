"""Invented observations for the console: a shop on a bad afternoon, and ten thousand groups."""

from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from streamops.model.entries import EntryId, PendingEntry, StreamEntry
from streamops.model.lag import Lag, LagBasis, TimeLag
from streamops.model.observation import (
    Finding,
    FindingCode,
    GroupView,
    Health,
    Observation,
    Rates,
    StreamView,
)
from streamops.model.pending import PendingProfile
from streamops.model.streams import ConsumerGroup, ReadError, Snapshot, StreamRole
from tests.support import invented
from tests.support.invented import NOW, consumer, entry_id, minutes, pending_entry, seconds

WINDOW: Final = timedelta(seconds=60)


def group_view(
    stream: str,
    group: ConsumerGroup,
    *findings: Finding,
    rates: Rates | None = None,
    trend: tuple[int | None, ...] = (),
    health: Health | None = None,
) -> GroupView:
    worst = max((finding.level for finding in findings), default=Health.OK)
    return GroupView(stream, group, rates or Rates(), trend, 0, findings, worst if health is None else health)


def stream_view(
    name: str,
    *groups: GroupView,
    length: int = 100,
    added: float | None = 0.0,
    findings: tuple[Finding, ...] = (),
    role: StreamRole = StreamRole.EVENTS,
    source: str | None = None,
) -> StreamView:
    levels = [finding.level for finding in findings] + [group.health for group in groups]
    state = invented.stream(
        name,
        [group.group for group in groups],
        length=length,
        role=role,
        source=source,
        entries_added=length * 3,
    )
    return StreamView(state, added, findings, groups, max(levels, default=Health.OK))


def observation(
    *streams: StreamView,
    findings: tuple[Finding, ...] = (),
    gaps: tuple[ReadError, ...] = (),
    complete: bool = True,
    commands: int = 23,
) -> Observation:
    levels = [finding.level for finding in findings] + [stream.health for stream in streams]
    return Observation(
        snapshot=_snapshot(streams, gaps, complete=complete, commands=commands),
        observed_since=NOW - minutes(5),
        streams=streams,
        findings=findings,
        health=max(levels, default=Health.OK),
    )


def _snapshot(
    streams: tuple[StreamView, ...], gaps: tuple[ReadError, ...], *, complete: bool, commands: int
) -> Snapshot:
    snapshot = invented.snapshot(*(view.stream for view in streams), gaps=gaps)
    return replace(snapshot, discovery_complete=complete, commands=commands)


def moving(added: float, delivered: float, acked: float, slope: float = 0.0) -> Rates:
    return Rates(added, delivered, acked, slope, WINDOW)


STALLED: Final = Finding(
    FindingCode.STALLED,
    Health.CRITICAL,
    "Nothing was delivered for 6 min while 1,204 entries wait.",
    "See whether the consumers of ledger still run: streamops consumers ls payments ledger",
)
DEAD_CONSUMER: Final = Finding(
    FindingCode.DEAD_CONSUMER,
    Health.WARN,
    "worker-7 has not asked for 41 min and holds 12 entries.",
    "Claim its entries, or restart it: streamops pending ls orders fulfilment --consumer worker-7",
)
POISON: Final = Finding(
    FindingCode.POISON,
    Health.WARN,
    "One entry was delivered 27 times and never acknowledged.",
    "Look at it: streamops pending ls emails mailer",
)
DEAD_LETTERS: Final = Finding(
    FindingCode.DEAD_LETTERS,
    Health.WARN,
    "18 dead letters, the last 2 min ago.",
    "Look at their reasons before you replay them.",
)
EVICTION: Final = Finding(
    FindingCode.EVICTION_RISK,
    Health.WARN,
    "maxmemory-policy is allkeys-lru: the server may delete streams when memory is short.",
    "Set maxmemory-policy to noeviction.",
)


def shop() -> Observation:
    """A shop: most of it fine, payments stalled, a crashed worker, a poison entry, dead letters."""
    return observation(
        _clicks(),
        _emails(),
        _inventory(),
        _orders(),
        _payments(),
        stream_view(
            "payments:dlq",
            length=18,
            findings=(DEAD_LETTERS,),
            role=StreamRole.DEAD_LETTERS,
            source="payments",
        ),
        _sensors(),
        findings=(EVICTION,),
        gaps=(ReadError("NOPERM: this user has no permission to run 'xinfo|groups'", stream="secrets"),),
    )


def _orders() -> StreamView:
    billing = invented.group(
        "billing",
        lag=3,
        waiting=seconds(0.4),
        pending=2,
        oldest=pending_entry(seconds(1.2)),
        oldest_age=seconds(1.2),
        members=(
            consumer("worker-1", pending=1, idle=seconds(0.2)),
            consumer("worker-2", pending=1, idle=seconds(0.3)),
        ),
        entries_read=48_117,
    )
    oldest = PendingEntry(entry_id(minutes(42)), "worker-7", minutes(41), 1)
    fulfilment = invented.group(
        "fulfilment",
        lag=0,
        pending=14,
        oldest=oldest,
        oldest_age=minutes(42),
        entries_read=48_120,
        members=(
            consumer("worker-5", pending=1, idle=seconds(0.1)),
            consumer("worker-6", pending=1, idle=seconds(0.6)),
            consumer("worker-7", pending=12, idle=minutes(41), inactive=minutes(41)),
        ),
        profile=PendingProfile(14, 1.0, (2, 0, 0, 0, 12, 0), (14, 0, 0, 0, 0), oldest, oldest),
    )
    reports = invented.group(
        "reports", lag=0, members=(consumer("nightly", idle=timedelta(hours=9)),), entries_read=48_120
    )
    return stream_view(
        "orders",
        group_view(
            "orders", billing, rates=moving(118.2, 117.9, 118.0), trend=(2, 5, 3, 4, 3, 2, 6, 3, 4, 3)
        ),
        group_view(
            "orders",
            fulfilment,
            DEAD_CONSUMER,
            rates=moving(118.2, 118.1, 117.2),
            trend=(0, 1, 0, 0, 2, 0, 0, 1, 0, 0),
        ),
        group_view("orders", reports, rates=moving(118.2, 118.2, 118.2), trend=(0,) * 10),
        length=48_120,
        added=118.2,
    )


def _payments() -> StreamView:
    lag = Lag(1204, 1204, 1204, LagBasis.REPORTED, "reported by the server, whose counters are sound")
    ledger = invented.group(
        "ledger",
        lag=lag,
        waiting=minutes(6),
        pending=5,
        oldest=pending_entry(minutes(6.2), idle=minutes(6.1), deliveries=2),
        oldest_age=minutes(6.2),
        members=(consumer("ledger-a", pending=5, idle=minutes(6.1), inactive=minutes(6.1)),),
        entries_read=9_031,
    )
    trend = (0, 0, 120, 260, 410, 560, 700, 860, 1010, 1204)
    return stream_view(
        "payments",
        group_view("payments", ledger, STALLED, rates=moving(3.3, 0.0, 0.0, 3.3), trend=trend),
        length=10_235,
        added=3.3,
    )


def _emails() -> StreamView:
    poison = pending_entry(timedelta(hours=3, minutes=2), consumer="mail-2", idle=seconds(38), deliveries=27)
    mailer = invented.group(
        "mailer",
        lag=41,
        waiting=seconds(2.1),
        pending=9,
        oldest=poison,
        oldest_age=timedelta(hours=3, minutes=2),
        members=(consumer("mail-1", pending=4), consumer("mail-2", pending=5)),
        entries_read=77_010,
        profile=PendingProfile(9, 1.0, (5, 3, 1, 0, 0, 0), (8, 0, 0, 0, 1), poison, poison),
    )
    return stream_view(
        "emails",
        group_view(
            "emails",
            mailer,
            POISON,
            rates=moving(20.1, 19.8, 19.8, 0.3),
            trend=(12, 18, 9, 22, 30, 28, 35, 33, 38, 41),
        ),
        length=77_051,
        added=20.1,
    )


def _clicks() -> StreamView:
    lag = Lag(
        None,
        0,
        1_203_551,
        LagBasis.UPPER,
        "entries were deleted ahead of the group, so the server's count is too high",
    )
    heatmap = invented.group(
        "heatmap",
        lag=lag,
        waiting=minutes(18),
        pending=64,
        oldest=pending_entry(seconds(9)),
        oldest_age=seconds(9),
        members=tuple(consumer(f"heat-{number}", pending=16) for number in range(4)),
    )
    return stream_view(
        "clicks",
        group_view(
            "clicks",
            heatmap,
            rates=moving(2_412, 2_380, 2_371, 32),
            trend=(None, None, 5, 6, 7, 7, 8, 9, 9, 10),
        ),
        length=1_999_872,
        added=2_412.0,
    )


def _inventory() -> StreamView:
    sync = invented.group("sync", members=(consumer("sync-1"),), entries_read=512)
    return stream_view(
        "inventory", group_view("inventory", sync, rates=moving(0, 0, 0), trend=(0,) * 10), length=512
    )


def _sensors() -> StreamView:
    lag = Lag(
        None,
        None,
        None,
        LagBasis.UNKNOWN,
        "the server gives no count, and counting was not finished within its budget",
    )
    store = invented.group("store", lag=lag, pending=0, members=(), position=EntryId(17, 3))
    store = replace(store, time_lag=TimeLag(None, "entry IDs are not times"))
    return stream_view("sensors", group_view("sensors", store, health=Health.UNKNOWN), length=31, added=None)


def entries(count: int = 40) -> tuple[StreamEntry, ...]:
    """Orders, one a second, the newest last."""
    return tuple(
        StreamEntry(
            entry_id(seconds(count - number)),
            (
                (b"type", b"order.paid" if number % 3 else b"order.placed"),
                (b"order", f"A-{10_000 + number}".encode()),
                (b"body", b'{"customer": "c-%d", "total": "%d.90", "lines": [1, 2]}' % (number * 7, number)),
            ),
        )
        for number in range(count)
    )


def pending_rows(count: int = 14) -> tuple[PendingEntry, ...]:
    """What ``worker-7`` left behind, and two fresh ones."""
    old = [
        PendingEntry(entry_id(minutes(42) - seconds(number)), "worker-7", minutes(41), 1)
        for number in range(count - 2)
    ]
    return (
        *old,
        pending_entry(seconds(2), consumer="worker-5"),
        pending_entry(seconds(1), consumer="worker-6"),
    )


def many(groups: int = 10_000, groups_per_stream: int = 2) -> Observation:
    """As many groups as asked for, all healthy."""
    names = [f"service-{number:05d}:events" for number in range(groups // groups_per_stream)]
    return observation(*(_small_stream(name, groups_per_stream, 0) for name in names), commands=groups)


def _small_stream(name: str, groups: int, round_number: int) -> StreamView:
    views = [
        group_view(
            name,
            invented.group(
                f"group-{number}",
                lag=round_number % 97,
                waiting=seconds(round_number % 7),
                pending=round_number % 13,
            ),
            rates=moving(10.5, 10.4, 10.3),
            trend=(1, 2, 3, 4, 5, 6, 7, 8, round_number % 9),
        )
        for number in range(groups)
    ]
    return stream_view(name, *views, length=1000 + round_number, added=10.5)


def changed(before: Observation, round_number: int, streams: int = 500) -> Observation:
    """The next observation: so many streams have moved, the others are the very same objects."""
    views = list(before.streams)
    step = max(len(views) // streams, 1)
    for index in range(round_number % step, len(views), step):
        old = views[index]
        views[index] = _small_stream(old.stream.name, len(old.groups), round_number + index)
    return replace(before, streams=tuple(views))
