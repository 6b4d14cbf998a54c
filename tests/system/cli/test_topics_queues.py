"""``webhooks serve`` uses the dead-letter and delayed queues that each context names, as the console does."""

from pathlib import Path

import aiohttp

from tests.support.eventually import eventually
from tests.support.servers import RunningServer
from tests.support.webhooks.receiver import running_receiver
from tests.system.cli.test_topics_serve import TOKEN, served, write

HERE = """
dead_letters = {{ "{{topic:remind}}" = "{{topic:remind}}:dead" }}
delayed = {{ "{{topic:remind}}" = "{{topic:remind}}:later" }}
[contexts.eu]
url = "{url}"
dead_letters = {{ "{{topic:other}}" = "{{topic:other}}:dead" }}
delayed = {{ "{{topic:other}}" = "{{topic:other}}:later" }}
[[topics]]
name = "other"
url = "{receiver}/answer"
context = "eu"
stream = "{{topic:other}}"
max_attempts = 2
retry = "20ms"
retry_empty = false
[[topics]]
name = "remind"
stream = "{{topic:remind}}"
max_attempts = 2
retry = "20ms"
"""
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}


async def check(server: RunningServer, session: aiohttp.ClientSession, url: str, topic: str) -> None:
    """A message waits where the context says, and once it failed for the last time lies where it says."""
    queue, letters = f"{{topic:{topic}}}:later", f"{{topic:{topic}}}:dead"
    await session.post(f"{url}/waits?delay=1h", data=b"x", raise_for_status=True)
    assert server.command("ZRANGE", queue, 0, -1) == [b"waits"]
    async with session.get(f"{url}/waits", raise_for_status=True) as found:
        assert (await found.json())["state"] == "waiting"
    async with session.get(url, raise_for_status=True) as counted:
        assert (await counted.json())["waiting"] == 1
    await session.delete(f"{url}/waits", raise_for_status=True)
    assert server.command("EXISTS", queue) == 0
    await session.post(f"{url}/fails?delay=50ms", data=b"x", raise_for_status=True)
    await eventually(lambda: bool(server.command("XLEN", letters)))


async def test_topics_use_the_queues_of_their_contexts(server: RunningServer, tmp_path: Path) -> None:
    async with running_receiver() as receiver, aiohttp.ClientSession(headers=AUTHORIZED) as session:
        receiver.status = 500
        write(tmp_path, server, receiver.url)
        path = tmp_path / "streamops.toml"
        more = HERE.format(url=server.url, receiver=receiver.url)
        text = path.read_text().replace('[[topics]]\nname = "remind"\n', more.lstrip(), 1)
        path.write_text(text.replace("/remind", "/answer"))
        async with served(tmp_path) as started:
            for topic in ("remind", "other"):
                await check(server, session, f"{started.url}/topics/{topic}/messages", topic)
    assert server.command("KEYS", "*:dlq") == []
    assert server.command("KEYS", "*:delayed*") == []
