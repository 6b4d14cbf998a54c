"""Pending rows whose entries were trimmed away: told by the oldest row and the rolling scan."""

import pytest

from streamops.model.observation import Finding, FindingCode, Health
from streamops.operations.console import Console
from tests.support.operations.doing import open_console
from tests.support.servers import RunningServer

STREAM, GROUP = "orders", "billing"
LONG_IDLE_MS = 600_000


@pytest.fixture
def given(server: RunningServer) -> RunningServer:
    """Three hundred entries, of which a hundred are pending."""
    server.commands(("XADD", STREAM, f"{number}-0", "n", number) for number in range(1, 301))
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0")
    server.command("XREADGROUP", "GROUP", GROUP, "w", "COUNT", 100, "STREAMS", STREAM, ">")
    return server


async def found(console: Console) -> Finding | None:
    (view,) = (await console.observe([STREAM])).streams[0].groups
    codes = {one.code: one for one in view.findings}
    assert FindingCode.PENDING_OLD not in codes
    return codes.get(FindingCode.DANGLING_PENDING)


@pytest.mark.parametrize(
    ("kept", "gone"),
    [
        (201, "99 of 100 pending entries are"),
        (150, "100 of 100 pending entries are"),
        (0, "100 of 100 pending"),
    ],
)
async def test_rows_that_trimming_left_behind_are_found(given: RunningServer, kept: int, gone: str) -> None:
    async with await open_console(given) as console:
        assert await found(console) is None
        given.command("XTRIM", STREAM, "MAXLEN", "=", kept)
        finding = await found(console)
    assert finding is not None
    assert finding.text.startswith(gone)
    # A worker that was given them just now may still finish them.
    assert finding.level is Health.WARN


async def test_rows_nobody_can_be_at_work_on_are_critical(given: RunningServer) -> None:
    given.command("XCLAIM", STREAM, GROUP, "w", 0, "2-0", "IDLE", LONG_IDLE_MS, "JUSTID")
    given.command("XACK", STREAM, GROUP, "1-0")
    given.command("XTRIM", STREAM, "MAXLEN", "=", 100)
    async with await open_console(given) as console:
        finding = await found(console)
    assert finding is not None
    assert finding.level is Health.CRITICAL
    assert "the first 2-0" in finding.text


async def test_rows_whose_entries_exist_are_not(given: RunningServer) -> None:
    given.command("XACK", STREAM, GROUP, *(f"{number}-0" for number in range(1, 51)))
    given.command("XTRIM", STREAM, "MAXLEN", "=", 250)
    async with await open_console(given) as console:
        assert await found(console) is None
