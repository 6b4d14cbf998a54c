"""Shared by the tests of faults server."""

from streamops.tui.app import StreamopsApp
from tests.support.servers import RunningServer
from tests.support.tui.driving import list_of, names, press

GROUPS = ["orders/audit", "orders/billing", "orders/mail"]


def prepare(server: RunningServer) -> None:
    server.command("XADD", "orders", "1-1", "a", "b")
    for name in GROUPS:
        server.command("XGROUP", "CREATE", "orders", name.removeprefix("orders/"), "0")


async def follows_keys(app: StreamopsApp) -> None:
    """The highlight moves, and a filter is taken, though nothing new arrives."""
    arrived = app.moment.arrived
    await press(app, "home", "j")
    assert list_of(app).cursor == 1
    assert app.moment.arrived == arrived
    await press(app, "j")
    assert list_of(app).cursor == 2
    await press(app, "slash", *"mail", "enter")
    assert names(app) == ["orders/mail"]
    await press(app, "escape")
    assert names(app) == GROUPS
