"""What the console says of a server that stops, comes back, fails over, is slow, or is another one."""

from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from streamops.operate.console import Console
from streamops.operate.watch import Watch
from streamops.tui.app import StreamopsApp
from streamops.tui.source import ContextInfo, TuiSettings
from streamops.tui.text_view import TextView
from streamops.wire.options import ConnectionOptions, Secret
from tests.servers import RunningServer, StartServer
from tests.tui.driving import bar, list_of, names, press, running, shown, until

OFTEN = timedelta(milliseconds=100)


def console_at(path: Path, timeout: timedelta = timedelta(seconds=2)) -> StreamopsApp:
    """A console on whatever listens behind a link; how long it waits for a reply."""
    label = f"unix://{path}"
    options = ConnectionOptions(addresses=(), socket_path=str(path), label=label, timeout=timeout)
    context = ContextInfo("test", "development", options.label, options.label)
    return StreamopsApp(TuiSettings(context, (context,), lambda _: Console.open(options), OFTEN))


def point(link: Path, server: RunningServer) -> Path:
    """Let an address lead to a server."""
    link.unlink(missing_ok=True)
    link.symlink_to(server.socket_path)
    return link


def prepare(server: RunningServer, group: str = "billing") -> None:
    server.command("XADD", "orders", "1-1", "a", "b")
    server.command("XGROUP", "CREATE", "orders", group, "0")


def hints(app: StreamopsApp) -> str:
    """The keys of plans that the last line offers."""
    return " ".join(word for word in bar(app, "keys").split() if word.isupper() and len(word) == 1)


async def test_a_server_that_goes_is_told_with_a_countdown_and_another_in_its_place_locks_writes(
    tmp_path: Path, start_server: StartServer
) -> None:
    first, second = start_server(), start_server()
    prepare(first)
    prepare(second, "shipping")
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
        assert "another server answers at this address: writes are locked" in bar(app, "banner")
        assert hints(app) == ""
        await press(app, "W")
        assert not any("Form" in type(screen).__name__ for screen in app.screen_stack)
        await press(app, "question_mark")
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
    prepare(primary)
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
        assert app.moment.stranger is None
        replica.command("SAVE")
        replica.kill()
        await until(app, lambda: app.moment.loss is not None)
        replica.restart()
        point(tmp_path / "s", replica)
        await press(app, "r")
        await until(app, lambda: app.moment.loss is None)
        assert app.moment.stranger is None
        assert "W" in hints(app)


async def test_a_slow_server_leaves_keys_answered_and_its_data_told_as_old(
    tmp_path: Path, start_server: StartServer
) -> None:
    server = start_server()
    prepare(server)
    server.command("XGROUP", "CREATE", "orders", "audit", "0")
    app = console_at(point(tmp_path / "s", server))
    async with running(app):
        await until(app, lambda: len(list_of(app).rows) == 2)
        server.command("CLIENT", "PAUSE", "1500", "ALL")
        polled = app.moment.arrived
        await press(app, "j", "question_mark")
        await shown(app, "The lag here")
        await press(app, "escape", "slash", *"audit", "enter")
        assert names(app) == ["orders/audit"]
        # All of this was answered while the server said nothing.
        assert app.moment.arrived == polled or app.moment.observation is not None
        await until(app, lambda: app.moment.arrived > polled)
        await until(app, lambda: "stretched: a poll takes" in bar(app, "status"))


async def test_what_a_user_may_not_read_is_told_in_its_place_and_the_rest_goes_on(
    any_server: RunningServer,
) -> None:
    prepare(any_server)
    any_server.command("XREADGROUP", "GROUP", "billing", "worker-1", "STREAMS", "orders", ">")
    any_server.command(
        "ACL", "SETUSER", "half", "reset", "on", ">right", "~*", "+@all", "-xpending", "-xrevrange"
    )
    options = replace(any_server.options, username="half", password=Secret("right"))
    context = ContextInfo("test", "development", options.label, options.label)
    app = StreamopsApp(TuiSettings(context, (context,), lambda _: Console.open(options), OFTEN))
    try:
        async with running(app):
            await until(app, lambda: names(app) == ["orders/billing"])
            await press(app, "enter")
            await until(app, lambda: names(app) == ["worker-1"])
            await press(app, "l")
            await shown(app, "no permission for XPENDING")
            await shown(app, "doctor --acl observer")
            await press(app, "escape", "t")
            await shown(app, "no permission for XREVRANGE")
            await shown(app, "doctor --acl")
            await press(app, "3")
            any_server.command("XGROUP", "CREATE", "orders", "audit", "0")
            await until(app, lambda: names(app) == ["orders/audit", "orders/billing"])
    finally:
        any_server.command("ACL", "DELUSER", "half")


async def test_an_empty_list_says_what_was_looked_for_and_among_how_much(any_server: RunningServer) -> None:
    for number in range(30):
        any_server.command("SET", f"key:{number}", "x")
    any_server.command("XADD", "payments", "1-1", "a", "b")
    context = ContextInfo("test", "development", any_server.options.label, any_server.unix_url)
    watch = Watch(streams=("orders:*",))
    app = StreamopsApp(
        TuiSettings(context, (context,), lambda _: Console.open(any_server.options, watch), OFTEN)
    )
    async with running(app):
        await shown(app, "no streams match orders:* in db 0; scanned 31 keys")
