"""What follows when a worker process ends that was not told to: how long to pause, and how to say what happened."""

import signal
from typing import Final

from streamops.model.backoff import Backoff

PAUSES: Final = Backoff(0.25, 30.0)
"""How long a process that fell is not replaced."""
STEADY: Final = 30.0
"""Seconds after which a process has not fallen in a row with those before."""
HOPELESS: Final = 8
"""Falls in a row, in every place, after which nothing is tried any more."""


def code_in_words(code: int) -> str:
    """What an exit code says."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
