"""The events of a drill: the same seed, the same events."""

import random
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from streamops.model.bench import DrillPlan

ALWAYS: Final = 1_000


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
    """All events, in the order of their numbers."""
    drawn = random.Random(plan.seed)  # noqa: S311 - no cryptography
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
