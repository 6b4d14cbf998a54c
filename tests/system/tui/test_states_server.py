"""What the console says of a server that stops, comes back, fails over, is slow, or is another one."""

from pathlib import Path

from streamops.tui.widgets.text_view import TextView
from tests.support.servers import RunningServer, StartServer
from tests.support.tui.driving import bar, list_of, names, press, running, shown, until
from tests.support.tui.servers import add_groups, console_at, console_on, deliver_some, hints, point


async def test_a_server_that_goes_is_told_with_a_countdown_and_another_in_its_place_locks_writes(
    tmp_path: Path, start_server: StartServer
) -> None:
    first, second = start_server(), start_server()
    add_groups(first, "billing")
    add_groups(second, "shipping")
    app = console_at(point(tmp_path / "s", first))
    async with running(app):
        await until(app, lambda: names(app) == ["orders/billing"])
        assert "W" in hints(app)
        first.kill()
        await until(app, lambda: "next try in" in bar(app, "banner"))
        assert "data" in bar(app, "banner")
        assert names(app) == ["orders/billing"]
        point(tmp_path / "s", second)
        await press(app, "r")
        await until(app, lambda: names(app) == ["orders/shipping"])
        assert "server restarted or replaced: writes are locked" in bar(app, "banner")
        assert hints(app) == ""
        await press(app, "W")
        assert not any("Form" in type(screen).__name__ for screen in app.screen_stack)
        await press(app, "question_mark", "question_mark")
        view = app.frame.query_one("#main", TextView)
        await until(app, lambda: len(view.lines) > 0)
        assert "plan to" not in "".join(cell.text for line in view.lines for cell in line)
        await press(app, "escape", "ctrl+y")
        await until(app, lambda: not app.frame.query_one("#banner").display)
        assert "W" in hints(app)


async def test_a_failover_and_a_restart_from_a_file_are_the_same_server(
    tmp_path: Path, start_server: StartServer
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    primary, replica = start_server(), start_server("--dir", str(kept))
    add_groups(primary, "billing")
    replica.command("REPLICAOF", "127.0.0.1", str(primary.port))
    app = console_at(point(tmp_path / "s", primary))
    async with running(app):
        await until(app, lambda: names(app) == ["orders/billing"])
        await until(app, lambda: b"master_link_status:up" in replica.command("INFO", "replication"))
        replica.command("REPLICAOF", "NO", "ONE")
        point(tmp_path / "s", replica)
        primary.kill()
        replica.command("XGROUP", "CREATE", "orders", "audit", "0")
        await press(app, "r")
        await until(app, lambda: names(app) == ["orders/audit", "orders/billing"])
        assert app.app_state.mismatch is None
        replica.command("SAVE")
        replica.kill()
        await until(app, lambda: app.app_state.loss is not None)
        replica.restart()
        point(tmp_path / "s", replica)
        await press(app, "r")
        await until(app, lambda: app.app_state.loss is None)
        assert app.app_state.mismatch is None
        assert "W" in hints(app)


async def test_a_slow_server_leaves_keys_answered_and_its_data_told_as_old(
    tmp_path: Path, start_server: StartServer
) -> None:
    server = start_server()
    add_groups(server, "billing")
    server.command("XGROUP", "CREATE", "orders", "audit", "0")
    app = console_at(point(tmp_path / "s", server))
    async with running(app):
        await until(app, lambda: len(list_of(app).rows) == 2)
        server.command("CLIENT", "PAUSE", "1500", "ALL")
        polled = app.app_state.arrived
        await press(app, "j", "question_mark", "question_mark")
        await shown(app, "The lag here")
        await press(app, "escape", "slash", *"audit", "enter")
        assert names(app) == ["orders/audit"]
        # All of this was answered while the server said nothing.
        assert app.app_state.arrived == polled or app.app_state.observation is not None
        await until(app, lambda: app.app_state.arrived > polled)
        await until(app, lambda: "stretched: a poll takes" in bar(app, "status"))


async def test_a_server_that_stops_answering_is_a_banner_until_it_answers_again(
    server: RunningServer,
) -> None:
    deliver_some(server)
    app = console_on(server)
    async with running(app):
        await until(app, lambda: names(app) == ["orders/billing"])
        server.pause()
        try:
            await until(app, lambda: "✗" in bar(app, "banner"))
            assert names(app) == ["orders/billing"]
        finally:
            server.resume()
        await press(app, "r")
        await until(app, lambda: not app.frame.query_one("#banner").display)
