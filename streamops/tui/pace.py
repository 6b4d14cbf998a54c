"""How often to poll: the pure arithmetic behind ``+``, ``-`` and the status line."""

from datetime import timedelta
from typing import Final

from msgspec import Struct

from streamops.present.units import duration

CHOICES: Final[tuple[timedelta | None, ...]] = (
    timedelta(seconds=1),
    timedelta(seconds=2),
    timedelta(seconds=5),
    timedelta(seconds=10),
    timedelta(seconds=30),
    None,
)
UNFOCUSED: Final = timedelta(seconds=10)
COST_FACTOR: Final = 4
FIRST_RETRY: Final = timedelta(seconds=1)
LAST_RETRY: Final = timedelta(seconds=15)
MOST_DOUBLINGS: Final = 10


class Pace(Struct, frozen=True):
    """The time between two polls, and why it is what it is.

    Attributes:
        chosen: What the person chose; none for off.
        interval: What is used; none for off.
        reason: Why the two differ, in words; empty where they do not.
    """

    chosen: timedelta | None
    interval: timedelta | None
    reason: str = ""


def pace(chosen: timedelta | None, cost: timedelta, *, focused: bool) -> Pace:
    """Stretch the chosen interval so that polls take at most a quarter of it, and relax it out of focus."""
    if chosen is None:
        return Pace(None, None)
    if not focused and chosen < UNFOCUSED:
        return Pace(chosen, max(UNFOCUSED, cost * COST_FACTOR), "out of focus")
    if cost * COST_FACTOR > chosen:
        return Pace(chosen, cost * COST_FACTOR, f"stretched: a poll takes {duration(cost)}")
    return Pace(chosen, chosen)


def slower(chosen: timedelta | None) -> timedelta | None:
    """The next slower choice; off stays off."""
    return next((choice for choice in CHOICES if _longer(choice, chosen)), None)


def faster(chosen: timedelta | None) -> timedelta | None:
    """The next faster choice; the fastest stays."""
    return next((choice for choice in reversed(CHOICES) if _longer(chosen, choice)), CHOICES[0])


def retry_delay(failures: int) -> timedelta:
    """How long to wait after so many failures in a row: doubling from one second to fifteen."""
    doublings = min(max(failures, 1) - 1, MOST_DOUBLINGS)
    return min(FIRST_RETRY * (1 << doublings), LAST_RETRY)


def _longer(one: timedelta | None, other: timedelta | None) -> bool:
    if other is None:
        return False
    return one is None or one > other
