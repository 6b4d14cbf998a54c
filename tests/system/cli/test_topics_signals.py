"""Signals of ``webhooks serve``."""

import asyncio
import os
import re
import signal
from pathlib import Path

import aiohttp
import pytest

from tests.support.eventually import eventually
from tests.support.prometheus import assert_clean
from tests.support.servers import RunningServer
from tests.support.webhooks.receiver import running_receiver
from tests.system.cli.test_topics_serve import PATIENCE, TOKEN, children, served, write

HEADERS = {"Authorization": f"Bearer {TOKEN}"}


def workers(server: RunningServer) -> set[bytes]:
    """The workers that live, by their heartbeats."""
    return set(server.command("KEYS", "streamops:worker:*"))


async def test_sighup_replaces_the_workers_of_topics_and_ends_nothing(
    server: RunningServer, tmp_path: Path
) -> None:
    async with running_receiver() as receiver, aiohttp.ClientSession() as session:
        write(tmp_path, server, receiver.url)
        async with served(tmp_path) as started:
            await eventually(lambda: bool(workers(server)))
            former = workers(server)
            started.process.send_signal(signal.SIGHUP)
            await eventually(lambda: bool(workers(server)) and not workers(server) & former)
            headers = {"Authorization": f"Bearer {TOKEN}"}
            url = f"{started.url}/topics/remind/messages"
            async with session.post(url, data=b"x", headers=headers) as response:
                assert response.status == 201
            await eventually(lambda: len(receiver.seen) == 1)
            started.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(20):
                assert await started.process.wait() == 0


@pytest.mark.parametrize("watched", [False, True], ids=["sighup", "reload"])
async def test_the_configuration_is_read_anew_and_a_wrong_one_changes_nothing(
    server: RunningServer, tmp_path: Path, *, watched: bool
) -> None:
    async with running_receiver() as receiver, aiohttp.ClientSession(headers=HEADERS) as session:
        write(tmp_path, server, receiver.url)
        config = tmp_path / "streamops.toml"
        good = config.read_text()
        async with served(tmp_path, "--workers", "2", *(["--reload"] if watched else ())) as started:

            def changed() -> None:
                if not watched:
                    started.process.send_signal(signal.SIGHUP)

            async def status(topic: str) -> int:
                async with session.post(f"{started.url}/topics/{topic}/messages", data=b"x") as response:
                    return response.status

            config.write_text(f'{good}[[topics]]\nname = "added"\nurl = "{receiver.url}/added"\n')
            changed()
            async with asyncio.timeout(PATIENCE):
                while await status("added") != 201:  # noqa: ASYNC110 - what is waited for is another process's
                    await asyncio.sleep(0.05)
            await eventually(lambda: any(seen.path == "/added" for seen in receiver.seen))
            config.write_text(f"{good}[[topics]]\nname = 5\n")
            changed()
            async with asyncio.timeout(PATIENCE):
                await started.read_until("reload failed")
            assert await status("added") == await status("remind") == 201


async def test_a_reload_under_load_fails_no_request(server: RunningServer, tmp_path: Path) -> None:
    """Not even over connections that clients keep."""
    async with running_receiver() as receiver:
        write(tmp_path, server, receiver.url)
        config = tmp_path / "streamops.toml"
        config.write_text(config.read_text().replace('"100ms"', '"1h"'))
        async with served(tmp_path, "--workers", "2") as started:
            stop = asyncio.Event()

            async def post() -> int:
                accepted = 0
                async with aiohttp.ClientSession(headers=HEADERS) as session:
                    while not stop.is_set():
                        url = f"{started.url}/topics/remind/messages"
                        async with session.post(url, data=b"x") as response:
                            assert response.status == 201
                            accepted += 1
                return accepted

            clients = [asyncio.create_task(post()) for _ in range(8)]
            for _ in range(2):
                former = set(children(started.process.pid))
                started.process.send_signal(signal.SIGHUP)
                await eventually(lambda former=former: not former & set(children(started.process.pid)))  # type: ignore[misc]
            stop.set()
            accepted = sum(await asyncio.gather(*clients))
    assert server.command("ZCARD", "{topic:remind}:delayed") == accepted > 0


async def test_a_worker_that_is_killed_is_replaced_and_no_counter_falls(
    server: RunningServer, tmp_path: Path
) -> None:
    async with running_receiver() as receiver, aiohttp.ClientSession(headers=HEADERS) as session:
        write(tmp_path, server, receiver.url)
        options = ("--workers", "2", "--metrics", "127.0.0.1:0")
        async with served(tmp_path, *options) as started:
            metrics = re.search(r"http://\S+/metrics", started.told)
            assert metrics is not None

            async def post(times: int) -> None:
                for _ in range(times):
                    # Each over a connection of its own, so that both workers get some.
                    async with (
                        aiohttp.ClientSession(headers=HEADERS) as one,
                        one.post(f"{started.url}/topics/remind/messages", data=b"x") as response,
                    ):
                        assert response.status == 201

            async def accepted() -> float:
                async with session.get(metrics[0]) as response:
                    text = await response.text()
                found = re.search(r'messages_accepted_total\{topic="remind"\} (\S+)', text)
                return float(found[1]) if found else 0.0

            async def counted(expected: float) -> None:
                async with asyncio.timeout(PATIENCE):
                    while await accepted() != expected:  # noqa: ASYNC110 - another process's again
                        await asyncio.sleep(0.05)

            await post(30)
            await counted(30)
            first, second = children(started.process.pid)
            os.kill(first, signal.SIGKILL)
            await eventually(
                lambda: len(children(started.process.pid)) == 2 and first not in children(started.process.pid)
            )
            assert second in children(started.process.pid)
            assert await accepted() == 30
            await post(10)
            await counted(40)
            await eventually(lambda: len(receiver.seen) >= 40)
            async with session.get(metrics[0]) as response:
                assert_clean(await response.text())
