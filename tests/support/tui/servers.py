"""The console on real servers: what opens it, what lies there, and what a test looks for."""

from datetime import timedelta
from pathlib import Path

from streamops.model.acting import Actor, Environment
from streamops.operations.console import Console
from streamops.tui.app import StreamopsApp
from streamops.tui.source import ContextInfo, TuiSettings
from streamops.wire.options import ConnectionOptions
from tests.support.servers import RunningServer
from tests.support.tui.driving import bar, list_of, names, press, until

OFTEN = timedelta(milliseconds=100)
ENTRIES = 5
PENDING = ["enter", "l"]
GROUPS = ["orders/audit", "orders/billing", "orders/mail"]


def console_on(
    server: RunningServer,
    environment: Environment = Environment.DEVELOPMENT,
    *,
    read_only: bool = False,
    hides: bool = True,
) -> StreamopsApp:
    """The console; where it does not hide what is read-only, only the engine refuses."""
    context = ContextInfo(
        "test", environment, server.options.label, server.unix_url, read_only=read_only and hides
    )
    actor = Actor("ada", "bastion-1", 4711, "test", environment)
    return StreamopsApp(
        TuiSettings(
            context,
            (context,),
            lambda _: Console.open(server.options, actor=actor, read_only=read_only),
            OFTEN,
        )
    )


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


def add_groups(server: RunningServer, *groups: str) -> None:
    """A stream of one entry with groups, given as ``stream/group`` or by their names."""
    server.command("XADD", "orders", "1-1", "a", "b")
    for name in groups:
        server.command("XGROUP", "CREATE", "orders", name.removeprefix("orders/"), "0")


def deliver_some(server: RunningServer) -> list[str]:
    """A stream of five entries, a group that was given three of them and acknowledged one."""
    ids = [server.command("XADD", "orders", "*", "n", str(number)).decode() for number in range(5)]
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "worker-1", "COUNT", "3", "STREAMS", "orders", ">")
    server.command("XACK", "orders", "billing", ids[0])
    return ids


def deliver_all(
    server: RunningServer, stream: bytes | str = "orders", group: bytes | str = "billing"
) -> list[str]:
    """A stream whose entries are all pending with one consumer."""
    ids = [server.command("XADD", stream, "*", "n", str(number)).decode() for number in range(ENTRIES)]
    server.command("XGROUP", "CREATE", stream, group, "0")
    server.command("XREADGROUP", "GROUP", group, "worker-1", "STREAMS", stream, ">")
    return ids


async def to_pending(app: StreamopsApp, rows: int = ENTRIES) -> None:
    await until(app, lambda: names(app) == ["orders/billing"])
    await press(app, *PENDING)
    await until(app, lambda: len(names(app)) == rows)


def hints(app: StreamopsApp) -> str:
    """The keys of plans that the last line offers."""
    return " ".join(word for word in bar(app, "keys").split() if word.isupper() and len(word) == 1)


async def follows_keys(app: StreamopsApp) -> None:
    """The highlight moves, and a filter is taken, though nothing new arrives."""
    arrived = app.app_state.arrived
    await press(app, "home", "j")
    assert list_of(app).cursor == 1
    assert app.app_state.arrived == arrived
    await press(app, "j")
    assert list_of(app).cursor == 2
    await press(app, "slash", *"mail", "enter")
    assert names(app) == ["orders/mail"]
    await press(app, "escape")
    assert names(app) == GROUPS
