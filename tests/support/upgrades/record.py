"""Records what a version of streamops leaves behind in Redis, for the readers of later versions.

``PYTHONPATH=CHECKOUT python -P tests/upgrades/record.py URL SOCKET FILE`` runs the streamops of that checkout against an empty
server of the oldest Redis that is supported, and writes every key as DUMP tells it, one JSON line a key. The files
in ``written`` were made so; they are not made anew, for that version will never write anything else.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import redis

HERE = Path(__file__).parent
LIMIT = 60.0


class Recorder:
    """One version at work on one server."""

    def __init__(self, url: str, client: redis.Redis, home: Path) -> None:
        self.url = url
        self.client = client
        # What is recorded names the context, and no place of this machine.
        settings = home / "streamops.toml"
        settings.write_text(f'[contexts.shop]\nurl = "{url}"\nenvironment = "staging"\n')
        path = os.pathsep.join([os.environ["PYTHONPATH"], str(HERE)])
        self.environment = {
            **os.environ,
            "PYTHONPATH": path,
            "STREAMOPS_CONTEXT": "shop",
            "STREAMOPS_CONFIG": str(settings),
        }

    def run(self, *words: str) -> str:
        """Run a command to its end; what it printed."""
        done = subprocess.run(
            self._words(words), env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"streamops {' '.join(words)}: exit {done.returncode}\n{done.stderr}")
        return done.stdout

    @contextmanager
    def running(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """A command at work, killed in the end with all its children."""
        process = subprocess.Popen(self._words(words), env=self.environment, start_new_session=True)
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def until(self, holds: Callable[[], object]) -> None:
        """Wait until something holds."""
        end = time.monotonic() + LIMIT
        while not holds():
            if time.monotonic() > end:
                raise SystemExit("it never came to hold")
            time.sleep(0.05)

    def fields(self, key: str | bytes) -> dict[bytes, bytes]:
        """A hash."""
        told: Any = self.client.hgetall(key)
        return dict(told)

    def knows(self, *words: str) -> bool:
        """Whether this version has such a command."""
        return (
            subprocess.run(
                self._words((*words, "--help")), env=self.environment, capture_output=True, check=False
            ).returncode
            == 0
        )

    def _words(self, words: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-P", "-m", "streamops", *words]


async def _payload(url: str) -> None:
    # Of the version that is recorded, and not before it is known that there is a server.
    from streamops.runtime import Streamops  # noqa: PLC0415 - see above

    async with Streamops(url).publisher() as publisher:
        await publisher.publish(
            "orders", {"do": "hang", "order": "5"}, payload=b"a scan", payload_ttl=timedelta(days=100)
        )


def work(recorder: Recorder) -> None:
    """Workers that succeed, fail, reject and die in the middle."""
    client = recorder.client
    for do, order in (("ok", "1"), ("fail", "2"), ("reject", "3"), ("hang", "4")):
        client.xadd("orders", {"do": do, "order": order})
    with recorder.running("run", "shop:app", "--workers", "1"):
        recorder.until(lambda: client.exists("orders") and client.xinfo_groups("orders"))
        recorder.until(lambda: client.xlen("{orders}:dlq") == 1 and client.zcard("{orders}:delayed") == 2)
        recorder.until(lambda: client.xpending("orders", "billing")["pending"] == 1)


def work_again(recorder: Recorder, path: Path) -> None:
    """A second worker takes the dead one's entry over, and is alive while all is written down."""
    client = recorder.client
    words = (
        ("--workers", "auto", "--pool", "shop")
        if recorder.knows("autoscale")
        else ("--workers", "1", "--pool", "shop")
    )
    with recorder.running("run", "shop:app", *words):
        recorder.until(lambda: client.exists("{orders}:attempts:billing"))
        if recorder.knows("autoscale"):
            scale(recorder)
        write_down(client, path)


def scale(recorder: Recorder) -> None:
    """A controller that decides, and people who tell it something."""
    client = recorder.client
    words = ("autoscale", "run", "shop", "--stream", "orders", "--group", "billing", "--maximum", "4")
    with recorder.running(*words) as controller:
        recorder.until(lambda: client.exists("streamops:decisions:shop"))
        pools = "pools" if recorder.knows("pools") else "autoscale"
        recorder.run(pools, "override", "shop", "2", "--for", "1h", "--reason", "the sale")
        recorder.until(lambda: b"override" in recorder.fields("streamops:pool:shop"))
        # What it has learned it leaves to whoever comes next.
        controller.terminate()
        recorder.until(lambda: client.exists("streamops:learned:shop"))


def act(recorder: Recorder) -> None:
    """Operators at work; one of them is killed in the middle of a job."""
    client, run = recorder.client, recorder.run
    for number in range(30):
        client.xadd("tasks", {"n": number}, id=f"{number + 1}-0")
    client.xgroup_create("tasks", "crew", "0")
    client.xreadgroup("crew", "ann", {"tasks": ">"}, count=20)
    run(
        "claim",
        "tasks",
        "crew",
        "--to",
        "bob",
        "--min-idle",
        "0s",
        "--count",
        "3",
        "--yes",
        "--reason",
        "ann is gone",
    )
    run("ack", "tasks", "crew", "--ids", "4-0,5-0", "--yes")
    run("groups", "create", "tasks", "late", "--at", "0", "--yes")
    run("groups", "rewind", "tasks", "late", "--to-end", "--yes")
    run("publish", "orders", "do=ok", "order=6", "--delay", "30d")
    webhooks = ("webhooks", "create") if recorder.knows("webhooks") else ("topics", "add")
    run(*webhooks, "mail", "http://127.0.0.1:1/hook", "--retry", "1m, 5m", "--priority", "high")
    if pause := next((words for words in (("pools", "pause"), ("pause",)) if recorder.knows(*words)), None):
        client.hset("streamops:pool:night", "mode", "running")
        run(*pause, "night", "--yes")
    for number in range(12):
        client.xadd(
            "{tasks}:dlq",
            {"n": number, "_so_origin": "tasks", "_so_group": "crew", "_so_reason": "timeout"},
            id=f"{number + 1}-0",
        )
    with recorder.running("replay", "{tasks}:dlq", "--mode", "retry", "--rate", "2", "--yes"):
        recorder.until(
            lambda: [
                key
                for key in client.keys("streamops:job:*")
                if recorder.fields(key).get(b"applied", b"0") not in (b"", b"0")
            ]
        )


def write_down(client: redis.Redis, path: Path) -> None:
    """Every key, as DUMP tells it."""
    keys: Any = client.keys("*")
    with path.open("w") as file:
        for key in sorted(keys):
            kind, dump = cast("Any", client.type(key)), cast("Any", client.dump(key))
            line = {"key": key.decode(), "type": kind.decode(), "dump": b64encode(dump).decode()}
            file.write(json.dumps(line) + "\n")


def main() -> None:
    url, socket, path = sys.argv[1:]
    client = redis.Redis(unix_socket_path=socket, protocol=2)
    if client.dbsize():
        raise SystemExit("the server is not empty")
    with tempfile.TemporaryDirectory() as home:
        recorder = Recorder(url, client, Path(home))
        act(recorder)
        work(recorder)
        asyncio.run(_payload(url))
        work_again(recorder, Path(path))


if __name__ == "__main__":
    main()
