"""Commands in a folder that somebody filled with modules named like ours: none of them runs."""

import aiohttp

from tests.support.security.traps import Trapped
from tests.support.servers import RunningServer
from tests.support.tui.web.server import read_until


async def test_console_in_a_browser_runs_nothing_of_the_folder(
    server: RunningServer, trapped: Trapped
) -> None:
    server.command("XADD", "orders", "*", "a", "1")
    words = ("--url", server.unix_url, "tui", "--web", "--listen", "127.0.0.1:0")
    async with (
        trapped.running(*words, until=r"(http://[^/]+)/#(\S+)") as (_, printed),
        aiohttp.ClientSession() as session,
    ):
        origin, token = printed.groups()
        socket = await session.ws_connect(f"{origin}/ws?width=160&height=40", headers={"Origin": origin})
        await socket.send_json(["token", token])
        await read_until(socket, b"orders")
    assert trapped.sprung == set()
