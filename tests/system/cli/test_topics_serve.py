"""``webhooks serve`` as a process: it takes in, calls back, and ends as it is told."""

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import aiohttp

from tests.support.eventually import eventually
from tests.support.project import PROJECT
from tests.support.runtime.permissions import PASSWORD, USER, Users
from tests.support.servers import RunningServer
from tests.support.settings.place import named_config
from tests.support.webhooks.receiver import running_receiver

PATIENCE = 60.0
TOKEN = "a-token-of-more-than-sixteen"  # noqa: S105 - a test's own
CONFIG = """
default_context = "local"
[contexts.local]
url = "{url}"
[[topics]]
name = "remind"
url = "{receiver}/remind"
delay = "100ms"
retry_empty = false
secret_file = "secret"
[callbacks]
hosts = ["127.0.0.1"]
[intake]
listen = "127.0.0.1:0"
token_file = "tokens"
"""


class Started(NamedTuple):
    """A process, where it takes messages in, and what it has said by then."""

    process: Process
    url: str
    told: str

    async def read_until(self, words: str) -> None:
        """Read what it says until these words."""
        assert self.process.stderr is not None
        while words not in (line := (await self.process.stderr.readline()).decode()):
            assert line, f"it ended without {words!r}"


@asynccontextmanager
async def served(directory: Path, *options: str) -> AsyncIterator[Started]:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "PYTHONPATH": str(PROJECT),
        **named_config(directory),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "streamops",
        "webhooks",
        "serve",
        *options,
        cwd=directory,
        env=environ,
        stderr=PIPE,
    )
    assert process.stderr is not None
    try:
        told, port = "", None
        async with asyncio.timeout(PATIENCE):
            # Warnings come first.
            while port is None and (line := await process.stderr.readline()):
                told += line.decode()
                port = re.search(r"accepted at 127\.0\.0\.1:(\d+)", told)
        assert port is not None, told
        yield Started(process, f"http://127.0.0.1:{port[1]}", told)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def write(directory: Path, server: RunningServer, receiver: str) -> None:
    (directory / "streamops.toml").write_text(CONFIG.format(url=server.url, receiver=receiver))
    (directory / "secret").write_text("a secret of more than sixteen\n")
    (directory / "tokens").write_text(f"# ours\n{TOKEN}\n")


async def test_from_start_to_end(server: RunningServer, tmp_path: Path) -> None:
    async with running_receiver() as receiver, aiohttp.ClientSession() as session:
        write(tmp_path, server, receiver.url)
        async with served(tmp_path) as started:
            url = f"{started.url}/topics/remind/messages"
            async with session.post(url, data=b"x") as response:
                assert response.status == 401
            headers = {"Authorization": f"Bearer {TOKEN}"}
            async with session.post(url, data=b"x", headers=headers) as response:
                assert response.status == 201
            await eventually(lambda: len(receiver.seen) == 1)
            assert receiver.seen[0].headers["X-Streamops-Signature"].startswith("t=")
            started.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(PATIENCE):
                assert await started.process.wait() == 0
    assert server.command("XPENDING", "topic:remind", "callbacks")[0] == 0


async def answers(url: str) -> bool:
    """Whether new connections are taken."""
    try:
        async with aiohttp.ClientSession() as session, session.get(f"{url}/-/ready"):
            return True
    except aiohttp.ClientConnectionError:
        return False


async def test_the_second_signal_ends_at_once(server: RunningServer, tmp_path: Path) -> None:
    """What was not finished stays pending, or waits for its next call."""
    async with running_receiver() as receiver, aiohttp.ClientSession() as session:
        write(tmp_path, server, receiver.url)
        config = (tmp_path / "streamops.toml").read_text().replace("/remind", "/wait")
        (tmp_path / "streamops.toml").write_text(config)
        async with served(tmp_path) as started:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            url = f"{started.url}/topics/remind/messages"
            async with session.post(url, data=b"x", headers=headers) as response:
                assert response.status == 201
            await eventually(lambda: receiver.at_once == 1)
            started.process.send_signal(signal.SIGINT)
            async with asyncio.timeout(PATIENCE):
                while await answers(started.url):  # noqa: ASYNC110 - what is waited for is another process's
                    await asyncio.sleep(0.01)
            assert started.process.returncode is None
            started.process.send_signal(signal.SIGINT)
            async with asyncio.timeout(PATIENCE):
                await started.process.wait()
    pending = server.command("XPENDING", "topic:remind", "callbacks")[0]
    assert pending + server.command("ZCARD", "{topic:remind}:delayed") == 1


async def test_an_address_that_is_taken(server: RunningServer, tmp_path: Path) -> None:
    async with running_receiver() as receiver:
        write(tmp_path, server, receiver.url)
        port = receiver.url.rpartition(":")[2]
        own = {"HOME": str(tmp_path), "PYTHONPATH": str(PROJECT)}
        environ = os.environ | own | named_config(tmp_path)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "streamops", "webhooks", "serve", "--listen", f"127.0.0.1:{port}"),
            cwd=tmp_path,
            env=environ,
            stderr=PIPE,
        )
        async with asyncio.timeout(PATIENCE):
            _, told = await process.communicate()
    assert process.returncode == 1
    assert b"error: cannot listen at 127.0.0.1" in told
    assert b"Traceback" not in told


async def test_private_networks_are_not_called_where_the_configuration_denies_them(
    server: RunningServer, tmp_path: Path
) -> None:
    """A listed name opens nothing that its address closes."""
    async with running_receiver() as receiver, aiohttp.ClientSession() as session:
        write(tmp_path, server, receiver.url.replace("127.0.0.1", "localhost"))
        path = tmp_path / "streamops.toml"
        text = path.read_text().replace('hosts = ["127.0.0.1"]', 'hosts = ["localhost"]\ndeny_private = true')
        path.write_text(text.replace('delay = "100ms"', "max_attempts = 1"))
        async with served(tmp_path) as started:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            url = f"{started.url}/topics/remind/messages"
            async with session.post(url, data=b"x", headers=headers) as response:
                assert response.status == 201
            letters = "{topic:remind}:dlq"
            await eventually(lambda: bool(server.command("XLEN", letters)))
            ((_, fields),) = server.command("XRANGE", letters, "-", "+")
        letter = dict(zip(fields[::2], fields[1::2], strict=True))
        assert b"this machine itself" in letter[b"_so_error"]
        assert not receiver.seen


async def test_whoever_has_a_workers_rights_and_reads_topics_serves_them(
    server: RunningServer, tmp_path: Path
) -> None:
    async with running_receiver() as receiver, aiohttp.ClientSession() as session:
        write(tmp_path, server, receiver.url)
        stream = ("~topic:remind", "~{topic:remind}:*", "&{topic:remind}:*")
        Users(server).limited("%R~streamops:topics", *stream)
        path = tmp_path / "streamops.toml"
        user = server.url.replace("redis://", f"redis://{USER}:{PASSWORD.reveal()}@")
        path.write_text(path.read_text().replace(server.url, user))
        async with served(tmp_path) as started:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            url = f"{started.url}/topics/remind/messages"
            async with session.post(url, data=b"x", headers=headers) as response:
                assert response.status == 201
            await eventually(lambda: len(receiver.seen) == 1)
            await eventually(lambda: server.command("XPENDING", "topic:remind", "callbacks")[0] == 0)
    server.command("ACL", "DELUSER", USER)


async def test_workers_share_a_port_and_no_other_service_does(server: RunningServer, tmp_path: Path) -> None:
    async with running_receiver() as receiver:
        write(tmp_path, server, receiver.url)
        async with served(tmp_path, "--workers", "2") as started:
            port = int(started.url.rpartition(":")[2])
            held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(64)]
            workers = children(started.process.pid)
            # Spread by a hash of their addresses: 5 of 64 at one worker are one case in 10^12.
            await eventually(lambda: sum(connections(worker, port) for worker in workers) == 64)
            assert min(connections(worker, port) for worker in workers) >= 5
            for _, writer in held:
                writer.close()
            environ = (
                os.environ | {"HOME": str(tmp_path), "PYTHONPATH": str(PROJECT)} | named_config(tmp_path)
            )
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "streamops", "webhooks", "serve", "--workers", "2"),
                *("--listen", f"127.0.0.1:{port}"),
                cwd=tmp_path,
                env=environ,
                stderr=PIPE,
            )
            async with asyncio.timeout(PATIENCE):
                _, told = await process.communicate()
    assert process.returncode == 1
    assert b"error: cannot listen at 127.0.0.1" in told


def connections(pid: int, port: int) -> int:
    """Connections to a port that a process has."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    inodes = {row[9] for row in rows if int(row[1].partition(":")[2], 16) == port and row[3] == "01"}
    links = [str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir()]
    return sum(link.removeprefix("socket:[").rstrip("]") in inodes for link in links)


def children(pid: int) -> list[int]:
    """The worker processes."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
