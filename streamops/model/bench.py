"""Benchmarks and drills: what is measured, what it came to, and how a drill goes."""

from datetime import timedelta
from typing import Final

from msgspec import Struct

MEASURES: Final = ("produce", "consume", "latency")
ENTRY_BYTES: Final = 120
"""What an entry takes besides its fields, at most, on the server."""

DELAYED_BYTES: Final = 600
LATENCY_SECONDS: Final = 5
MOST_DELAYED: Final = 500


class BenchPlan(Struct, frozen=True, kw_only=True):
    """What is to be measured.

    Attributes:
        measures: Which of ``MEASURES``.
        entries: How many entries each measurement takes; publishing one by one a tenth of them.
        size: Bytes of an entry's body.
        concurrency: How many publish, or are handled, at once.
        workers: Worker processes that drain.
        batch: Entries in one call that publishes many.
        rate: Entries a second where latency is measured.
        bare: Whether a bare redis-py loop is measured beside each.
        keep: Whether the keys stay for an hour.
    """

    measures: tuple[str, ...] = MEASURES
    entries: int = 50_000
    size: int = 64
    concurrency: int = 32
    workers: int = 1
    batch: int = 500
    rate: float = 200.0
    bare: bool = False
    keep: bool = False

    @property
    def one_by_one(self) -> int:
        """Entries that are published one by one."""
        return max(1, self.entries // 10)

    @property
    def paced(self) -> int:
        """Entries whose latency is measured."""
        return max(1, min(self.entries, round(self.rate * LATENCY_SECONDS)))

    @property
    def delayed(self) -> int:
        """Delayed messages whose promotion is measured."""
        return min(self.entries, MOST_DELAYED)

    @property
    def at_a_time(self) -> int:
        """Entries that are on the server at one time, at most, where no keys stay."""
        return self.entries if {"produce", "consume"} & set(self.measures) else self.paced

    @property
    def memory(self) -> int:
        """Bytes that the server needs at one time, at most; several times that where all keys stay."""
        delayed = self.delayed if "latency" in self.measures else 0
        streams = 3 if self.keep else 1
        return streams * self.at_a_time * (self.size + ENTRY_BYTES) + delayed * (self.size + DELAYED_BYTES)


class Figure(Struct, frozen=True, kw_only=True):
    """One measurement.

    Attributes:
        measure: Which one.
        what: The same in words.
        entries: How many entries it took.
        took: How long it took.
        per_second: Entries a second; none where a latency was measured.
        p50: The median; none where a rate was measured.
        p99: What one of a hundred exceeds.
        longest: The longest.
        bare_per_second: The rate of a bare redis-py loop; none where it was not measured.
        bare_p50: Its median.
    """

    measure: str
    what: str
    entries: int
    took: timedelta
    per_second: float | None = None
    p50: timedelta | None = None
    p99: timedelta | None = None
    longest: timedelta | None = None
    bare_per_second: float | None = None
    bare_p50: timedelta | None = None

    @property
    def of_bare(self) -> float | None:
        """The figure as a multiple of the bare one, a rate or a median; none where there is none."""
        if self.per_second is not None and self.bare_per_second:
            return self.per_second / self.bare_per_second
        return self.p50 / self.bare_p50 if self.p50 is not None and self.bare_p50 else None


class DrillPlan(Struct, frozen=True, kw_only=True):
    """An overload drill.

    Attributes:
        events: Events of the burst.
        slots: What a worker handles at once.
        workers: Worker processes.
        least: How long an event takes at least.
        most: How long it takes at most.
        errors: Per cent of the events that fail whenever they are tried; as many again fail once.
        stop_half: Whether half the workers are killed on the way, and return.
        seed: What the events are drawn by: the same seed, the same events.
        keep: Whether the keys stay for an hour.
        rest_at: Workers to wait for once all is done, where their number follows the work; none for not at all.
    """

    events: int = 50_000
    slots: int = 32
    workers: int = 2
    least: timedelta = timedelta(milliseconds=50)
    most: timedelta = timedelta(milliseconds=100)
    errors: float = 1.0
    stop_half: bool = True
    seed: int = 1
    keep: bool = False
    rest_at: int | None = None

    @property
    def speed(self) -> float:
        """Events a second that one worker handles where its slots are always busy."""
        mean = max((self.least + self.most) / 2, timedelta(microseconds=1))
        return self.slots / mean.total_seconds()

    @property
    def memory(self) -> int:
        """Bytes that the server needs, at most."""
        return self.events * (64 + ENTRY_BYTES) + round(self.events * self.errors / 50) * DELAYED_BYTES

    @property
    def ideal(self) -> timedelta:
        """How long it takes where every slot is always busy and nothing fails."""
        return self.events * (self.least + self.most) / 2 / (self.slots * self.workers)


class DrillMoment(Struct, frozen=True, kw_only=True):
    """How a drill stands at a moment.

    Attributes:
        at: Time since the burst began.
        lag: Events that no worker was given.
        pending: Events with a worker, not acknowledged.
        retrying: Events that wait for their next try.
        handled: Events that were handled, each counted once.
        per_second: How many of them a second since the last moment.
        workers: Worker processes at work.
        dead_letters: Events given up.
        note: What was done to the workers.
    """

    at: timedelta
    lag: int
    pending: int
    retrying: int
    handled: int
    per_second: float
    workers: int
    dead_letters: int
    note: str = ""


class DrillVerdict(Struct, frozen=True, kw_only=True):
    """What became of every event, by the drill's own ledger.

    Attributes:
        events: How many there were.
        handled: How many were handled.
        dead_letters: Letters in the dead-letter queue.
        to_fail: How many had to end there.
        lost: Events that were neither handled nor given up.
        astray: Events that ended where they should not: given up and handled, given up twice, or for no reason.
        repeated: How often an event was handled again, as happens to those in the hands of a worker that is killed.
        lag: What was left that no worker was given.
        pending: What was left pending.
        retrying: What was left waiting for another try.
        killed: Workers that were killed.
        returned: Workers that came back.
        took: From the burst to the last event.
        could: What the workers that there were could have done it in, each slot always busy.
        most: The most workers there were.
        rested: The workers there were at the end.
    """

    events: int
    handled: int
    dead_letters: int
    to_fail: int
    lost: int
    astray: int
    repeated: int
    lag: int
    pending: int
    retrying: int
    killed: int
    returned: int
    took: timedelta
    could: timedelta
    most: int
    rested: int

    @property
    def accounted(self) -> bool:
        """Whether every event was handled or given up, and none was both."""
        return not self.lost and not self.astray and self.handled + self.dead_letters == self.events

    @property
    def passed(self) -> bool:
        """Whether everything is as it must be."""
        left = self.lag + self.pending + self.retrying
        return self.accounted and self.dead_letters == self.to_fail and not left
