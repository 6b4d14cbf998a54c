"""Pools of real servers in the console, through the real engine."""

from tests.support.servers import RunningServer
from tests.support.tui.driving import names, press, running, screen_text, shown, until
from tests.support.tui.servers import console_on
from tests.support.written_pools import UP, write_pool, write_pools

KEY = "streamops:pool:billing"


async def test_a_pool_is_scaled_and_its_controller_steered_on_every_server(server: RunningServer) -> None:
    write_pool(server, "billing", UP, desired=4)
    app = console_on(server)
    async with running(app):
        await press(app, "5", "5")
        await until(app, lambda: names(app) == ["billing"])
        await press(app, "S", "6", "enter")
        await shown(app, "4 to 6 workers.")
        await press(app, "enter")
        await shown(app, "pool billing was asked for 6 workers")
        assert server.command("HGET", KEY, "desired") == b"6"
        await press(app, "escape")
        await until(app, lambda: names(app) == ["billing"])
        await press(app, "A", "enter")
        await shown(app, "changes nothing, until it is resumed")
        await press(app, "enter")
        await shown(app, "its controller follows with its next decision")
        assert server.command("HGET", KEY, "scaling") == b"paused"
        await press(app, "escape")
        # It is read again after what was done, and the same key takes it back.
        await shown(app, "scaling: paused")
        await press(app, "A", "enter")
        await shown(app, "The policy sets the worker count of pool billing again.")


async def test_nothing_hostile_reaches_the_terminal(server: RunningServer) -> None:
    write_pools(server)
    app = console_on(server)
    async with running(app):
        await press(app, "5", "5")
        await until(app, lambda: len(names(app)) == 5)
        await press(app, *"jjj", "r")
        await shown(app, "Decisions")
        assert "\x1b" not in screen_text(app)
        await press(app, "enter")
        await shown(app, "deployment shop/mail: refused")
        assert "\x1b" not in screen_text(app)
