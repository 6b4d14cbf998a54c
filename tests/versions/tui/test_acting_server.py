"""Acting on real servers, through the real engine: what the console plans is what the server says, and what it applies is done."""

import pytest

from streamops.model.acting import Environment
from tests.support.servers import RunningServer
from tests.support.tui.driving import names, press, running, shown, until
from tests.support.tui.servers import ENTRIES, console_on, deliver_all, to_pending

pytestmark = pytest.mark.border_servers("the way through the console is walked on each version")


async def test_giving_back_and_undoing_it_on_every_server(server: RunningServer) -> None:
    ids = deliver_all(server)
    app = console_on(server, Environment.PRODUCTION)
    async with running(app):
        await to_pending(app)
        await press(app, "space", "space", "N", "enter")
        await shown(app, "2 entries will be free for any consumer")
        await shown(app, "Tab, then type 2")
        await press(app, "tab", "2", "enter")
        await shown(app, "2 of 2")
        assert given_back(server) == 2
        await press(app, "z")
        await shown(app, "Undoes nack")
        await shown(app, "Tab, then Enter applies")
        await press(app, "tab", "enter")
        await shown(app, "2 of 2")
        assert given_back(server) == 0
        await press(app, "escape")
        await until(app, lambda: names(app) == ids)
        await press(app, "at")
        await until(app, lambda: len(names(app)) == 2)
        await shown(app, "ada@bastion-1")
        await shown(app, "↶ undone")


def given_back(server: RunningServer) -> int:
    """How many entries look as idle as those that were given back."""
    rows = server.command("XPENDING", "orders", "billing", "-", "+", ENTRIES)
    return sum(row[2] >= 30 * 86_400_000 for row in rows)
