"""Every command that goes on, and all processes that it starts, in a folder full of modules named like ours."""

import asyncio
import re

import aiohttp
import pytest

from tests.support.eventually import eventually
from tests.support.security.traps import PATIENCE, Trapped
from tests.support.servers import RunningServer
from tests.support.tui.web.server import read_until
from tests.support.webhooks.receiver import running_receiver

CONFIG = """
default_context = "local"
[contexts.local]
url = "{url}"
[callbacks]
hosts = ["127.0.0.1"]
[intake]
listen = "127.0.0.1:0"
anonymous = true
[[topics]]
name = "remind"
url = "{receiver}"
[pools.default]
stream = "jobs"
group = "g"
[notify]
urls_file = "notify.urls"
"""
APP = """
from streamops.runtime import Entry, Streamops

app = Streamops()

@app.handler("jobs", group="g", start="0")
def handle(entry: Entry) -> None:
    import goods
    print("handled", goods.NAME, flush=True)
"""
ANYWHERE = ("--listen", "127.0.0.1:0")


def configure(trapped: Trapped, server: RunningServer, receiver: str = "http://127.0.0.1:9/") -> None:
    place = trapped.program.parent / ".config" / "streamops"
    place.mkdir(parents=True)
    (place / "config.toml").write_text(CONFIG.format(url=server.url, receiver=receiver))
    (place / "notify.urls").write_text("json://127.0.0.1:9/\n")


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


async def test_exporter_runs_nothing_of_the_folder(server: RunningServer, trapped: Trapped) -> None:
    configure(trapped, server)
    server.command("XADD", "jobs", "*", "n", 1)
    words = ("exporter", *ANYWHERE, "--notify")
    async with (
        trapped.running(*words, until=r"(http://127\.0\.0\.1:\d+/metrics)") as (_, place),
        aiohttp.ClientSession() as session,
        session.get(place[1]) as answer,
    ):
        assert "streamops_stream_length" in await answer.text()
    assert trapped.sprung == set()


async def test_topics_are_served_without_a_module_of_the_folder(
    server: RunningServer, trapped: Trapped
) -> None:
    async with running_receiver() as receiver, aiohttp.ClientSession() as session:
        configure(trapped, server, f"{receiver.url}/remind")
        async with trapped.running("webhooks", "serve", until=r"accepted at (127\.0\.0\.1:\d+)") as (
            _,
            place,
        ):
            async with session.post(f"http://{place[1]}/topics/remind/messages", json={"n": 1}) as answer:
                assert answer.status < 300, await answer.text()
            await eventually(lambda: bool(receiver.seen))
    assert trapped.sprung == set()


@pytest.mark.parametrize(
    ("words", "until"),
    [(("keda", *ANYWHERE, "--http", "127.0.0.1:0"), "external scaler at"), (("run",), "default")],
)
async def test_scalers_run_nothing_of_the_folder(
    server: RunningServer, trapped: Trapped, words: tuple[str, ...], until: str
) -> None:
    configure(trapped, server)
    server.command("XGROUP", "CREATE", "jobs", "g", "0", "MKSTREAM")
    async with trapped.running("autoscale", *words, until=until):
        pass
    assert trapped.sprung == set()


@pytest.mark.parametrize(
    "words",
    [
        ("demo", "--seconds", "2"),
        ("drill", "--events", "200", "--yes"),
        ("drill", "--events", "200", "--workers", "1-2", "--yes"),
    ],
    ids=" ".join,
)
async def test_what_brings_its_own_workers_runs_nothing_of_the_folder(
    server: RunningServer, trapped: Trapped, words: tuple[str, ...]
) -> None:
    configure(trapped, server)
    process = await trapped.start(*words)
    async with asyncio.timeout(3 * PATIENCE):
        out, told = await process.communicate()
    assert process.returncode == 0, out + told
    assert trapped.sprung == set()


async def test_commands_that_end_run_nothing_of_the_folder(server: RunningServer, trapped: Trapped) -> None:
    configure(trapped, server)
    for words in (("status",), ("doctor",), ("webhooks", "ls"), ("config", "show"), ("tui", "--keys")):
        process = await trapped.start(*words)
        async with asyncio.timeout(PATIENCE):
            _, told = await process.communicate()
        assert not re.search(rb"Traceback|a trap", told), told
        assert process.returncode == 0, told
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
        await socket.send_str(token)
        await read_until(socket, b"orders")
    assert trapped.sprung == set()
