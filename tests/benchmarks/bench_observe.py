"""What history, rates and assessment cost: ``python -m tests.benchmarks.bench_observe``."""

import gc
import tracemalloc
from collections.abc import Callable
from statistics import median
from time import process_time

from streamops.model.observation import Health
from streamops.model.streams import Consumer, Snapshot, StreamState
from streamops.monitor.observe import Observer
from streamops.monitor.thresholds import Thresholds
from tests.support.invented import consumer, entry_id, group, pending_entry, seconds, snapshot, stream

STREAMS = 5_000
STREAMS_WEIGHED = 200
GROUPS_EACH = 2
INTERVAL = seconds(5)
"""At this interval every reading is kept, which is the dearest case."""
POLLS = 75
"""Enough to fill the trends."""
MEASURED = 10
PER_SECOND = 20

MakeSnapshot = Callable[[int, int], Snapshot]


def quiet(streams: int, poll: int) -> Snapshot:
    """Groups that are caught up, on streams where nothing happens."""
    members = _members(pending=0)
    return snapshot(
        *(
            stream(f"s:{number}", [group(name, entries_read=100, members=members) for name in "ab"])
            for number in range(streams)
        ),
        at=poll * INTERVAL,
    )


def busy(streams: int, poll: int) -> Snapshot:
    """Groups that work, with a lag and pending entries that go up and down."""
    members = _members(pending=4)
    return snapshot(
        *(_busy_stream(number, poll, members) for number in range(streams)),
        at=poll * INTERVAL,
    )


def _members(pending: int) -> tuple[Consumer, ...]:
    return tuple(consumer(f"worker-{number}", pending=pending, idle=seconds(number)) for number in range(3))


def _busy_stream(number: int, poll: int, members: tuple[Consumer, ...]) -> StreamState:
    at = poll * INTERVAL
    added = 1_000 + PER_SECOND * INTERVAL.seconds * poll
    lag = 5 + (poll * 7 + number) % 11
    groups = [
        group(
            name,
            lag=lag,
            waiting=seconds(1),
            pending=12 + (poll + number) % 5,
            position=entry_id(seconds(1) - at, seq=number),
            entries_read=added - lag,
            oldest=pending_entry(seconds(2) - at),
            oldest_age=seconds(2),
            members=members,
        )
        for name in "ab"
    ]
    last = entry_id(-at, seq=number)
    return stream(f"s:{number}", groups, length=added, entries_added=added, last_generated_id=last)


def measure_time(make: MakeSnapshot) -> list[float]:
    """Processor time of the last observations, in microseconds a group."""
    observer, costs = Observer(Thresholds()), []
    for poll in range(POLLS):
        reading = make(STREAMS, poll)
        gc.collect()
        started = process_time()
        observation = observer.observe(reading)
        costs.append((process_time() - started) / (STREAMS * GROUPS_EACH) * 1e6)
        if observation.health is not Health.OK:
            raise SystemExit("something is wrong with the invented groups: the measurement means nothing")
        # Else the next measurement would pay for freeing it, with the whole snapshot that it holds.
        del observation
    return costs[-MEASURED:]


def measure_memory(make: MakeSnapshot) -> float:
    """What the history of a group weighs when it is full, in KiB."""
    observer = Observer(Thresholds())
    tracemalloc.start()
    for poll in range(POLLS):
        observer.observe(make(STREAMS_WEIGHED, poll))
    gc.collect()
    weight, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return weight / 1024 / (STREAMS_WEIGHED * GROUPS_EACH)


def main() -> None:
    """Measure both kinds of load."""
    print(f"{STREAMS * GROUPS_EACH:,} groups on {STREAMS:,} streams, three consumers each, nothing wrong")
    for make in (quiet, busy):
        costs, weight = measure_time(make), measure_memory(make)
        print(
            f"{make.__name__}: {median(costs):.1f} µs a group (slowest poll {max(costs):.1f}), "
            f"history {weight:.1f} KiB a group"
        )


if __name__ == "__main__":
    main()
