"""Values: each is what was read, what is not known is not told, and nothing is made up."""

import re
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from streamops.exporter.series_limits import Granularity, SeriesLimits
from streamops.exporter.shown import ExporterHealth
from streamops.model.entries import EPOCH, EntryId
from streamops.model.observation import QueueCount, QueueMetrics
from streamops.model.pools import Lead, Pool, ScaleCode, Signals, WorkerHeartbeat, WorkerState
from streamops.model.streams import (
    MILLISECOND,
    NO_SUCH_STREAM,
    NO_TIME,
    ConsumerColumns,
    Members,
    Mode,
    ReadError,
    ServerInfo,
    Snapshot,
    StreamRole,
    StreamState,
)
from tests.support.exporter.readings import reading
from tests.support.exporter.samples import Told, told
from tests.support.exporter.whole import SCALED, WHOLE
from tests.support.invented import (
    NOW,
    bounded,
    consumer,
    entry_id,
    group,
    minutes,
    node,
    pending_entry,
    seconds,
    snapshot,
    stream,
)
from tests.support.tables import table

ORDERS, BILLING = ("0", "orders"), ("0", "orders", "billing")
AT = NOW.timestamp()


def of(*states: StreamState, extras: QueueMetrics | None = None) -> Told:
    return told(reading(snapshot(*states), extras=extras or QueueMetrics()))


def test_samples_of_a_stream_tell_length_additions_and_times() -> None:
    found = of(stream(length=40, entries_added=100, max_deleted_id=entry_id(minutes(61)), groups=[group()]))
    assert found["stream_length"] == {ORDERS: 40}
    assert found["stream_entries_added_total"] == {ORDERS: 100}
    assert found["stream_removed_entries_total"] == {ORDERS: 0}
    assert found["stream_groups"] == {ORDERS: 1}
    assert found["stream_first_entry_timestamp_seconds"] == {ORDERS: AT - 3600}
    assert found["stream_last_generated_timestamp_seconds"] == {ORDERS: AT}
    assert found["stream_max_deleted_timestamp_seconds"] == {ORDERS: AT - 3660}


def test_what_only_some_know_of_a_stream() -> None:
    found = of(stream(), stream("pay"), extras=QueueMetrics(memory={"orders": 4096}, max_lengths={"pay": 10}))
    assert found["stream_memory_bytes"] == {ORDERS: 4096}
    assert found["stream_max_length"] == {("0", "pay"): 10}


@table("odd", [EntryId(1, 1), EntryId(0, 0), entry_id(minutes(-2)), EntryId(2**64 - 1, 0)])
def test_ids_that_are_no_times_are_not_told_as_such(odd: EntryId) -> None:
    found = of(
        stream(
            first_id=odd,
            last_generated_id=odd,
            max_deleted_id=odd,
            groups=[group(position=odd, pending=1, oldest=replace(pending_entry(), id=odd))],
        )
    )
    for name in (
        "stream_first_entry_timestamp_seconds",
        "stream_last_generated_timestamp_seconds",
        "stream_max_deleted_timestamp_seconds",
        "group_last_delivered_timestamp_seconds",
        "group_oldest_pending_entry_timestamp_seconds",
    ):
        assert not found[name], name


def test_samples_of_a_group_tell_lag_pending_and_ages() -> None:
    oldest = pending_entry(minutes(5), idle=seconds(90), deliveries=3)
    members = [consumer("a", idle=seconds(60)), consumer("b", idle=seconds(60.1))]
    found = of(
        stream(
            groups=[
                group(
                    lag=7,
                    waiting=seconds(2.5),
                    pending=4,
                    position=entry_id(seconds(30)),
                    oldest=oldest,
                    oldest_age=minutes(5),
                    members=members,
                )
            ]
        )
    )
    assert {name: values[BILLING] for name, values in found.items() if BILLING in values} == {
        "group_lag_entries": 7,
        "group_lag_known": 1,
        "group_lag_upper_bound_entries": 7,
        "group_time_lag_seconds": 2.5,
        "group_pending_entries": 4,
        "group_consumers": 2,
        "group_active_consumers": 1,
        "group_last_delivered_timestamp_seconds": AT - 30,
        "group_oldest_pending_entry_timestamp_seconds": AT - 300,
        "group_oldest_pending_delivered_timestamp_seconds": AT - 90,
        "group_oldest_pending_deliveries": 3,
        "group_delivered_entries_total": 0,
        "group_acked_entries_total": 0,
        "group_lost_entries_total": 0,
        "group_lost_upper_bound_entries": 0,
        "group_dangling_pending_entries": 0,
        "group_rewinds_total": 0,
    }


def test_a_lag_that_is_not_certain_is_told_by_its_bound_alone() -> None:
    found = of(stream(groups=[group(lag=bounded(1, 9), waiting=None)]))
    assert found["group_lag_known"] == {BILLING: 0}
    assert found["group_lag_upper_bound_entries"] == {BILLING: 9}
    assert not found["group_lag_entries"]
    assert not found["group_time_lag_seconds"]
    assert not of(stream(groups=[group(lag=bounded(None, None))]))["group_lag_upper_bound_entries"]


@pytest.mark.parametrize(
    ("version", "role", "lag", "members", "active"),
    [
        pytest.param((8, 0, 0), "master", 0, [consumer()], 1, id="seen"),
        pytest.param((8, 0, 0), "master", 0, [], 0, id="nobody"),
        pytest.param((8, 0, 0), "master", 0, None, None, id="not read"),
        pytest.param((7, 0, 15), "master", 0, [consumer(idle=minutes(5))], None, id="nothing to ask for"),
        pytest.param(
            (7, 0, 15), "master", 3, [consumer(idle=minutes(5))], 0, id="entries, and nobody takes them"
        ),
        pytest.param((7, 0, 15), "master", 0, [], 0, id="nobody, on an old server"),
        pytest.param((8, 0, 0), "slave", 0, [consumer()], None, id="a replica"),
    ],
)
def test_consumers_are_active_where_idle_times_tell_so(
    version: tuple[int, int, int], role: str, lag: int, members: list[object] | None, active: int | None
) -> None:
    one = group(lag=lag, members=members, consumers=5)  # type: ignore[arg-type]  # consumers, all of them
    found = told(reading(snapshot(stream(groups=[one]), nodes=[node(version=version, role=role)])))
    assert found["group_active_consumers"] == ({} if active is None else {BILLING: active})
    assert found["group_consumers"] == {BILLING: 5}


def test_samples_of_a_consumer_tell_pending_and_when_it_was_seen() -> None:
    one = replace(consumer("w", pending=2, idle=seconds(3), inactive=seconds(4)), oldest_delivered=seconds(5))
    found = of(stream(groups=[group(members=[one])]))
    labels = (*BILLING, "w")
    assert {name: values[labels] for name, values in found.items() if labels in values} == {
        "consumer_pending_entries": 2,
        "consumer_last_seen_timestamp_seconds": AT - 3,
        "consumer_last_active_timestamp_seconds": AT - 4,
        "consumer_oldest_pending_delivered_timestamp_seconds": AT - 5,
    }


def test_what_stands_still_does_not_seem_to_move() -> None:
    """The clock and the idle time are read at moments that lie apart a little more or less each time."""
    seen = set()
    for jitter in range(-5, 6):
        idle = minutes(5) + timedelta(milliseconds=50 + jitter)
        one = of(stream(groups=[group(members=[consumer("w", pending=1, idle=idle)])]))
        seen |= set(one["consumer_last_seen_timestamp_seconds"].values())
    assert seen == {AT - 300.1}


def seen_at(*ahead: timedelta) -> Snapshot:
    """A group whose consumers were seen, fed and given their pending entries so long after now."""
    now = (NOW - EPOCH) // MILLISECOND
    instants = tuple([now + span // MILLISECOND for span in ahead])
    names = tuple([f"w{number}" for number in range(len(ahead))])
    seen = ConsumerColumns(names, (1,) * len(ahead), instants, instants, instants)
    return snapshot(stream(groups=[replace(group(), members=Members(seen, now))]))


INSTANTS = (
    "consumer_last_seen_timestamp_seconds",
    "consumer_last_active_timestamp_seconds",
    "consumer_oldest_pending_delivered_timestamp_seconds",
)


def test_a_consumer_that_was_seen_ahead_of_the_clock_has_no_negative_age() -> None:
    """By a little it was seen just now; by more, the clock was set back, and it is not known when."""
    found = told(reading(seen_at(-seconds(3), seconds(2), minutes(10))))
    for name in INSTANTS:
        assert found[name] == {(*BILLING, "w0"): AT - 3, (*BILLING, "w1"): AT}
    assert found["consumer_pending_entries"] == {(*BILLING, f"w{number}"): 1 for number in range(3)}
    assert not found["group_active_consumers"]
    assert told(reading(seen_at(-seconds(3), seconds(2))))["group_active_consumers"] == {BILLING: 2}


def test_what_was_ahead_of_the_clock_is_told_once_it_is_not() -> None:
    """The same instants, by a clock that goes on, and by one that is set back again."""
    ahead = seen_at(minutes(10))

    def seen(at: timedelta) -> list[float]:
        later = replace(ahead, collected_at=NOW + at)
        return [*told(reading(later))["consumer_last_seen_timestamp_seconds"].values()]

    assert [seen(at) for at in (NO_TIME, minutes(20), NO_TIME)] == [[], [AT + 600], []]


def test_a_consumer_of_an_old_server_and_of_a_replica() -> None:
    old = of(stream(groups=[group(members=[consumer("w", inactive=None)])]))
    assert not old["consumer_last_active_timestamp_seconds"]
    there = snapshot(stream(groups=[group(members=[consumer("w")])]), nodes=[node(role="slave")])
    replica = told(reading(there))
    assert replica["consumer_pending_entries"] == {(*BILLING, "w"): 0}
    assert not replica["consumer_last_seen_timestamp_seconds"]


def test_status_names_what_holds() -> None:
    quiet, unknown = group("a"), group("b", lag=bounded(0, 5))
    idle = group("c", lag=5, waiting=minutes(30), members=[], consumers=0)
    before = snapshot(stream(groups=[quiet, unknown, idle]), at=-minutes(30))
    found = told(reading(before, snapshot(stream(groups=[quiet, unknown, idle]))))["group_status"]
    assert {labels[2]: set() for labels in found} == {"a": set(), "b": set(), "c": set()}
    assert {labels[3] for labels in found if labels[2] == "a"} == {"ok"}
    assert {labels[3] for labels in found if labels[2] == "b"} == {"unknown"}
    assert "no_consumers" in {labels[3] for labels in found if labels[2] == "c"}
    assert set(found.values()) == {1}


def test_counters_come_from_what_was_counted() -> None:
    before = snapshot(stream(groups=[group(lag=8, position=entry_id(seconds(9)), entries_read=92)]))
    after = snapshot(
        stream(
            entries_added=102,
            groups=[group(lag=5, position=entry_id(seconds(5)), entries_read=97, pending=2)],
        ),
        at=seconds(15),
    )
    found = told(reading(before, after))
    assert found["group_delivered_entries_total"] == {BILLING: 5}
    assert found["group_acked_entries_total"] == {BILLING: 3}
    assert not found["group_count_gaps_total"]


def test_gaps_are_counted_by_part() -> None:
    gaps = [
        ReadError("loading", part="node 127.0.0.1:7000"),
        ReadError("loading", part="node 127.0.0.1:7001"),
        ReadError("denied", part="server clock"),
        ReadError("denied", "secrets", denied=True),
        ReadError("denied", "orders", "billing", "consumers"),
        ReadError("denied", "orders", "audit", "consumers"),
        # Somebody asked for it, and there is none.
        ReadError(NO_SUCH_STREAM, "no-such"),
    ]
    one = reading(snapshot(stream(groups=[group()]), gaps=gaps), extras=QueueMetrics(unread=("memory",)))
    assert told(one)["scrape_partial_failures"] == {
        ("nodes",): 2,
        ("server clock",): 1,
        ("streams",): 1,
        ("consumers",): 2,
        ("memory",): 1,
    }
    hidden = SeriesLimits(exclude=(re.compile("secrets"),), granularity=Granularity.STREAM)
    assert told(one, hidden)["scrape_partial_failures"] == {
        ("nodes",): 2,
        ("server clock",): 1,
        ("memory",): 1,
    }


def test_consumers_beyond_the_limit_of_reading_are_omitted_and_no_gap() -> None:
    crowded = group(consumers=5_000, members=None)
    gap = ReadError("5,000 consumers", "orders", "billing", "consumers", capped=True)
    found = told(reading(snapshot(stream(groups=[crowded]), gaps=[gap])))
    assert not found["scrape_partial_failures"]
    assert found["series_omitted"] == {("consumer", "max_consumers"): 5_000}


def test_a_step_that_cannot_be_told_is_told() -> None:
    assert told(WHOLE)["group_count_gaps_total"] == {
        (*BILLING, "delivered"): 1,
        (*BILLING, "acked"): 1,
        (*BILLING, "lost"): 1,
    }
    assert told(WHOLE)["group_rewinds_total"] == {BILLING: 1}


def test_samples_of_dead_letters_tell_their_source() -> None:
    letters = stream("orders:dlq", length=3, entries_added=5, role=StreamRole.DEAD_LETTERS, source="orders")
    stray = stream("odd:dlq", length=0, role=StreamRole.DEAD_LETTERS)
    found = of(letters, stray, stream())
    known, unknown = ("0", "orders:dlq", "orders"), ("0", "odd:dlq", "")
    assert found["dlq_entries"] == {known: 3, unknown: 0}
    assert found["dlq_entries_added_total"] == {known: 5, unknown: 100}
    assert found["dlq_oldest_timestamp_seconds"] == {known: AT - 3600}
    assert found["stream_length"][("0", "orders:dlq")] == 3


def test_delayed_messages() -> None:
    queues = (QueueCount("{orders}:delayed", 3, 2, NOW - seconds(4)), QueueCount("later", 0, None, None))
    found = of(extras=QueueMetrics(queues=queues))
    known, other = ("0", "{orders}:delayed"), ("0", "later")
    assert found["delayed_entries"] == {known: 3, other: 0}
    assert found["delayed_due_entries"] == {known: 2}
    assert found["delayed_next_due_timestamp_seconds"] == {known: AT - 4}


def heart(app: str, slots: int, busy: int, state: WorkerState) -> WorkerHeartbeat:
    return WorkerHeartbeat(
        id="w", host="h", pid=1, app=app, pool="shop", consumers=(), slots=slots, busy=busy, state=state
    )


def test_workers_are_added_up() -> None:
    workers = (
        heart("a", 8, 3, WorkerState.RUNNING),
        heart("a", 8, 8, WorkerState.RUNNING),
        heart("a", 4, 0, WorkerState.DRAINING),
        heart("\udcff", 1, 0, WorkerState.RUNNING),
        heart("\\xff", 2, 1, WorkerState.RUNNING),
    )
    found = of(extras=QueueMetrics(workers=workers, paused={"shop": True, "till": False}))
    odd = ("shop", "\\xff")
    assert found["workers"] == {
        ("shop", "a", "running"): 2,
        ("shop", "a", "draining"): 1,
        (*odd, "running"): 2,
    }
    assert found["worker_slots"] == {("shop", "a"): 20, odd: 3}
    assert found["worker_busy"] == {("shop", "a"): 11, odd: 1}
    assert found["pool_paused"] == {("shop",): 1, ("till",): 0}


POOL = ("shop",)
SIGNALS = {
    "arrivals_per_second": 110.5,
    "expected_arrivals_per_second": 121,
    "worker_entries_per_second": 36.25,
    "wait_seconds": 4.1,
    "predicted_wait_seconds": 8.3,
    "objective_seconds": 10,
    "busy_ratio": 0.98,
    "startup_seconds": 3.2,
    "capped_replicas": 6,
}
"""Signals of the last decision about the pool ``SCALED``."""
NUMBERS = ("current_replicas", "desired_replicas", "min_replicas", "max_replicas")


def scaled(*pools: Pool, now: datetime | None = NOW) -> Told:
    """What is told of pools, without the prefix."""
    found = of(extras=QueueMetrics(pools=pools, pools_at=now))
    return {
        name.removeprefix("autoscaler_"): values
        for name, values in found.items()
        if name.startswith("autoscaler_")
    }


def test_pools_and_their_controllers() -> None:
    found = scaled(SCALED)
    assert [found[name] for name in NUMBERS] == [{POOL: 2}, {POOL: 4}, {POOL: 1}, {POOL: 8}]
    assert found["decisions_total"] == {(*POOL, "up", "backlog"): 1, (*POOL, "hold", "steady"): 700}
    assert found["info"] == {(*POOL, "orders", "billing"): 1}
    assert found["apply_errors_total"] == {POOL: 3}
    assert found["last_evaluation_timestamp_seconds"] == {POOL: AT - 2}
    assert {name: found[name] for name in SIGNALS} == {name: {POOL: value} for name, value in SIGNALS.items()}


@pytest.mark.parametrize(
    "pool", [replace(SCALED, lead=None), replace(SCALED, lead=Lead(holder="web-1", until=NOW, term=2))]
)
def test_a_controller_that_is_gone_leaves_its_counts_and_when_it_was_there(pool: Pool) -> None:
    found = scaled(pool)
    assert not any(found[name] for name in (*NUMBERS, *SIGNALS))
    assert found["last_evaluation_timestamp_seconds"] == {POOL: AT - 2}
    assert found["decisions_total"]
    assert scaled(SCALED, now=None)["desired_replicas"] == {}


def test_a_pool_without_a_controller_for_a_day_is_told_no_more() -> None:
    day = timedelta(days=1)
    assert scaled(SCALED, now=NOW + day - seconds(3))["apply_errors_total"] == {POOL: 3}
    assert not any(scaled(SCALED, now=NOW + day - seconds(2)).values())


def test_a_pool_that_cannot_be_read_has_limits_and_no_sizes() -> None:
    assert SCALED.last is not None
    blind = replace(SCALED, last=replace(SCALED.last, code=ScaleCode.UNREADABLE, signals=Signals()))
    found = scaled(blind)
    assert [found[name] for name in NUMBERS] == [{}, {}, {POOL: 1}, {POOL: 8}]
    assert not any(found[name] for name in SIGNALS)
    assert found["last_evaluation_timestamp_seconds"] == {POOL: AT - 2}


def test_a_signal_that_is_not_known_is_absent() -> None:
    assert SCALED.last is not None
    young = replace(SCALED, last=replace(SCALED.last, signals=Signals(lag=3, objective=30.0)))
    found = scaled(young)
    assert {name: found[name] for name in SIGNALS if found[name]} == {"objective_seconds": {POOL: 30}}


def test_pools_without_a_controller_and_pools_that_print_alike_are_left_out() -> None:
    strange = replace(SCALED, decisions={("up", "\udcff"): 1, ("up", "\\xff"): 2, ("up", "trend"): 3})
    assert scaled(strange)["decisions_total"] == {(*POOL, "up", "trend"): 3}
    odd, twin = replace(SCALED, name="\udcff"), replace(SCALED, name="\\xff")
    found = scaled(Pool(name="by hand"), odd, twin)
    assert found["desired_replicas"] == {("\\xff",): 4}
    assert {labels[0] for labels in found["decisions_total"]} == {"\\xff"}


def test_samples_of_servers_tell_memory_and_version_of_each_node() -> None:
    nodes = [
        node(address="a:1", max_memory=100),
        node(address="b:2", used_memory=None, policy="", role="slave"),
    ]
    found = told(reading(snapshot(nodes=nodes)))
    assert found["redis_info"] == {
        ("a:1", "redis", "8.0.0", "master", "standalone"): 1,
        ("b:2", "redis", "8.0.0", "slave", "standalone"): 1,
    }
    assert found["redis_memory_used_bytes"] == {("a:1",): 2**20}
    assert found["redis_memory_max_bytes"] == {("a:1",): 100}
    assert found["redis_config_info"] == {("a:1", "noeviction"): 1}


def test_the_exporter_itself() -> None:
    health = ExporterHealth(
        phases={"collect": 0.5}, commands=7, errors={"connect": 3}, discovered=9, version="1", python="3"
    )
    found = told(reading(snapshot(), health=health))
    assert found["up"] == {(): 1}
    assert found["scrape_duration_seconds"] == {("collect",): 0.5}
    assert found["scrape_commands"] == {(): 7}
    assert found["snapshot_timestamp_seconds"] == {(): AT}
    assert found["discovered_streams"] == {(): 9}
    assert found["collect_errors_total"] == {("connect",): 3}
    assert found["build_info"] == {("1", "3"): 1}


def test_the_database_is_the_first_label() -> None:
    one = snapshot(stream())
    other: Snapshot = replace(one, server=ServerInfo(Mode.STANDALONE, 3, one.server.nodes))
    assert told(reading(other))["stream_length"] == {("3", "orders"): 100}


def test_idle_times_beyond_the_epoch_are_told_all_the_same() -> None:
    found = of(stream(groups=[group(members=[consumer("w", pending=1, idle=timedelta(days=30_000))])]))
    (seen,) = found["consumer_last_seen_timestamp_seconds"].values()
    assert seen == AT - 30_000 * 86_400
