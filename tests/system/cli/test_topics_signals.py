"""Signals of ``webhooks serve``."""

import asyncio
import signal
from pathlib import Path

import aiohttp

from tests.support.eventually import eventually
from tests.support.servers import RunningServer
from tests.support.webhooks.receiver import running_receiver
from tests.system.cli.test_topics_serve import TOKEN, served, write


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
