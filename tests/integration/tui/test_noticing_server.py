"""Pulse, charts and alerts on a real server: what is invented elsewhere is what it says."""

import time

from streamops.model.delayed import DelayedBody
from streamops.tui.history.memory import LAG, TIERS
from streamops.wire.delayed import encode_body
from streamops.wire.keys import delayed_key
from tests.support.servers import RunningServer
from tests.support.tui.driving import press, running, shown, until
from tests.support.tui.servers import console_on, deliver_some


async def test_the_whole_of_a_real_server(server: RunningServer) -> None:
    deliver_some(server)
    due = int(time.time() * 1000) + 3_600_000  # noqa: TID251 - a message due by the server's own clock
    server.command("ZADD", delayed_key("orders"), str(due), "later")
    body = encode_body(DelayedBody("orders", ((b"n", b"1"),)))
    server.command("HSET", f"{delayed_key('orders')}:jobs", "later", body)
    app = console_on(server)
    async with running(app):
        await until(
            app, lambda: app.app_state.past is not None and "orders" in str(app.app_state.past._groups)
        )
        await press(app, "1")
        await shown(app, "no streamops workers here")
        await shown(app, "1 in 1 queue · 0 due · next in ")
        await shown(app, "without a limit · noeviction")
        await shown(app, "2 not delivered · 2 pending")


async def test_a_lag_that_grows_on_a_real_server_is_drawn(server: RunningServer) -> None:
    deliver_some(server)
    app = console_on(server)
    async with running(app):
        await until(
            app, lambda: app.app_state.past is not None and app.app_state.past.remembers("orders", "billing")
        )
        await press(app, "g")
        await shown(app, "Lag entries  2")
        for number in range(40):
            server.command("XADD", "orders", "*", "n", str(number))
        await shown(app, "Lag entries  42")
        past, observation = app.app_state.past, app.app_state.observation
        assert past is not None
        assert observation is not None
        until_then = observation.snapshot.collected_at.timestamp()
        points = past.points("orders", "billing", LAG, TIERS[0], until_then)
        assert points[-1].value == 42
        assert 0 <= until_then - points[-1].at < 60


async def test_finding_about_a_real_server_is_an_alert(server: RunningServer) -> None:
    server.command("XADD", "orders:dlq", "*", "n", "1")
    app = console_on(server)
    async with running(app):
        await press(app, "6")
        await shown(app, "dead letters")
        await shown(app, "$ streamops dlq show orders:dlq")
