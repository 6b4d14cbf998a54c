"""Lag, with what it rests on."""

from datetime import timedelta
from enum import StrEnum

from msgspec import Struct


class LagBasis(StrEnum):
    """What a lag rests on, from the strongest to none."""

    EXACT = "exact"
    REPORTED = "reported"
    UPPER = "upper"
    LOWER = "lower"
    ESTIMATED = "estimated"
    UNKNOWN = "unknown"


TRUSTED = frozenset({LagBasis.EXACT, LagBasis.REPORTED})


class Lag(Struct, frozen=True, gc=False):
    """How many entries of the stream a group has not been given yet.

    Attributes:
        entries: The count; None if only bounds or nothing is known.
        lower: The count is at least this; None if nothing is known.
        upper: The count is at most this; None if nothing is known.
        basis: What the count rests on.
        reason: Why it is so, in words.
        later: Whether it was counted a moment after all else that is known of the group and its stream: it may have moved
            by then, and says nothing of what came or went until the moment of those.
    """

    entries: int | None
    lower: int | None
    upper: int | None
    basis: LagBasis
    reason: str
    later: bool = False

    @property
    def known(self) -> bool:
        """Whether the count can be trusted: ``exact`` or ``reported``."""
        return self.basis in TRUSTED

    @property
    def waits(self) -> bool:
        """Whether an entry is known to wait for the group."""
        return self.lower is not None and self.lower > 0


class TimeLag(Struct, frozen=True, gc=False):
    """How long the first entry that a group has not been given has waited.

    Attributes:
        age: Server time now minus the time in that entry's ID; zero with no such entry; None if unknown.
        reason: Why it is none, in words; empty otherwise.
    """

    age: timedelta | None
    reason: str = ""
