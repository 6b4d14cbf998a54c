"""``exporter`` as a process: what it says, what it serves, and how it ends."""

import asyncio
import json
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import bcrypt

from streamops.service.listening import bind
from tests.support.cli.exporter import ANYWHERE, Started, assert_told, ended, running, spawn
from tests.support.servers import RunningServer, StartServer


async def no_longer_taken(started: Started) -> None:
    """Wait until new connections are refused."""
    async with asyncio.timeout(20):
        while True:
            try:
                async with aiohttp.ClientSession(started.session._base_url) as other:
                    await other.get("/-/healthy")
            except aiohttp.ClientConnectionError:
                return


async def test_from_start_to_end(server: RunningServer, tmp_path: Path) -> None:
    server.command("XADD", "orders", "1-1", "a", "b")
    async with running(tmp_path, "--url", server.url) as started:
        assert started.told.startswith(f"metrics of {server.url} at http://127.0.0.1:")
        assert "warning" not in started.told
        answer = await started.get("/metrics")
        assert answer.value("streamops_up") == 1
        assert answer.value('streamops_stream_length{db="0",stream="orders"}') == 1
        started.process.send_signal(signal.SIGINT)
        async with asyncio.timeout(20):
            assert await started.process.wait() == 0


@asynccontextmanager
async def scraping(started: Started) -> AsyncIterator[asyncio.StreamReader]:
    """Ask for a page, and wait until the exporter has read that; where its answer will come."""
    url = started.session._base_url
    assert url is not None
    reader, writer = await asyncio.open_connection(url.host, url.port)
    writer.write(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    await writer.drain()
    # It reads what comes on its connections in their order.
    assert (await started.get("/-/healthy")).status == 200
    try:
        yield reader
    finally:
        writer.close()


async def test_scrapes_under_way_finish(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server()
    server.pause()
    async with running(tmp_path, "--url", server.url, "--timeout", "30") as started:
        async with scraping(started) as answer:
            started.process.send_signal(signal.SIGTERM)
            await no_longer_taken(started)
            server.resume()
            assert b"\nstreamops_up 1" in await answer.read()
        async with asyncio.timeout(20):
            assert await started.process.wait() == 0


async def test_a_scrape_that_does_not_end_is_not_waited_for(
    start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server()
    server.pause()
    async with running(tmp_path, "--url", server.url, "--timeout", "600") as started:
        async with scraping(started) as answer:
            started.process.send_signal(signal.SIGTERM)
            await no_longer_taken(started)
            assert started.process.returncode is None
            # Asked again, it ends at once.
            started.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(30):
                assert await started.process.wait() == 0
            assert await answer.read() == b""
        server.resume()


async def test_without_a_server_it_starts_all_the_same(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server()
    server.kill()
    async with running(tmp_path, "--url", server.url, "--log-format", "json") as started:
        assert (await started.get("/metrics")).value("streamops_up") == 0
        assert (await started.get("/-/ready")).status == 200
        assert started.process.stderr is not None
        async with asyncio.timeout(20):
            line = json.loads(await started.process.stderr.readline())
        assert (line["event"], line["level"]) == ("redis cannot be read", "warning")
        assert "cannot be reached" in line["reason"]
        server.restart()
        async with asyncio.timeout(20):
            while (await started.get("/metrics")).value("streamops_up") != 1:  # noqa: ASYNC110 - pages are kept for a second
                await asyncio.sleep(0.05)


async def test_contexts_options_and_a_web_config(server: RunningServer, tmp_path: Path) -> None:
    for name in ("orders", "orders:scratch", "payments"):
        server.command("XADD", name, "1-1", "a", "b")
        server.command("XGROUP", "CREATE", name, "g", "0")
    written = bcrypt.hashpw(b"secret", bcrypt.gensalt(4)).decode()
    (tmp_path / "web.yml").write_text(f'basic_auth_users: {{prometheus: "{written}"}}')
    (tmp_path / "streamops.toml").write_text(
        f"""
        default_context = "here"
        [contexts.here]
        url = "{server.url}"
        [contexts.there]
        url = "{server.url}"
        streams = ["payments"]
        [exporter]
        web_config = "web.yml"
        exclude = [".*:scratch"]
        """
    )
    login = {"Authorization": aiohttp.encode_basic_auth("prometheus", "secret")}
    async with running(tmp_path, "orders*", "--granularity", "stream") as started:
        assert (await started.get("/metrics")).status == 401
        page = (await started.get("/metrics", **login)).text
        streams = set(re.findall(r'streamops_stream_length\{db="0",stream="([^"]+)"\}', page))
        assert streams == {"orders"}
        assert "streamops_group_lag_known" not in page
        probed = (await started.get("/probe?target=there", **login)).text
        assert set(re.findall(r'streamops_stream_length\{db="0",stream="([^"]+)"\}', probed)) == {"payments"}
        assert (await started.get("/probe?target=elsewhere", **login)).status == 404
        # A context that was added meanwhile needs no restart.
        with (tmp_path / "streamops.toml").open("a") as file:
            file.write(f'[contexts.elsewhere]\nurl = "{server.url}"\n')
        assert (await started.get("/probe?target=elsewhere", **login)).value("streamops_up") == 1
        # A web-config that was broken meanwhile changes nothing.
        (tmp_path / "web.yml").write_text("basic_auth_users: [")
        assert (await started.get("/metrics", **login)).status == 200
        assert (await started.get("/metrics")).status == 401
        started.process.send_signal(signal.SIGTERM)
        assert started.process.stderr is not None
        told = (await started.process.stderr.read()).decode()
        assert told.count("stays in force") == 1


async def test_who_lets_everybody_in_is_warned(server: RunningServer, tmp_path: Path) -> None:
    process = await spawn(tmp_path, "--url", server.url, "--listen", "0.0.0.0:0")
    assert process.stderr is not None
    try:
        async with asyncio.timeout(30):
            lines = [(await process.stderr.readline()).decode() for _ in range(2)]
    finally:
        process.kill()
        await process.communicate()
    assert lines[0].startswith("warning: anyone who reaches 0.0.0.0:")
    assert "--web-config" in lines[0]
    assert lines[1].startswith("metrics of ")


async def test_what_cannot_be_served_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.yml").write_text("basic_auth_users: {alice: [")
    with bind("127.0.0.1", 0) as other:
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        ends = await asyncio.gather(
            ended(tmp_path, "--listen", taken),
            ended(tmp_path, "--web-config", "missing.yml", *ANYWHERE),
            ended(tmp_path, "--web-config", "bad.yml", *ANYWHERE),
            # As a variable of a shell that is not set: it was not meant to be the default.
            ended(tmp_path, "--listen", ""),
        )
    assert_told(ends[0][0], "", ends[0][1], "Address already in use", "--listen HOST:PORT")
    assert_told(ends[1][0], "", ends[1][1], "missing.yml: cannot be read", "permissions")
    assert_told(ends[2][0], "", ends[2][1], "bad.yml, line 1", "exporter-toolkit")
    assert_told(ends[3][0], "", ends[3][1], "--listen: not HOST:PORT", "127.0.0.1:9641")
    assert ends[0][1].count(taken) == 1
