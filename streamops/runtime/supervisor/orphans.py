"""What process 1 owes to processes whose parents ended before them."""

import os
from contextlib import suppress


def reap_orphans(ours: set[int]) -> None:
    """Wait for the processes that have ended and are not ours; it takes no time."""
    with suppress(ChildProcessError):
        while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if found.si_pid in ours:
                # Whoever waits for it does so in a moment; those behind it have time until then.
                return
            os.waitpid(found.si_pid, os.WNOHANG)
