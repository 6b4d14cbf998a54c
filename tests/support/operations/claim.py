"""Pending entries to claim, and who has them."""

from typing import Any

from streamops.model.entries import EntryId
from streamops.operations.claim.intent import ClaimIntent
from tests.support.servers import RunningServer

STREAM, GROUP = "orders", "billing"
OLD = 100_000


def add_pending_for(server: RunningServer, **owners: int) -> list[EntryId]:
    """So many entries pending for each consumer, all idle for 100 s."""
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
    ids: list[bytes] = []
    for owner, count in owners.items():
        new = server.commands([("XADD", STREAM, "*", "f", "v")] * count)
        server.command("XREADGROUP", "GROUP", GROUP, owner, "STREAMS", STREAM, ">")
        server.command("XCLAIM", STREAM, GROUP, owner, 0, *new, "IDLE", OLD, "JUSTID")
        ids += new
    return [EntryId.parse(one) for one in ids]


def rows(server: RunningServer) -> dict[str, tuple[str, int]]:
    """Owner and deliveries of what is pending."""
    told = server.command("XPENDING", STREAM, GROUP, "-", "+", 10_000)
    return {row[0].decode(): (row[1].decode(), row[3]) for row in told}


def claim(to: str = "rescuer", **changes: Any) -> ClaimIntent:
    return ClaimIntent(stream=STREAM, group=GROUP, to=to, **changes)
