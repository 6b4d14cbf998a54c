"""What benchmarks print."""

import sys


def say(line: str) -> None:
    """One line of results."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
