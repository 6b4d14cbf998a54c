"""Shared by the tests of states server."""

from datetime import timedelta
from pathlib import Path

from streamops.operate.console import Console
from streamops.tui.app import StreamopsApp
from streamops.tui.source import ContextInfo, TuiSettings
from streamops.wire.options import ConnectionOptions
from tests.support.servers import RunningServer
from tests.support.tui.driving import bar

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
