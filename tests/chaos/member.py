"""A worker process of a history, and what stands between it and the server."""

import os
import signal
from contextlib import suppress
from multiprocessing.process import BaseProcess

from tests.chaos.proxy import Proxy


class Member:
    """A worker process, and the network between it and the server.

    Attributes:
        pid: The process.
        doomed: Whether it ends of itself.
    """

    def __init__(self, process: BaseProcess, proxy: Proxy, *, doomed: bool) -> None:
        assert process.pid is not None
        self.pid = process.pid
        self.process = process
        self.proxy = proxy
        self.doomed = doomed

    def tell(self, number: signal.Signals) -> None:
        """Send it a signal, if it is still there: whoever ends between question and signal has been collected."""
        if self.process.is_alive():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)
