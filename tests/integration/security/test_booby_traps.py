"""Commands in a folder that somebody filled with modules named like ours: none of them runs."""

import asyncio
from pathlib import Path

import aiohttp
import pytest

from tests.support.security.traps import Trapped, lay_traps
from tests.support.servers import RunningServer
from tests.support.tui.web.server import read_until

APP = """
from streamops.runtime import Entry, Streamops

app = Streamops()

@app.handler("jobs", group="g", start="0")
def handle(entry: Entry) -> None:
    import goods
    print("handled", goods.NAME, flush=True)
"""


@pytest.fixture
def trapped(tmp_path: Path) -> Trapped:
    return lay_traps(tmp_path)


async def test_workers_run_their_application_from_the_folder_and_nothing_else(
    server: RunningServer, trapped: Trapped
) -> None:
    (trapped.folder / "shop_of_ours.py").write_text(APP)
    (trapped.folder / "goods.py").write_text("NAME = 'from here'\n")
    server.command("XADD", "jobs", "*", "n", 1)
    words = ("--url", server.unix_url, "run", "shop_of_ours:app", "--metrics", "127.0.0.1:0")
    async with trapped.running(*words, until="handled from here") as (process, _):
        pass
    assert process.returncode == 0
    assert trapped.sprung == set()


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


async def test_processes_of_a_simulation_run_nothing_of_the_folder(trapped: Trapped) -> None:
    words = ("--shape", "burst50k", "--max", "2", "--seeds", "2", "--against", "none", "--processes", "2")
    process = await trapped.start("autoscale", "simulate", *words)
    _, told = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, told
    assert trapped.sprung == set()
