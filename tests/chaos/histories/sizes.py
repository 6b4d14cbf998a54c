"""How many histories are played: ``STREAMOPS_HISTORIES`` of each kind, from ``STREAMOPS_FIRST_HISTORY`` on."""

import os


def seeds(usual: int) -> range:
    """The seeds to play: as many as usual, unless the environment says otherwise."""
    first = int(os.environ.get("STREAMOPS_FIRST_HISTORY", "0"))
    return range(first, first + int(os.environ.get("STREAMOPS_HISTORIES", str(usual))))
