"""How worker processes end by themselves: at a moment of their lives, the how-manieth time that it comes."""

import os
import signal
from collections.abc import Mapping
from enum import StrEnum, auto
from typing import Any

from msgspec import Struct

from streamops.runtime import Entry
from streamops.runtime.events import Completed, DeadLettered, Duplicate, Event, Reclaimed, Retried
from streamops.runtime.handlers import Call


class Moment(StrEnum):
    """When a process kills itself."""

    BEFORE_HANDLER = auto()
    IN_HANDLER = auto()
    AFTER_EFFECT = auto()
    AFTER_HANDLER = auto()
    COMPLETED = auto()
    RETRIED = auto()
    DEAD_LETTERED = auto()
    FAILURE_HOOK = auto()
    DUPLICATE = auto()
    RECLAIMED = auto()


EVENTS: Mapping[Moment, type[Event]] = {
    Moment.COMPLETED: Completed,
    Moment.RETRIED: Retried,
    Moment.DEAD_LETTERED: DeadLettered,
    Moment.DUPLICATE: Duplicate,
    Moment.RECLAIMED: Reclaimed,
}


class Doom(Struct, frozen=True):
    """A process's end: at the how-manieth time that it comes to a moment."""

    moment: Moment
    time: int = 1


class Doomed:
    """Kills this process at its time."""

    def __init__(self, doom: Doom | None) -> None:
        self._doom = doom
        self._times = 0

    def meet(self, moment: Moment) -> None:
        """A moment has come."""
        if self._doom is None or self._doom.moment is not moment:
            return
        self._times += 1
        if self._times == self._doom.time:
            os.kill(os.getpid(), signal.SIGKILL)

    def heard(self, _: Event) -> None:
        """The event of its moment."""
        if self._doom is not None:
            self.meet(self._doom.moment)

    async def middleware(self, entry: Entry, call: Call) -> Any:  # noqa: ANN401 - as handlers return
        """Around every handler of single entries."""
        self.meet(Moment.BEFORE_HANDLER)
        result = await call(entry)
        self.meet(Moment.AFTER_HANDLER)
        return result

    async def hook(self, _: Entry, __: BaseException) -> None:
        """Told of an entry that was given up."""
        self.meet(Moment.FAILURE_HOOK)
