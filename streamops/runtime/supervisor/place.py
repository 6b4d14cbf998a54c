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
    def rank(self) -> tuple[bool, int]:
        """The lower, the sooner it may be done without: who does not work yet goes before who is idle, and that before who is busy."""
        current = self.current
        if current is None or not current.works:
            return False, 0
        return True, current.busy
