"""The real console beside a cron job's command lines: whoever comes second is told what the other did."""

import asyncio
from pathlib import Path

import pytest

from tests.support.operators.cron import run_job
from tests.support.servers import RunningServer
from tests.support.tui.driving import names, press, running, shown, typed_word, until
from tests.support.tui.servers import ENTRIES, console_on, deliver_all, to_pending

MONTH = 30 * 86_400_000
pytestmark = pytest.mark.timeout(400)


async def test_what_cron_took_back_the_console_does_not_take_back_again(server: RunningServer) -> None:
    deliver_all(server)
    app = console_on(server)
    async with running(app):
        await to_pending(app)
        await press(app, "space", "space", "N", "enter")
        await shown(app, "Enter applies")
        await press(app, "enter")
        await shown(app, "2 of 2")
        assert longest_idle(server) >= MONTH
        (row,) = server.command("XREVRANGE", "streamops:audit", "+", "-", "COUNT", 1)
        told = dict(zip(row[1][::2], row[1][1::2], strict=True))
        cron = await asyncio.to_thread(run_job, server, "undo", told[b"begun"].decode(), "--yes")
        assert cron.returncode == 0, cron.stderr
        assert longest_idle(server) < MONTH
        await press(app, "z")
        await shown(app, "was undone already")


def longest_idle(server: RunningServer) -> int:
    """Milliseconds."""
    return max(int(row[2]) for row in server.command("XPENDING", "orders", "billing", "-", "+", ENTRIES))


async def test_a_plan_of_cron_is_stale_once_the_console_has_destroyed_the_group(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It plans and applies in one run: what it finds no more it says in a line, with its code."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    deliver_all(server)
    app = console_on(server)
    async with running(app):
        await until(app, lambda: names(app) == ["orders/billing"])
        await press(app, "X", "enter")
        await shown(app, "deletes what undo cannot restore")
        await press(app, "tab", *typed_word(app), "enter")
        await until(app, lambda: server.command("XINFO", "GROUPS", "orders") == [])
        cron = await asyncio.to_thread(
            run_job, server, "claim", "orders", "billing", "--to", "cron", "--min-idle", "0s", "--yes"
        )
    assert cron.returncode == 1
    assert cron.stderr.splitlines()[0] == "error: stream orders has no group billing"
    assert server.command("XINFO", "GROUPS", "orders") == []
