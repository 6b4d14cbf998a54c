"""Overload drills: what is drilled, how it goes, and the verdict."""

from datetime import timedelta
from typing import Final

from msgspec import Struct

ENTRY_BYTES: Final = 184
"""What an event takes on the server, at most."""
DELAYED_BYTES: Final = 600


class DrillPlan(Struct, frozen=True, kw_only=True):
    """An overload drill.

    Attributes:
        events: Events of the burst.
        slots: What a worker handles at once.
        minimum: The least worker processes.
        maximum: The most of them; the same as the least if their number is fixed.
        least: How long an event takes at least.
        most: How long it takes at most.
        errors: Per cent of the events that fail whenever they are tried; as many again fail once.
    """

    events: int = 50_000
    slots: int = 32
    minimum: int = 2
    maximum: int = 2
    least: timedelta = timedelta(milliseconds=50)
    most: timedelta = timedelta(milliseconds=100)
    errors: float = 1.0

    @property
    def speed(self) -> float:
        """Events a second that one worker handles if its slots are always busy."""
        mean = max((self.least + self.most) / 2, timedelta(microseconds=1))
        return self.slots / mean.total_seconds()

    @property
    def memory(self) -> int:
        """Bytes that the server needs, at most."""
        return self.events * ENTRY_BYTES + round(self.events * self.errors / 50) * DELAYED_BYTES

    @property
    def ideal(self) -> timedelta:
        """How long it takes if every slot of the most workers is always busy and nothing fails."""
        return self.events * (self.least + self.most) / 2 / (self.slots * self.maximum)


class DrillProgress(Struct, frozen=True, kw_only=True):
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

    at: timedelta = timedelta(0)
    lag: int = 0
    pending: int = 0
    retrying: int = 0
    handled: int = 0
    per_second: float = 0.0
    workers: int = 0
    dead_letters: int = 0
    note: str = ""


class DrillVerdict(Struct, frozen=True, kw_only=True):
    """What became of every event, by the drill's own ledger.

    Attributes:
        events: How many there were.
        handled: How many were handled.
        dead_letters: Entries in the dead-letter queue.
        to_fail: How many had to end there.
        lost: Events that were neither handled nor given up.
        astray: Events that ended where they should not: given up and handled, given up twice, or for no reason.
        repeated: How often an event was handled again, as happens to those in flight at a worker that is killed.
        lag: What was left that no worker was given.
        pending: What was left pending.
        retrying: What was left waiting for another try.
        killed: Workers that were killed.
        took: From the burst to the last event.
        could: What the workers that there were could have done it in, each slot always busy.
        most_workers: The most workers there were.
        last_workers: The workers there were at the end.
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
    took: timedelta
    could: timedelta
    most_workers: int
    last_workers: int

    @property
    def accounted(self) -> bool:
        """Whether every event was handled or given up, and none was both."""
        return not self.lost and not self.astray and self.handled + self.dead_letters == self.events

    def passes(self, plan: DrillPlan) -> bool:
        """Whether everything is as it must be: nothing lost or left over, and no more workers than were needed."""
        left = self.lag + self.pending + self.retrying
        rested = self.last_workers <= plan.minimum
        return self.accounted and self.dead_letters == self.to_fail and not left and rested
