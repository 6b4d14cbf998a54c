"""What became of every event of a drill, found without asking the runtime: the ledger, and the dead letters."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import NamedTuple

import msgspec

from streamops.model.bench import DrillVerdict
from streamops.wire.consuming.benching import Standing


class Staff(NamedTuple):
    """What was done to the workers: how many were killed, and how many came back."""

    killed: int = 0
    returned: int = 0


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
    )


def _number(body: bytes) -> int:
    try:
        return msgspec.json.decode(body, type=_Numbered).number
    except msgspec.DecodeError:
        return -1
