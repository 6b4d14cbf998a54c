"""Faults of a real server under the open console: it answers keys meanwhile, tells how old its data is, and recovers by itself."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from time import monotonic

from streamops.tui.app import StreamopsApp
from tests.chaos.proxy import Proxy
from tests.support.servers import StartServer
from tests.support.tui.driving import bar, names, press, running, until
from tests.support.tui.servers import GROUPS, add_groups, console_at, follows_keys, hints, point

LIMIT = timedelta(seconds=2)
SECONDS = 1.02
"""Each way: two seconds from a request to its reply, and a little more."""


@asynccontextmanager
async def console_behind(proxy: Proxy, limit: timedelta = LIMIT) -> AsyncIterator[StreamopsApp]:
    """The console on a server that is reached through a proxy, once it shows everything; what it waits for a reply at most."""
    app = console_at(proxy.path, limit)
    async with running(app):
        await until(app, lambda: names(app) == GROUPS and "scanning" not in bar(app, "status"))
        yield app


def banner_hides(app: StreamopsApp) -> bool:
    return not app.frame.query_one("#banner").display


async def test_a_primary_that_becomes_a_replica_goes_on_being_read(
    tmp_path: Path, start_server: StartServer
) -> None:
    at_once = ("--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "3600")
    primary, replica = start_server(*at_once), start_server(*at_once)
    add_groups(primary, *GROUPS)
    replica.command("REPLICAOF", "127.0.0.1", str(primary.port))
    async with Proxy(primary.socket_path, tmp_path / "s") as proxy, console_behind(proxy) as app:
        await until(app, lambda: b"master_link_status:up" in replica.command("INFO", "replication"))
        # Nothing is left behind: who still has something of its own to give is given everything anew, under no known ID.
        primary.command("FAILOVER", "TO", "127.0.0.1", str(replica.port))
        await until(app, lambda: b"role:master" in replica.command("INFO", "replication"))
        # What is written to the new primary arrives at the old one, and so on the screen.
        replica.command("XGROUP", "CREATE", "orders", "new", "0")
        await until(app, lambda: names(app) == [*GROUPS, "orders/new"])
        assert banner_hides(app), bar(app, "banner")
        assert app.app_state.mismatch is None
        assert "W" in hints(app)


async def test_two_seconds_a_reply_leave_keys_answered_and_stretch_the_polls(
    tmp_path: Path, start_server: StartServer
) -> None:
    server = start_server()
    add_groups(server, *GROUPS)
    async with (
        Proxy(server.socket_path, tmp_path / "s") as proxy,
        console_behind(proxy, limit=timedelta(seconds=10)) as app,
    ):
        proxy.slow_down(SECONDS)
        # A poll is under way for longer than any of those before.
        await until(app, lambda: monotonic() - app.app_state.arrived > SECONDS / 2)
        await follows_keys(app)
        await until(app, lambda: "stretched: a poll takes 2." in bar(app, "status"))
        # It is slow, and not lost.
        assert banner_hides(app), bar(app, "banner")
        proxy.resume()
        server.command("XGROUP", "CREATE", "orders", "new", "0")
        await press(app, "r")
        await until(app, lambda: names(app) == [*GROUPS, "orders/new"])
        assert "stretched" not in bar(app, "status")


async def test_replies_slower_than_the_limit_are_a_loss_that_ends_by_itself(
    tmp_path: Path, start_server: StartServer
) -> None:
    server = start_server()
    add_groups(server, *GROUPS)
    async with Proxy(server.socket_path, tmp_path / "s") as proxy, console_behind(proxy) as app:
        proxy.slow_down(SECONDS)
        await until(app, lambda: "no answer in time" in bar(app, "banner"))
        await until(app, lambda: bool(re.search(r"data [3-9]s old", bar(app, "banner"))))
        await follows_keys(app)
        proxy.resume()
        server.command("XGROUP", "CREATE", "orders", "new", "0")
        await until(app, lambda: names(app) == [*GROUPS, "orders/new"])
        await until(app, lambda: banner_hides(app))
        assert "stale" not in bar(app, "status")


async def test_a_server_that_is_stopped_and_started_again_is_found_by_itself(
    tmp_path: Path, start_server: StartServer
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    server = start_server("--dir", str(kept))
    add_groups(server, *GROUPS)
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
        await until(app, lambda: "server restarted or replaced" in bar(app, "banner"))
        assert "next try" not in bar(app, "banner")
