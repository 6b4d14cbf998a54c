"""A secret that is planted wherever one can be configured is never printed, logged, shown, audited or written by any face."""

import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from streamops.service.processes import module_environment
from tests.support.security.planting import CONTEXTS, SECRET, Planted, processes

PATIENCE = 30.0

APP = """
from streamops.runtime import Entry, Reject, Streamops
app = Streamops()

@app.handler("orders", group="billing", start="0")
async def handle(entry: Entry) -> None:
    raise Reject("no")
"""


class Process(NamedTuple):
    """A process of ours, and what it says."""

    pid: int
    log: Path

    @property
    def told(self) -> str:
        return self.log.read_text()

    def says(self, pattern: str) -> re.Match[str]:
        """Wait until it has said something."""
        deadline = time.monotonic() + PATIENCE
        while (found := re.search(pattern, self.told)) is None:
            assert time.monotonic() < deadline, self.told
            time.sleep(0.05)
        return found


@contextmanager
def started(planted: Planted, *words: str) -> Iterator[Process]:
    """Run a command line until the block ends; what it said and what its processes are called is looked through."""
    log = planted.directory / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamops", "--log-level", "debug", *words],
            cwd=planted.directory,
            env=module_environment() | {"HOME": str(planted.home)},
            stdout=output,
            stderr=output,
        )
    try:
        yield Process(process.pid, log)
        for pid, text in processes(process.pid):
            assert not planted.tells(text), pid
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
    finally:
        process.kill()
        process.wait()
    told = log.read_text()
    assert not planted.tells(told), planted.tells(told)
    assert "Traceback" not in told, told


def fetched(url: str, **headers: str) -> str:
    """What is answered, headers and errors included."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=PATIENCE) as answer:  # noqa: S310 - our own
            return f"{answer.headers}{answer.read().decode()}"
    except urllib.error.HTTPError as error:
        return f"{error.headers}{error.read().decode()}"


def test_the_exporter_tells_no_secret(planted: Planted) -> None:
    with started(
        planted, "exporter", "--listen", "127.0.0.1:0", "--web-config", "web.yml", "--notify"
    ) as process:
        base = f"http://{process.says(r'at (127[.0-9]+:[0-9]+)/metrics')[1]}"
        known = "Basic " + b64encode(f"prometheus:{SECRET}".encode()).decode()
        answers = [fetched(base + "/metrics"), fetched(base + "/metrics", Authorization="Basic " + SECRET)]
        paths = ("/", "/metrics", "/api/v1/status", *(f"/probe?target={name}" for name in CONTEXTS))
        answers += [fetched(base + path, Authorization=known) for path in paths]
        assert any("streamops_up 1" in answer for answer in answers)
        assert not planted.tells("\n".join(answers))


def test_workers_under_their_supervisor(planted: Planted) -> None:
    (planted.directory / "shop.py").write_text(APP)
    with started(
        planted, "-c", "byurl", "run", "shop:app", "--workers", "2", "--metrics", "127.0.0.1:0"
    ) as process:
        wait(lambda: planted.server.command("XLEN", "{orders}:dlq") == 3)
        assert len([*processes(process.pid)]) >= 6
        base = process.says(r"127\.0\.0\.1:(\d+)")[1]
        assert not planted.tells(fetched(f"http://127.0.0.1:{base}/metrics"))
    assert not [*planted.stored()]


def test_the_controller_of_pools(planted: Planted) -> None:
    with started(planted, "autoscale", "run") as process:
        process.says("pool=shell")
        wait(lambda: planted.server.command("KEYS", "streamops:pool:*"))
        process.says(r"(?s)pool=shell.*pool=shell")
    assert not [*planted.stored()]


def test_callbacks_and_their_intake(planted: Planted) -> None:
    with started(planted, "webhooks", "serve", "--listen", "127.0.0.1:0") as process:
        base = "http://127.0.0.1:" + process.says(r"accepted at 127\.0\.0\.1:(\d+)")[1]
        wrong = fetched(f"{base}/topics/remind/messages", Authorization=f"Bearer {SECRET}x")
        right = fetched(f"{base}/topics/remind/messages", Authorization=f"Bearer {SECRET}")
        ready = fetched(f"{base}/-/ready")
        assert "no valid token" in wrong
        assert '"waiting"' in right
        request = urllib.request.Request(  # noqa: S310 - our own
            f"{base}/topics/remind/messages?delay=0",
            data=b"{}",
            headers={"Authorization": f"Bearer {SECRET}"},
        )
        urllib.request.urlopen(request, timeout=PATIENCE).close()  # noqa: S310 - our own
        process.says("cannot connect")
        assert not planted.tells(wrong + right + ready)
    assert not [*planted.stored()]


def wait(true: Callable[[], object], within: timedelta = timedelta(seconds=PATIENCE)) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + within.total_seconds()
    while not true():
        assert time.monotonic() < deadline, "it never came to be so"
        time.sleep(0.05)
