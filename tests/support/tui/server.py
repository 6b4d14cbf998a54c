"""Shared by the tests of server."""

from datetime import timedelta

from streamops.operate.console import Console
from streamops.tui.app import StreamopsApp
from streamops.tui.source import ContextInfo, TuiSettings
from tests.support.servers import RunningServer


def console_on(server: RunningServer) -> StreamopsApp:
    context = ContextInfo("test", "development", server.options.label, server.unix_url)
    return StreamopsApp(
        TuiSettings(context, (context,), lambda _: Console.open(server.options), timedelta(milliseconds=100))
    )


def prepare(server: RunningServer) -> list[str]:
    """A stream of five entries, a group that was given three of them and acknowledged one."""
    ids = [server.command("XADD", "orders", "*", "n", str(number)).decode() for number in range(5)]
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "worker-1", "COUNT", "3", "STREAMS", "orders", ">")
    server.command("XACK", "orders", "billing", ids[0])
    return ids
