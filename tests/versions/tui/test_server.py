"""The console on real servers, through the real ``Console``: what is invented elsewhere is what they say."""

import pytest

from tests.support.servers import RunningServer
from tests.support.tui.driving import bar, names, press, running, shown, until
from tests.support.tui.servers import console_on, deliver_some

pytestmark = pytest.mark.border_servers("the way through the console is walked on each version")


async def test_the_way_from_streams_to_an_entry_on_every_server(server: RunningServer) -> None:
    ids = deliver_some(server)
    app = console_on(server)
    async with running(app):
        await until(app, lambda: names(app) == ["orders/billing"])
        await until(app, lambda: "still scanning" not in bar(app, "status"))
        await press(app, "enter")
        await until(app, lambda: names(app) == ["worker-1"])
        await press(app, "enter")
        await until(app, lambda: names(app) == [ids[1], ids[2]])
        await press(app, "down", "enter")
        await shown(app, f" {ids[2]}")
        await shown(app, "▸n  2  text · 1 B")
        await shown(app, "group billing: pending with worker-1, delivered 1 time")
