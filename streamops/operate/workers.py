"""Worker processes, by their heartbeats."""

from datetime import datetime

from msgspec import Struct

from streamops.model.workers import WorkerHeartbeat
from streamops.operate.acting.place import Place
from streamops.operate.scanning import scan_node
from streamops.wire.consuming.hearts import read_hearts
from streamops.wire.keys import worker_key
from streamops.wire.reads import read_clock

AT_ONCE = 500


class Crowd(Struct, frozen=True):
    """The workers of one server.

    Attributes:
        workers: Those that have a heartbeat, by pool and ID.
        now: The server's clock; none where it may not be asked.
    """

    workers: tuple[WorkerHeartbeat, ...]
    now: datetime | None


class WorkerReader:
    """Reads heartbeats on one server."""

    def __init__(self, place: Place) -> None:
        self._place = place

    async def all(self, share: float = 1.0) -> Crowd:
        """Every worker with a heartbeat. Goes through all keys: Redis has no list of them.

        Args:
            share: Share of the time that this may keep a node busy.

        Raises:
            ServerError: The keys cannot be gone through.
        """
        server, prefix = self._place.server, worker_key("")
        names: dict[str, None] = {}
        # A first request tells which nodes a cluster has.
        now = await read_clock(server, prefix)
        for node in server.nodes:
            async for page in scan_node(server, node, "hash", f"{prefix}*", share=share):
                names |= dict.fromkeys(name.removeprefix(prefix) for name in page)
        known = list(names)
        hearts: list[WorkerHeartbeat] = []
        for at in range(0, len(known), AT_ONCE):
            hearts += await read_hearts(server, known[at : at + AT_ONCE])
        return Crowd(tuple(sorted(hearts, key=lambda heart: (heart.pool, heart.id))), now)
