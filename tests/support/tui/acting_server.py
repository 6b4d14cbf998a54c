"""Shared by the tests of acting server."""

from datetime import timedelta

from streamops.model.acting import Actor, Environment
from streamops.operate.console import Console
from streamops.tui.app import StreamopsApp
from streamops.tui.source import ContextInfo, TuiSettings
from tests.support.servers import RunningServer
from tests.support.tui.driving import names, press, until

ENTRIES = 5
PENDING = ["enter", "l"]


def console_on(
    server: RunningServer,
    environment: Environment = Environment.PRODUCTION,
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
            timedelta(milliseconds=100),
        )
    )


def prepare(
    server: RunningServer, stream: bytes | str = "orders", group: bytes | str = "billing"
) -> list[str]:
    """A stream whose entries are all pending with one consumer."""
    ids = [server.command("XADD", stream, "*", "n", str(number)).decode() for number in range(ENTRIES)]
    server.command("XGROUP", "CREATE", stream, group, "0")
    server.command("XREADGROUP", "GROUP", group, "worker-1", "STREAMS", stream, ">")
    return ids


def pending(server: RunningServer, stream: bytes | str = "orders", group: bytes | str = "billing") -> int:
    count: int = server.command("XPENDING", stream, group)[0]
    return count


async def to_pending(app: StreamopsApp, rows: int = ENTRIES) -> None:
    await until(app, lambda: names(app) == ["orders/billing"])
    await press(app, *PENDING)
    await until(app, lambda: len(names(app)) == rows)


def typed_word(app: StreamopsApp) -> str:
    said: str = app.frame.query_one("#says").text  # type: ignore[attr-defined]
    return said.removeprefix("Tab, then type ").strip()
