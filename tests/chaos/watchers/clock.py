"""This machine's clock, which is the servers' too."""

import time


def wall_clock() -> float:
    """Seconds since 1970."""
    return time.time()  # noqa: TID251 - truth is told by the clock of servers that run here
