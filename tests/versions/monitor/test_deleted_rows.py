"""Pending rows whose entries were deleted from the midst of their stream are found, and let go of again."""

import pytest

from streamops.model.observation import Finding, FindingCode
from streamops.operations.console import Console
from tests.support.servers import RunningServer

pytestmark = pytest.mark.every_server(
    "6.2 does not tell up to where entries were deleted, and has no read-only scripts"
)


def deliver(server: RunningServer, entries: int) -> None:
    for number in range(1, entries + 1):
        server.command("XADD", "orders", f"{number}-0", "n", number)
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "w", "COUNT", entries, "STREAMS", "orders", ">")


async def finding_of(console: Console) -> Finding | None:
    await console.discover()
    (stream,) = (await console.observe()).streams
    (group,) = stream.groups
    return next((one for one in group.findings if one.code is FindingCode.DANGLING_PENDING), None)


async def test_entries_deleted_from_the_midst_while_pending_are_a_finding_until_they_are_let_go_of(
    server: RunningServer,
) -> None:
    deliver(server, 20)
    async with await Console.open(server.options) as console:
        assert await finding_of(console) is None
        server.command("XDEL", "orders", "7-0", "9-0")
        found = await finding_of(console)
        assert found is not None
        assert found.text.startswith(
            "at least 2 of 20 pending entries are gone from the stream, the first 7-0"
        )
        assert "--ids 7-0" in found.advice
        server.command("XACK", "orders", "billing", "7-0", "9-0")
        assert await finding_of(console) is None


async def test_deleted_and_trimmed_entries_are_counted_together(server: RunningServer) -> None:
    deliver(server, 20)
    server.command("XDEL", "orders", "12-0")
    server.command("XTRIM", "orders", "MINID", "4-0")
    async with await Console.open(server.options) as console:
        found = await finding_of(console)
    assert found is not None
    assert found.text.startswith("at least 4 of 20 pending entries are gone from the stream, the first 1-0")
