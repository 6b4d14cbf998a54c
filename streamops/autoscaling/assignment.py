"""What a controller is to do, as plain data; composed from settings by whoever starts it."""

from datetime import timedelta
from typing import Final

from msgspec import Struct

from streamops.autoscaling.policy.config import ScalingConfig

EVERY: Final = timedelta(seconds=5)
LEASE: Final = timedelta(seconds=15)


class Assignment(Struct, frozen=True, kw_only=True):
    """One pool, and the group whose work it does.

    Attributes:
        pool: The pool's name.
        stream: The stream that its workers read.
        group: Their group.
        config: Its limits and objective.
        budget: The budget that it shares with others; empty for none.
        weight: How much its waits count there.
    """

    pool: str
    stream: str
    group: str
    config: ScalingConfig = ScalingConfig()
    budget: str = ""
    weight: float = 1.0


class ControllerOptions(Struct, frozen=True, kw_only=True):
    """How a controller works.

    Attributes:
        holder: Who it is, to others that would lead the same pools.
        assignments: Its pools.
        budgets: Workers that pools have together at most, by the name of the budget.
        elsewhere: Pools of these budgets that it is not to decide about, by the same.
        every: How often it looks.
        lease: How long others wait after it was heard of last.
        advise: Whether it only says what it would do.
    """

    holder: str
    assignments: tuple[Assignment, ...]
    budgets: dict[str, int] = {}
    elsewhere: dict[str, tuple[str, ...]] = {}
    every: timedelta = EVERY
    lease: timedelta = LEASE
    advise: bool = False
