"""A secret that is planted wherever one can be configured is never printed, logged, shown, audited or written by any face."""

import logging
import os
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

import pytest

from streamops.cli.globals import Globals
from streamops.cli.session import Session
from streamops.demo.children import module_environment
from streamops.main.consoles import server_settings
from streamops.operate.recording.frames import RecordedContext
from streamops.operate.recording.recorder import Recorder
from streamops.tui.app import StreamopsApp
from tests.cli.running import Cli, Place, runner
from tests.security.planting import SECRET, Planted, processes
from tests.servers import StartServer
from tests.tui.driving import press, running, screen_text, until

PATIENCE = 30.0
CONTEXTS = ("byurl", "byfile", "bycommand", "wrong", "away", "tls", "failing")
GOOD = ("byurl", "byfile", "bycommand")

APP = """
from streamops.runtime import Entry, Reject, Streamops
app = Streamops()

@app.handler("orders", group="billing", start="0")
async def handle(entry: Entry) -> None:
    raise Reject("no")
"""


@pytest.fixture
def planted(start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Planted]:
    before = os.umask(0o077)
    place = Place(tmp_path, monkeypatch)
    server = start_server()
    for number in range(3):
        server.command("XADD", "orders", "*", "n", number)
    for group in ("billing", "mail"):
        server.command("XGROUP", "CREATE", "orders", group, "0")
    server.command("XREADGROUP", "GROUP", "mail", "worker-1", "COUNT", 1, "STREAMS", "orders", ">")
    yield Planted(place.home, server)
    os.umask(before)


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Iterator[Cli]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield runner(capfd)
    root.handlers[:] = handlers
    root.setLevel(level)


EVERYWHERE = (
    "status", "config show", "config show -o json", "config validate", "ctx ls", "ctx ls -o json", "ctx show", "doctor",
    "streams ls", "topics ls", "topics show remind", "autoscale ls", "scale get hook", "scale get shell", "check --lag 1",
    "audit ls",
)  # fmt: skip
ACTING = (
    "publish orders n=9",
    "pending ls orders mail",
    "ack orders mail --ids {entry} --yes",
    "scale set hook 3 --yes",
    "scale set shell 3 --yes",
    "topics add other --url http://127.0.0.1:1/?token={secret} --secret-file planted/password --yes",
    "topics show other",
    "topics ls -o json",
    "topics rm other --confirm other",
    "trim orders --maxlen 1 --yes",
    "undo 1-1 --yes",
    "jobs ls",
    "audit ls -o json",
    "exporter --listen 127.0.0.1:0 --web-config broken.yml",
    "exporter --listen 127.0.0.1:0 --web-config odd.yml",
    "autoscale keda --listen 127.0.0.1:0 --tls-cert planted/key --tls-key planted/key",
    "--url redis://u:{secret}@127.0.0.1:1 status",
    "--url redis://u:{secret}@[ status",
    "--url http://u:{secret}@h status",
    "--url redis://{secret}@h?password={secret} status",
    "-c {secret}x status",
)


def test_commands_good_and_failing(planted: Planted, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(planted.directory)
    seen = set()
    entry = planted.server.command("XRANGE", "orders", "-", "+", "COUNT", 1)[0][0].decode()
    lines = [f"-c {context} {words}" for context in CONTEXTS for words in EVERYWHERE]
    for line in (*lines, *ACTING):
        # What is in the arguments is not secret from whoever sees them; what is made of them still is.
        result = cli(
            "--log-level", "debug", "--timeout", "5", *line.format(secret=SECRET, entry=entry).split()
        )
        seen.add(result.code)
        hidden = "-c {secret}" not in line
        assert not (hidden and planted.tells(result.out + result.err)), (line, result)
        assert "Traceback" not in result.err, (line, result.err)
    assert {0, 2, 3, 4} <= seen
    assert not [*planted.stored()]
    assert not [*planted.written()]
    assert planted.server.command("XLEN", "streamops:audit") > 0


def test_a_bug_with_its_traceback(planted: Planted, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even the traceback of a bug, in whose frames the secret is, prints the lines and not the values."""

    def broken(*_: object, **__: object) -> None:
        raise AssertionError("broken")

    monkeypatch.setattr("streamops.operate.console.Console.open", broken)
    result = cli("--log-level", "debug", "status")
    assert "Traceback" in result.err
    assert not planted.tells(result.out + result.err)


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


def test_the_exporter(planted: Planted) -> None:
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
        process.says(r"hook(.|\n)*shell|shell(.|\n)*hook")
        wait(lambda: planted.server.command("KEYS", "streamops:pool:*"))
        time.sleep(2)
    assert not [*planted.stored()]


def test_callbacks_and_their_intake(planted: Planted) -> None:
    with started(planted, "topics", "serve", "--listen", "127.0.0.1:0") as process:
        base = "http://127.0.0.1:" + process.says(r"taken in at 127\.0\.0\.1:(\d+)")[1]
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


@pytest.mark.parametrize("name", GOOD)
async def test_the_console_and_its_recording(
    planted: Planted, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(planted.directory)
    settings = server_settings(Session(Globals(context=name)))
    app = StreamopsApp(settings)
    seen = []
    async with running(app):
        await until(app, lambda: "billing" in screen_text(app))
        for keys in (("?",), ("escape",), ("c",), ("escape",), ("s",), ("escape",), ("enter",), ("enter",)):
            await press(app, *keys)
            seen += [screen_text(app), app.export_screenshot()]
        observation = app.moment.observation
    assert not planted.tells("\n".join(seen))
    assert observation is not None
    recorder = Recorder(planted.home / "recording")
    context = settings.context
    recorder.take(RecordedContext(context.name, context.environment, context.address), observation)
    recorder.close()
    assert recorder.state.frames == 1
    assert not [*planted.written()]


def wait(true: Callable[[], object], within: timedelta = timedelta(seconds=PATIENCE)) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + within.total_seconds()
    while not true():
        assert time.monotonic() < deadline, "it never came to be so"
        time.sleep(0.05)
