"""Whether the server that answers is the one that is known. Pure, with a memory of one server."""

from typing import Final

from streamops.model.server import ServerInfo
from streamops.tui.moment import Stranger

NO_ID: Final = "0" * 40
"""What a server without a second replication ID says in its place."""


class Identity:
    """Knows a server by its replication IDs, whatever its address.

    A primary that took over in a failover still knows the ID of the one before it, so it is the same server; so is a
    cluster as long as one of its primaries is. A server that was restarted from its file is known on versions that keep
    their ID there; one that came up empty is another, which is what the person must know before anything is written.
    """

    def __init__(self) -> None:
        self._known: frozenset[str] = frozenset()
        self._answers: frozenset[str] = frozenset()

    def see(self, server: ServerInfo) -> Stranger | None:
        """Compare a server that answered with the one that is known; none where it is the same, or cannot be told."""
        ids = frozenset(one for node in server.nodes for one in node.replication_ids) - {NO_ID}
        if not ids:
            return self._stranger()
        self._answers = ids
        if not self._known or ids & self._known:
            self._known = ids
        return self._stranger()

    def accept(self) -> None:
        """From now on the server that answers is the one that is known."""
        self._known = self._answers

    def _stranger(self) -> Stranger | None:
        if self._answers & self._known or not self._answers:
            return None
        return Stranger(tuple(sorted(self._known)), tuple(sorted(self._answers)))
