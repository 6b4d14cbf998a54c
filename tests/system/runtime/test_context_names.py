"""``run -c``: workers use the dead-letter and delayed queues that the context names, as the console does."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from streamops.service.processes import module_environment
from tests.support.eventually import wait_until
from tests.support.servers import RunningServer
from tests.support.settings.place import named_config

APP = """
from streamops.runtime import Entry, Streamops

app = Streamops({names})
early = app.publisher()

@app.handler("{{orders}}:events", group="g", start="0", retry=3600, max_attempts=2)
async def handle(entry: Entry) -> None:
    if entry.get("now"):
        from streamops.runtime import Reject
        raise Reject("no such street")
    async with app.publisher() as publisher:
        await publisher.publish("{{orders}}:events", {{"n": 2}}, delay=3600, id="published")
    raise ValueError("again")
"""
CONFIG = """
[contexts.a]
url = "{url}"
dead_letters = {{"{{orders}}:events" = "{{orders}}:dead"}}
delayed = {{"{{orders}}:events" = "{{orders}}:later"}}
"""
Start = Callable[[str], subprocess.Popen[str]]


@pytest.fixture
def start(server: RunningServer, tmp_path: Path) -> Start:
    def start(names: str) -> subprocess.Popen[str]:
        (tmp_path / "shop.py").write_text(APP.format(names=names))
        (tmp_path / "streamops.toml").write_text(CONFIG.format(url=server.url))
        words = [sys.executable, "-P", "-m", "streamops", "-c", "a", "run", "shop:app", "--beat", "1s"]
        environment = {**module_environment(), "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        environment |= named_config(tmp_path)
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        return subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)

    return start


def test_run_in_a_context_uses_the_queues_of_the_context(server: RunningServer, start: Start) -> None:
    server.command("XADD", "{orders}:events", "*", "n", 1)
    server.command("XADD", "{orders}:events", "*", "now", 1)
    with start("") as running:
        try:
            wait_until(lambda: server.command("ZCARD", "{orders}:later") == 2)
            wait_until(lambda: server.command("XLEN", "{orders}:dead") == 1)
        finally:
            running.terminate()
            running.communicate(timeout=30)
    assert b"published" in server.command("ZRANGE", "{orders}:later", 0, -1)
    assert server.command("EXISTS", "{orders}:events:dlq", "{orders}:events:delayed") == 0


@pytest.mark.parametrize(
    "names", ['delayed={"{orders}:events": "{orders}:soon"}', 'dead_letters={"orders": "dead"}']
)
def test_run_of_an_application_that_names_other_queues_is_refused(
    server: RunningServer, start: Start, names: str
) -> None:
    with start(names) as running:
        _, told = running.communicate(timeout=60)
    assert running.returncode == 2
    assert told.count("the application says") == 1
    assert server.command("DBSIZE") == 0
