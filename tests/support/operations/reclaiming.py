"""Pending entries of a group to reclaim."""

from datetime import timedelta
from typing import Any

from streamops.model.acting import Confirmation, Outcome
from streamops.operations.console import Console
from streamops.operations.streams_reclaim.intent import ReclaimIntent
from tests.support.servers import RunningServer

STREAM, GROUP, LETTERS = "orders", "billing", "{orders}:dlq"
IDLE = timedelta(seconds=10)
Fields = list[bytes]


def intent(**changes: Any) -> ReclaimIntent:
    """Once, what is idle for ten seconds."""
    given: dict[str, Any] = {"stream": STREAM, "group": GROUP, "min_idle": IDLE}
    return ReclaimIntent(**(given | changes))


async def reclaim(console: Console, **changes: Any) -> Outcome:
    prepared = await console.prepare(intent(**changes))
    return await console.apply(prepared, Confirmation(yes=True))


def age(server: RunningServer, *ids: str, deliveries: int = 1, owner: str = "w") -> None:
    """Make rows idle for a minute."""
    for one in ids:
        server.command(
            "XCLAIM", STREAM, GROUP, owner, 0, one, "IDLE", 60_000, "RETRYCOUNT", deliveries, "JUSTID"
        )
