"""A stream with two groups, and consumers of one of them, on a real server."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from streamops.model.delayed import DelayedBody
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.delayed import decode_body
from streamops.wire.server import Server
from tests.support.servers import RunningServer

STREAM, GROUP = "orders", "g"
PAYLOAD = "{orders}:payload:7"
GUARD = "{orders}:done:g:7"

Flat = list[bytes]


class Row(NamedTuple):
    """A pending row: who has it, idle for how many milliseconds, delivered how often."""

    owner: bytes
    idle_ms: int
    deliveries: int


class Shop:
    """The stream ``orders``, read by ``g`` as ``ann`` and ``bob``.

    Attributes:
        running: The server.
        server: Connected to it.
        ann: A consumer, and what stands beside the stream.
        bob: Another one.
    """

    def __init__(self, running: RunningServer, server: Server) -> None:
        self.running = running
        self.server = server
        self.ann = Subscription(STREAM, GROUP, "ann")
        self.bob = Subscription(STREAM, GROUP, "bob")
        for key in (STREAM, self.ann.retries):
            self.command("XGROUP", "CREATE", key, GROUP, "0", "MKSTREAM")

    def command(self, *words: str | bytes | float) -> Any:  # noqa: ANN401 - any RESP value
        """Send one command as it is."""
        return self.running.command(*words)

    def key(self, *, retries: bool) -> str:
        """The stream, or the retry stream."""
        return self.ann.retries if retries else STREAM

    def add(self, *fields: str | bytes, retries: bool = False) -> bytes:
        """Add an entry."""
        added: bytes = self.command("XADD", self.key(retries=retries), "*", *(fields or ("f", "v")))
        return added

    def deliver(
        self, count: int, *fields: str | bytes, to: str = "ann", retries: bool = False
    ) -> list[bytes]:
        """Add entries, and have a consumer read them."""
        words = ("XADD", self.key(retries=retries), "*", *(fields or ("f", "v")))
        ids: list[bytes] = self.running.commands([words] * count)
        self.command("XREADGROUP", "GROUP", GROUP, to, "STREAMS", self.key(retries=retries), ">")
        return ids

    def pending(self, *, retries: bool = False) -> dict[bytes, Row]:
        """All pending rows by ID."""
        rows = self.command("XPENDING", self.key(retries=retries), GROUP, "-", "+", 100_000)
        return {row[0]: Row(*row[1:]) for row in rows}

    def deliveries(self, *ids: bytes, retries: bool = False) -> list[int]:
        """How often each was delivered, as the server counts."""
        rows = self.pending(retries=retries)
        return [rows[one].deliveries for one in ids]

    def rest(self, ids: Sequence[bytes], idle_ms: int, *, retries: bool = False) -> None:
        """Make pending rows look idle."""
        rows = self.pending(retries=retries)
        for owner in {rows[one].owner for one in ids}:
            theirs = [one for one in ids if rows[one].owner == owner]
            key = self.key(retries=retries)
            self.command("XCLAIM", key, GROUP, owner, 0, *theirs, "IDLE", idle_ms, "JUSTID")

    def entries(self, key: str) -> list[tuple[bytes, Flat]]:
        """A stream's entries."""
        return [(one, fields) for one, fields in self.command("XRANGE", key, "-", "+")]

    @property
    def letters(self) -> list[Flat]:
        """The fields of the dead letters."""
        return [fields for _, fields in self.entries(self.ann.dead_letters)]

    @property
    def delayed(self) -> dict[bytes, DelayedBody]:
        """Delayed messages by ID; all of them are in both halves of the queue."""
        ids = self.command("ZRANGE", self.ann.delayed, 0, -1)
        flat = self.command("HGETALL", self.ann.bodies)
        bodies = dict(zip(flat[::2], flat[1::2], strict=True))
        assert sorted(ids) == sorted(bodies)
        return {one: decode_body(bodies[one]) for one in ids}

    @property
    def marks(self) -> dict[bytes, bytes]:
        """Marks of starts."""
        flat = self.command("HGETALL", self.ann.attempts)
        return dict(zip(flat[::2], flat[1::2], strict=True))

    def mark(self, field: bytes | str, marks: int) -> None:
        """Mark starts as another worker would have."""
        self.command("HSET", self.ann.attempts, field, marks)


MINUTE_MS = 60_000
