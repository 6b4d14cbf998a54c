"""What ``autoscale simulate`` is asked for, and the workers that it describes."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from streamops.errors import SettingsError, known_hint
from streamops.scaling.simulator.contest import ANCHORS, BY_NAME, OTHERS
from streamops.scaling.simulator.handling import Handling, between, lognormal, pareto
from streamops.scaling.simulator.world import NOMINAL, World

DEFAULT: Final = World()
SINCE: Final = timedelta(hours=12)
ALL, NONE = "all", "none"
TIMES: Final[dict[str, Callable[[float], Handling]]] = {
    "uniform": lambda mean: between(2 / 3 * mean, 4 / 3 * mean),
    "lognormal": lambda mean: lognormal(mean, 1.0),
    "pareto": lambda mean: pareto(mean, 2.5),
}


class Wanted(Struct, frozen=True, kw_only=True):
    """The options, as they were given; none where one was not."""

    shapes: tuple[str, ...]
    seeds: int
    seed: int
    interval: int
    against: str | None
    changed: bool
    minimum: int | None
    maximum: int | None
    objective: timedelta | None
    start_up: timedelta | None
    slots: int | None
    handler_time: timedelta | None
    handler_times: str | None
    rate: float | None
    details: bool
    trace: bool
    history: str | None
    stream: str | None
    group: str | None
    since: datetime | timedelta | None
    max_scan: int
    fixed: tuple[int, ...]
    processes: int | None

    @property
    def recorded(self) -> bool:
        """Whether a history is asked for, and not the shapes."""
        return self.history is not None or self.stream is not None

    @property
    def named(self) -> tuple[str, ...]:
        """The shapes, all of them where none was named."""
        return self.shapes or tuple(BY_NAME)

    @property
    def others(self) -> tuple[str, ...]:
        """Who runs besides ours; raises ``SettingsError`` for a name that nobody has."""
        known = ANCHORS if self.recorded else OTHERS
        if self.against in (None, ALL):
            return () if self.recorded and self.against is None else known
        names = [] if self.against == NONE else [name.strip() for name in str(self.against).split(",")]
        for name in names:
            if name not in known:
                raise SettingsError(
                    f"--against: there is no {name!r}", known_hint(name, (*known, ALL, NONE), "names")
                )
        return tuple(name for name in known if name in names)

    def check(self) -> None:
        """Refuse what does not go together; raises ``SettingsError``."""
        worldly = (*self._workers, self.rate)
        wrong = (
            (
                self.changed and any(map(_given, worldly)),
                "--changed draws the workers: it goes with none of their options",
            ),
            (
                self.recorded and (self.shapes or self.changed),
                "a history goes with neither --shape nor --changed",
            ),
            (self.history and self.stream, "--history reads a file, --stream the server: name one of them"),
            (not self.stream and (self.group or self.since), "--group and --since go with --stream"),
            (
                not self.recorded and self.fixed,
                "--fixed goes with a history; shapes are run with every number",
            ),
            (self.trace and self.details, "--trace and --details are two outputs: ask for one"),
            (
                self.trace and not self.recorded and len(self.shapes) != 1,
                "--trace follows one run: name one --shape",
            ),
            (self.rate and self.handler_time, "--rate and --handler-time say the same: give one of them"),
            (
                (self.minimum or DEFAULT.minimum) > (self.maximum or DEFAULT.maximum),
                f"--min is above --max, which is {self.maximum or DEFAULT.maximum}",
            ),
            (
                self.objective is not None and self.objective < timedelta(seconds=1),
                "--objective: a simulation knows whole seconds; 1s is the shortest",
            ),
        )
        for fails, message in wrong:
            if fails:
                raise SettingsError(message, "`streamops autoscale simulate --help` shows how.")

    @property
    def _workers(self) -> tuple[object, ...]:
        return (
            *(self.minimum, self.maximum, self.objective, self.start_up),
            *(self.slots, self.handler_time, self.handler_times),
        )

    def world(self, rate: float | None = None) -> World:
        """The workers that the options describe.

        Args:
            rate: Entries a second that one of them handles; none for what the options say.
        """
        slots = self.slots or DEFAULT.slots
        mean = DEFAULT.handling.mean if self.handler_time is None else self.handler_time.total_seconds()
        mean = slots / rate if rate else mean
        start_up = NOMINAL if self.start_up is None else self.start_up.total_seconds()
        return World(
            slots=slots,
            handling=TIMES[self.handler_times or "uniform"](mean),
            objective=(self.objective or timedelta(seconds=DEFAULT.objective)).total_seconds(),
            minimum=self.minimum or DEFAULT.minimum,
            maximum=self.maximum or DEFAULT.maximum,
            late=start_up / NOMINAL,
        )


def _given(value: object) -> bool:
    return value is not None
