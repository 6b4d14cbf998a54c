"""What histories are about: each scene a server, and what goes wrong there."""

from collections.abc import Mapping

from msgspec import Struct

from tests.chaos import disasters
from tests.chaos.faults import DRAINING, GENTLE, ROUGH, STABLE, RunningOperation, trim_pending
from tests.chaos.stages import ALWAYS, EVERY_SECOND


class Scene(Struct, frozen=True, kw_only=True):
    """A server, and what goes wrong there.

    Attributes:
        name: What it is about.
        own: What goes wrong there first.
        deeds: What may go wrong besides.
        args: The server's configuration.
        standby: Whether it has a replica.
        clock: Whether its clock can be set.
        guarded: Whether its handlers have a guard, whatever the seed says.
        most: How often a handler may start for one entry.
    """

    name: str
    own: tuple[RunningOperation, ...]
    deeds: tuple[RunningOperation, ...] = GENTLE
    args: tuple[str, ...] = ALWAYS
    standby: bool = False
    clock: bool = False
    guarded: bool = False
    most: int = 4


SCENES: Mapping[str, Scene] = {
    scene.name: scene
    for scene in (
        Scene(name="nothing is lost", own=(*GENTLE, disasters.fill_disk, disasters.fill_memory)),
        Scene(name="an operator loses something", own=ROUGH, deeds=(*GENTLE, *ROUGH)),
        Scene(
            name="the log is written every second",
            own=(disasters.lose_power, disasters.lose_power, disasters.fill_disk),
            args=EVERY_SECOND,
        ),
        Scene(name="a replica takes over", own=(disasters.fail_over,), deeds=STABLE, args=(), standby=True),
        Scene(name="memory is short", own=(disasters.evict, disasters.fill_memory, disasters.flush)),
        Scene(name="the clock is set", own=(disasters.set_clock,), clock=True),
        Scene(
            name="what is pending is trimmed",
            own=(trim_pending,),
            deeds=(*GENTLE, *(trim_pending for _ in GENTLE)),
            guarded=True,
        ),
        Scene(name="everything is started once", own=(DRAINING[0],), deeds=DRAINING, most=1),
    )
}
"""By their names."""

ORDER = (
    "nothing is lost",
    "the log is written every second",
    "nothing is lost",
    "a replica takes over",
    "memory is short",
    "nothing is lost",
    "an operator loses something",
    "the clock is set",
    "what is pending is trimmed",
    "everything is started once",
)
"""Which scenes seeds are about, in turn."""


def scene_of(seed: int) -> Scene:
    """What a history is about."""
    return SCENES[ORDER[seed % len(ORDER)]]
