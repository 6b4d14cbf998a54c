"""Faults of a real server under the open console: it answers keys meanwhile, tells how old its data is, and recovers by itself."""

from pathlib import Path

from tests.support.servers import StartServer
from tests.support.tui.driving import bar, names, running, until
from tests.support.tui.faults_server import GROUPS, follows_keys, prepare
from tests.support.tui.states_server import console_at, point


async def test_a_server_that_is_stopped_and_started_again_is_found_by_itself(
    tmp_path: Path, start_server: StartServer
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    server = start_server("--dir", str(kept))
    prepare(server)
    server.command("SAVE")
    link = point(tmp_path / "s", server)
    app = console_at(link)
    async with running(app):
        await until(app, lambda: names(app) == GROUPS)
        server.kill()
        await until(app, lambda: "next try in" in bar(app, "banner"))
        await follows_keys(app)
        # The age goes on by itself, in the banner and in the status line.
        await until(app, lambda: "data 1s old" in bar(app, "banner"))
        await until(app, lambda: "· stale, " in bar(app, "status"))
        server.restart()
        point(link, server)
        server.command("XGROUP", "CREATE", "orders", "new", "0")
        await until(app, lambda: names(app) == [*GROUPS, "orders/new"])
        # Without a replica its replication id was not kept: whether it is the same server cannot be known.
        await until(app, lambda: "another server answers at this address" in bar(app, "banner"))
        assert "next try" not in bar(app, "banner")
