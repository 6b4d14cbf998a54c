"""What became of every event of a drill, found without asking the runtime: the ledger, and the dead letters."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import NamedTuple

import msgspec

from streamops.model.bench import DrillVerdict
from streamops.wire.consuming.benching import Standing


class Staff(NamedTuple):
    """What became of the workers.

    Attributes:
        killed: How many were killed.
        returned: How many came back.
        most: The most there were.
        rested: How many there were at the end.
    """

    killed: int = 0
    returned: int = 0
    most: int = 0
    rested: int = 0


class Effort(NamedTuple):
    """What the workers could have done by now, each slot always busy.

    Attributes:
        events: So many events.
        at: When that was, since the burst began.
        enough: When it was as many as there are; none before that.
    """

    events: float = 0.0
    at: timedelta = timedelta(0)
    enough: timedelta | None = None

    def later(self, at: timedelta, speed: float, events: int) -> "Effort":
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
        return Effort(could, at, enough)


class _Numbered(msgspec.Struct):
    number: int


def numbers_of(bodies: Sequence[bytes]) -> list[int]:
    """The numbers of dead letters by their bodies; -1 for a letter that is none of the drill's."""
    return [_number(body) for body in bodies]


def judge(
    handled: Collection[int],
    letters: Sequence[int],
    failing: Collection[int],
    standing: Standing,
    *,
    events: int,
    lag: int,
    staff: Staff,
    took: timedelta,
    could: timedelta | None = None,
) -> DrillVerdict:
    """The verdict: pure.

    Args:
        handled: The numbers that the ledger has.
        letters: The numbers of the dead letters.
        failing: The numbers of events that had to end there.
        standing: How the group stood at the end.
        events: How many events there were, numbered from 0 on.
        lag: How many of them no worker was given.
        staff: What was done to the workers.
        took: From the burst to the last event.
        could: What the workers could have done it in; none where they were no faster than that.
    """
    done, dead = set(handled), set(letters)
    doubled = len(letters) - len(dead)
    return DrillVerdict(
        events=events,
        handled=len(done),
        dead_letters=len(letters),
        to_fail=len(failing),
        lost=len(set(range(events)) - done - dead),
        astray=len((done & dead) | (dead - set(failing))) + doubled,
        repeated=standing.repeated,
        lag=lag,
        pending=standing.pending,
        retrying=standing.retrying,
        killed=staff.killed,
        returned=staff.returned,
        took=took,
        could=min(took, could or took),
        most=staff.most,
        rested=staff.rested,
    )


def _number(body: bytes) -> int:
    try:
        return msgspec.json.decode(body, type=_Numbered).number
    except msgspec.DecodeError:
        return -1
