"""A snapshot: everything one collection read, and what it could not read."""

from datetime import datetime, timedelta

from msgspec import Struct

from streamops.model.delayed import DelayedQueue
from streamops.model.server import ServerInfo
from streamops.model.streams import StreamState

NO_SUCH_STREAM = "no such stream"
"""Reason of the gap where a stream that was asked for by name is not there."""


class ReadError(Struct, frozen=True, gc=False):
    """A part that could not be read.

    Attributes:
        reason: Why, in words.
        stream: The stream it concerns; none for a whole node or server.
        group: The group it concerns; none for a whole stream.
        part: What is missing of it, such as ``consumers``; empty for all of it.
        denied: Whether the user may not read it.
        capped: Whether it is left out by a limit of streamops's own.
    """

    reason: str
    stream: str | None = None
    group: str | None = None
    part: str = ""
    denied: bool = False
    capped: bool = False

    @property
    def scope(self) -> str:
        """What it concerns, in words: ``stream orders``, ``group orders/billing consumers``."""
        if self.stream is None:
            return self.part or "server"
        where = f"stream {self.stream}" if self.group is None else f"group {self.stream}/{self.group}"
        return f"{where} {self.part}".rstrip()


class Snapshot(Struct, frozen=True, gc=False):
    """What one collection found.

    Attributes:
        collected_at: The server's clock when it was read (the first node's, in a cluster).
        server: The server or servers.
        streams: The streams, by name.
        gaps: What could not be read.
        discovered: How many streams discovery knows; more than ``streams`` where a limit cut the list.
        discovery_complete: Whether the keyspace has been scanned at least once from end to end.
        elapsed: How long the collection took, on this machine's clock.
        commands: Commands it sent.
        patterns: Patterns and names of the streams that are looked for; none where all are.
        delayed: Queues of delayed messages that hold anything.
    """

    collected_at: datetime
    server: ServerInfo
    streams: tuple[StreamState, ...]
    gaps: tuple[ReadError, ...]
    discovered: int
    discovery_complete: bool
    elapsed: timedelta
    commands: int
    patterns: tuple[str, ...] = ()
    delayed: tuple[DelayedQueue, ...] = ()
