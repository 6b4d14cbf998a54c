"""What follows when a worker process ends that was not told to: how long to pause, and how to say what happened."""

import signal
from typing import Final

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 30.0
"""Seconds before a process that fell is replaced: doubled with each fall in a row."""
STEADY: Final = 30.0
"""Seconds after which a process has not fallen in a row with those before."""
HOPELESS: Final = 8
"""Falls in a row, in every place, after which nothing is tried any more."""


def pause_after(falls: int) -> float:
    """Seconds before the next start, after so many falls in a row."""
    doublings = min(falls - 1, HOPELESS)
    return min(FIRST_PAUSE * float(1 << doublings), LONGEST_PAUSE)


def code_in_words(code: int) -> str:
    """What an exit code says."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
