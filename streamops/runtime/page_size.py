"""How much is asked for at once of a server that may be a slow link away."""

from typing import Final, final

from streamops.wire.consuming.taking import MOST_BYTES

MOST_HALVINGS: Final = 8
"""A page of entries halved so often is one entry, and one is always asked for."""


@final
class PageSize:
    """Half as much after each call that had no answer in time, and twice as much after each that brought something.

    A reply that is given up was work for nothing: the server counted the deliveries, and nobody else finds the entries idle.
    """

    def __init__(self) -> None:
        self._halvings = 0

    @property
    def size(self) -> int:
        """How many bytes to ask for, about."""
        return MOST_BYTES >> self._halvings

    def of(self, limit: int) -> int:
        """How many entries to ask for, where ``limit`` would be welcome."""
        return max(1, limit >> self._halvings)

    def halve(self) -> None:
        """There was no answer."""
        self._halvings = min(self._halvings + 1, MOST_HALVINGS)

    def double(self) -> None:
        """There was one, with something in it."""
        self._halvings = max(0, self._halvings - 1)
