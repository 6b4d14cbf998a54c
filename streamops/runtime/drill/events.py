"""The events of a drill, and what became of them by the ledger and the dead letters, without asking the runtime: pure."""

import random
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from streamops.model.drill import DrillPlan, DrillVerdict
from streamops.wire.consuming.drilling import DrillCounts

ALWAYS: Final = 1_000
SEED: Final = 1


class DrillEvent(Struct, frozen=True):
    """An event of a drill.

    Attributes:
        number: Which one, from 0 on.
        work: Seconds that handling it takes.
        fails: Attempts that fail, from the first on.
    """

    number: int
    work: float
    fails: int = 0


def draw_events(plan: DrillPlan) -> list[DrillEvent]:
    """All events, in the order of their numbers; the same plan draws the same ones."""
    drawn = random.Random(SEED)  # noqa: S311 - no cryptography
    least, most = plan.least.total_seconds(), plan.most.total_seconds()
    failing = drawn.sample(range(plan.events), 2 * erring(plan))
    fails = dict.fromkeys(failing[::2], ALWAYS) | dict.fromkeys(failing[1::2], 1)
    return [
        DrillEvent(number, round(drawn.uniform(least, most), 6), fails.get(number, 0))
        for number in range(plan.events)
    ]


def erring(plan: DrillPlan) -> int:
    """How many events fail whenever they are tried; as many fail once."""
    return min(plan.events // 2, round(plan.events * plan.errors / 100))


def to_fail(events: Sequence[DrillEvent]) -> set[int]:
    """The numbers of those that have to end in the dead-letter queue."""
    return {event.number for event in events if event.fails == ALWAYS}


class WorkerCounts(NamedTuple):
    """How many workers were killed, the most there were, and how many there were at the end."""

    killed: int = 0
    most: int = 0
    last: int = 0


class Capacity(NamedTuple):
    """What the workers could have done by now, each slot always busy.

    Attributes:
        events: So many events.
        at: When that was, since the burst began.
        enough: When it was as many as there are; none before that.
    """

    events: float = 0.0
    at: timedelta = timedelta(0)
    enough: timedelta | None = None

    def later(self, at: timedelta, speed: float, events: int) -> "Capacity":
        """The same a little later.

        Args:
            at: When.
            speed: Events a second that the workers could handle since.
            events: How many there are.
        """
        could = self.events + speed * (at - self.at).total_seconds()
        enough = self.enough
        if enough is None and could >= events:
            enough = at - timedelta(seconds=(could - events) / speed)
        return Capacity(could, at, enough)


def judge(
    handled: Collection[int],
    dead: Sequence[int],
    events: Sequence[DrillEvent],
    standing: DrillCounts,
    *,
    workers: WorkerCounts,
    took: timedelta,
    could: timedelta | None = None,
) -> DrillVerdict:
    """The verdict.

    Args:
        handled: The numbers that the ledger has.
        dead: The numbers of the dead letters.
        events: All events.
        standing: How the group stood at the end.
        workers: How many there were.
        took: From the burst to the last event.
        could: What the workers could have done it in; none if they were no faster than that.
    """
    done, given_up, failing = set(handled), set(dead), to_fail(events)
    doubled = len(dead) - len(given_up)
    return DrillVerdict(
        events=len(events),
        handled=len(done),
        dead_letters=len(dead),
        to_fail=len(failing),
        lost=len({event.number for event in events} - done - given_up),
        astray=len((done & given_up) | (given_up - failing)) + doubled,
        repeated=standing.repeated,
        lag=lag_of(standing),
        pending=standing.pending,
        retrying=standing.retrying,
        killed=workers.killed,
        took=took,
        could=min(took, could or took),
        most_workers=workers.most,
        last_workers=workers.last,
    )


def lag_of(standing: DrillCounts) -> int:
    """Entries that no worker was given: their IDs count on from 1."""
    return standing.added - int(standing.delivered.partition("-")[2])


class _Numbered(msgspec.Struct):
    number: int


def number_of(body: bytes) -> int:
    """The number of a dead letter by its body; -1 for one that is none of the drill's."""
    try:
        return msgspec.json.decode(body, type=_Numbered).number
    except msgspec.DecodeError:
        return -1
