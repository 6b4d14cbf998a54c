"""What the console says of a server that stops, comes back, fails over, is slow, or is another one."""

from msgspec.structs import replace

from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.tui.app import StreamopsApp
from streamops.tui.source import ContextInfo, TuiSettings
from streamops.wire.options import Secret
from tests.support.servers import RunningServer
from tests.support.tui.driving import names, press, running, shown, until
from tests.support.tui.servers import OFTEN, add_groups


async def test_reads_without_permission_are_told_in_their_place_and_the_rest_goes_on(
    server: RunningServer,
) -> None:
    add_groups(server, "billing")
    server.command("XREADGROUP", "GROUP", "billing", "worker-1", "STREAMS", "orders", ">")
    server.command(
        "ACL", "SETUSER", "half", "reset", "on", ">right", "~*", "+@all", "-xpending", "-xrevrange"
    )
    options = replace(server.options, username="half", password=Secret("right"))
    context = ContextInfo("test", "development", options.label, options.label)
    app = StreamopsApp(TuiSettings(context, (context,), lambda _: Console.open(options), OFTEN))
    try:
        async with running(app):
            await until(app, lambda: names(app) == ["orders/billing"])
            await press(app, "enter")
            await until(app, lambda: names(app) == ["worker-1"])
            await press(app, "l")
            await shown(app, "no permission for XPENDING")
            await shown(app, "doctor --acl observer")
            await press(app, "escape", "t")
            await shown(app, "no permission for XREVRANGE")
            await shown(app, "doctor --acl")
            await press(app, "3")
            server.command("XGROUP", "CREATE", "orders", "audit", "0")
            await until(app, lambda: names(app) == ["orders/audit", "orders/billing"])
    finally:
        server.command("ACL", "DELUSER", "half")


async def test_an_empty_list_says_what_was_looked_for_and_among_how_much(server: RunningServer) -> None:
    for number in range(30):
        server.command("SET", f"key:{number}", "x")
    server.command("XADD", "payments", "1-1", "a", "b")
    context = ContextInfo("test", "development", server.options.label, server.unix_url)
    watch = Watch(streams=("orders:*",))
    app = StreamopsApp(TuiSettings(context, (context,), lambda _: Console.open(server.options, watch), OFTEN))
    async with running(app):
        await shown(app, "no streams match orders:* in db 0; scanned 31 keys")
