"""Where one worker process is to run, whoever is there at the moment."""

import asyncio

from streamops.runtime.supervisor.process import WorkerProcess


class Place:
    """Where one worker process is to run.

    Attributes:
        current: The process there; none between two.
        successor: The process that takes over when that has ended, from its start on; none where there is no reload.
        falls: How many fell in a row.
        closing: Whether nobody is to follow who is there.
        hurry: Set where a pause between two processes is to end.
    """

    def __init__(self) -> None:
        self.current: WorkerProcess | None = None
        self.successor: WorkerProcess | None = None
        self.falls = 0
        self.closing = False
        self.hurry = asyncio.Event()

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """The lower, the sooner it can be done without: first who does not work yet, then the idle, last who cannot even answer."""
        current = self.current
        if current is None or not current.works:
            return False, False, 0
        return True, not current.answers, current.busy
