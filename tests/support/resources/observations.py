"""One invented observation with something of everything that a table can meet."""

from datetime import timedelta

from streamops.model.entries import EntryId, PendingEntry
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
from streamops.model.streams import Consumer, ConsumerGroup, ReadError, StreamRole
from tests.support.invented import (
    NOW,
    entry_id,
    exact,
    group,
    minutes,
    pending_entry,
    seconds,
    snapshot,
    stream,
)

HOSTILE_NAME = "bad\udcff\x1b[31m\u202e"
FORMULA_NAME = "=cmd|' /C calc'!A0"

STALLED = Finding(
    FindingCode.STALLED,
    Health.CRITICAL,
    "3 entries are pending and none was acknowledged for 6 min",
    "Look at worker-1.",
)
GROWING = Finding(
    FindingCode.LAG_GROWING, Health.WARN, "the lag grew from 10 to 1,204 in 5 min", "Add consumers."
)
LETTERS = Finding(FindingCode.DEAD_LETTERS, Health.WARN, "2 dead letters of orders", "See why.")
EVICTION = Finding(FindingCode.EVICTION_RISK, Health.WARN, "allkeys-lru may evict streams", "Set noeviction.")

PROFILE = PendingProfile(
    scanned=3,
    coverage=0.75,
    idle_buckets=(0, 0, 1, 0, 2, 0),
    delivery_buckets=(2, 0, 0, 1, 0),
    longest_idle=PendingEntry(entry_id(minutes(40)), "worker-1", minutes(30), 9),
    most_delivered=PendingEntry(entry_id(minutes(40)), "worker-1", minutes(30), 9),
)


def view(
    owner: str,
    state: ConsumerGroup,
    *findings: Finding,
    rates: Rates | None = None,
    trend: tuple[int | None, ...] = (),
    health: Health | None = None,
) -> GroupView:
    worst = max((found.level for found in findings), default=Health.OK)
    return GroupView(
        owner, state, rates or Rates(), trend, None, findings, worst if health is None else health
    )


BILLING = view(
    "orders",
    group(
        "billing",
        lag=exact(1_204),
        waiting=seconds(250),
        pending=4,
        position=entry_id(minutes(5)),
        entries_read=8_796,
        oldest=pending_entry(minutes(40), idle=minutes(30), deliveries=9),
        oldest_age=minutes(40),
        members=(
            Consumer("worker-1", 4, minutes(30), minutes(31)),
            Consumer("worker-2", 0, timedelta(milliseconds=850), None),
        ),
        profile=PROFILE,
    ),
    STALLED,
    GROWING,
    rates=Rates(12.5, 3.25, 0.004, 9.25, minutes(5)),
    trend=(10, None, 400, 900, 1_204),
)
MAIL = view(
    "orders",
    group("mail", lag=Lag(None, 1, 5_000, LagBasis.UPPER, "this server's count may be too high"), pending=0),
)
AUDIT = view(
    "orders",
    ConsumerGroup(
        "audit",
        0,
        2,
        EntryId(5, 0),
        None,
        None,
        Lag(None, 1, 9_999, LagBasis.UNKNOWN, "the server reports no lag"),
        TimeLag(None, "unavailable: the ID 6-0 is not a timestamp"),
        PendingEntry(EntryId(4, 0), "gone", minutes(10), 1),
        None,
        None,
    ),
    health=Health.UNKNOWN,
)
ORDERS = StreamView(
    stream("orders", [BILLING.group, MAIL.group, AUDIT.group], length=10_000, entries_added=12_345),
    12.5,
    (),
    (BILLING, MAIL, AUDIT),
    Health.CRITICAL,
)
LETTERS_VIEW = StreamView(
    stream("orders:dlq", length=2, role=StreamRole.DEAD_LETTERS, source="orders"),
    None,
    (LETTERS,),
    (),
    Health.WARN,
)
HOSTILE = StreamView(stream(HOSTILE_NAME, length=0), None, (), (), Health.OK)
FORMULA = StreamView(stream(FORMULA_NAME, length=1), 0.0, (), (), Health.OK)

GAPS = (
    ReadError("no permission for this key", "secret"),
    ReadError("no answer in time", "orders", "mail", "consumers"),
)

OBSERVATION = Observation(
    snapshot(ORDERS.stream, LETTERS_VIEW.stream, HOSTILE.stream, FORMULA.stream, gaps=GAPS),
    NOW,
    (ORDERS, LETTERS_VIEW, HOSTILE, FORMULA),
    (EVICTION,),
    Health.CRITICAL,
)
NOTHING = Observation(snapshot(), NOW, (), (), Health.OK)
