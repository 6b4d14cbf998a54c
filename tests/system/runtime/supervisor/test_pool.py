"""``streamops run --workers auto``: as many workers as the pool is told, shared among its supervisors."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from streamops.errors import TargetError
from streamops.model.pools import PoolSize
from streamops.targets.local import LocalTarget
from tests.support.eventually import wait_until
from tests.support.runtime.supervisor.pools import connected, tell
from tests.support.runtime.supervisor.run import supervising
from tests.support.runtime.supervisor.running import add_job
from tests.support.servers import RunningServer
from tests.support.streams import pending_count

AUTO = ("--workers", "auto")


def size_of(server: RunningServer) -> PoolSize | None:
    async def read() -> PoolSize | None:
        async with connected(server) as wire:
            with suppress(TargetError):
                return await LocalTarget(wire, "default", "a test").read()
            return None

    return asyncio.run(read())


def test_workers_come_and_go_as_the_pool_is_told(server: RunningServer, tmp_path: Path) -> None:
    tell(server, 3)
    with supervising(server, tmp_path, *AUTO) as running:
        wait_until(lambda: len(running.children()) == 3)
        wait_until(lambda: size_of(server) == PoolSize(ordered=3, ready=3, version="3"))
        tell(server, 1)
        wait_until(lambda: len(running.children()) == 1)
        tell(server, 0)
        wait_until(lambda: not running.children())
        late = add_job(server)
        tell(server, 2)
        wait_until(lambda: late in dict(running.handled))
        running.tell(signal.SIGTERM)
        assert running.process.wait(20) == 0
        assert "worker crashed" not in running.log
    assert server.command("HLEN", "streamops:supervisors:default") == 0
    assert server.command("HLEN", "streamops:roster:default") == 0


def test_a_pool_that_was_never_told_has_one_worker_a_core(server: RunningServer, tmp_path: Path) -> None:
    cores = len(os.sched_getaffinity(0))
    with supervising(server, tmp_path, *AUTO):
        wait_until(lambda: size_of(server) == PoolSize(ordered=cores, ready=cores))


@pytest.mark.parametrize("how", ["time.sleep(0.01)", "await asyncio.sleep(0.01)"])
def test_the_busy_worker_stays_and_the_idle_one_goes(server: RunningServer, tmp_path: Path, how: str) -> None:
    held = tmp_path / "held"
    held.touch()
    tell(server, 2)
    slow = f"""
import asyncio, os, time
from streamops.runtime import Entry, Streamops

app = Streamops()

@app.handler("jobs", group="g", start="0", concurrency=1, prefetch=1)
async def handle(entry: Entry) -> None:
    with open(os.environ["LEDGER"], "a") as ledger:
        ledger.write(f"{{entry.id}} {{os.getpid()}}\\n")
    while os.path.exists("held"):
        {how}
"""
    with supervising(server, tmp_path, *AUTO, app=slow) as running:
        wait_until(lambda: size_of(server) == PoolSize(ordered=2, ready=2, version="2"))
        entry = add_job(server)
        wait_until(lambda: running.handled)
        busy = running.handled[0][1]
        tell(server, 1)
        wait_until(lambda: len(running.children()) == 1)
        assert running.children() == {busy}
        held.unlink()
        wait_until(lambda: pending_count(server, "jobs", "g") == 0)
        assert running.handled == [(entry, busy)]


def test_two_supervisors_share_and_one_takes_over(server: RunningServer, tmp_path: Path) -> None:
    tell(server, 3)
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with supervising(server, first, *AUTO) as one, supervising(server, second, *AUTO) as other:
        wait_until(lambda: {len(one.children()), len(other.children())} == {1, 2})
        other.tell(signal.SIGTERM)
        assert other.process.wait(20) == 0
        wait_until(lambda: len(one.children()) == 3)


def test_the_server_that_only_the_application_names_is_asked(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(server, 2)
    monkeypatch.setenv("STREAMOPS_TEST_URL", server.unix_url)
    app = """
import os
from streamops.runtime import Entry, Streamops

app = Streamops(os.environ["STREAMOPS_TEST_URL"])

@app.handler("jobs", group="g", start="0")
async def handle(entry: Entry) -> None: ...
"""
    with supervising(server, tmp_path, *AUTO, app=app, named=False) as running:
        wait_until(lambda: len(running.children()) == 2)
