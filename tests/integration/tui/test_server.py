"""The console on real servers, through the real ``Console``: what is invented elsewhere is what they say."""

import pytest

from streamops.resources.groups import GroupRow
from streamops.tui.app import StreamopsApp
from tests.support.servers import RunningServer
from tests.support.tui.driving import bar, list_of, names, press, running, shown, until
from tests.support.tui.servers import console_on, deliver_some


def lag(app: StreamopsApp) -> int | None:
    """The lag in the first row."""
    row = list_of(app).rows[0]
    assert isinstance(row, GroupRow)
    return None if row.group is None else row.group.group.lag.entries


async def test_change_on_the_server_shows_by_itself(server: RunningServer) -> None:
    deliver_some(server)
    app = console_on(server)
    async with running(app):
        await until(app, lambda: names(app) == ["orders/billing"])
        await until(app, lambda: lag(app) == 2)
        server.command("XADD", "orders", "*", "n", "6")
        await until(app, lambda: lag(app) == 3)
        server.command("XGROUP", "DESTROY", "orders", "billing")
        await until(app, lambda: names(app) == ["orders/-"])


async def test_the_tail_follows_a_real_stream(server: RunningServer) -> None:
    deliver_some(server)
    app = console_on(server)
    async with running(app):
        await until(app, lambda: names(app) == ["orders/billing"])
        await press(app, "t")
        await until(app, lambda: len(list_of(app).rows) == 5)
        server.command("XADD", "orders", "*", "n", "six")
        await until(app, lambda: len(list_of(app).rows) == 6)
        await shown(app, "n=six")


@pytest.mark.parametrize(
    "name", [b"\xff[@click=app.bell]x[/]\x1b]52;c;eA==\x07", b""], ids=["hostile", "empty"]
)
async def test_any_name_leads_to_its_stream(server: RunningServer, name: bytes) -> None:
    server.command("XADD", name, "*", name, name)
    server.command("XGROUP", "CREATE", name, name, "0")
    server.command("XREADGROUP", "GROUP", name, name, "STREAMS", name, ">")
    app = console_on(server)
    async with running(app):
        await until(app, lambda: len(list_of(app).rows) == 1)
        await press(app, "enter")
        await until(app, lambda: bar(app, "crumbs").count("▸") == 2 and len(list_of(app).rows) == 1)
        await press(app, "enter")
        await until(app, lambda: bar(app, "crumbs").count("▸") == 3 and len(list_of(app).rows) == 1)
        await press(app, "enter", "escape", "escape", "t")
        await until(app, lambda: "following" in bar(app, "status") and len(list_of(app).rows) == 1)
