"""An application for real worker processes, its handlers' ledger, and a supervisor in the test's own process."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from streamops.errors import ExitCode
from streamops.runtime.supervisor.spec import WorkerSpec
from streamops.runtime.supervisor.supervisor import Supervisor
from streamops.runtime.worker import WorkerOptions
from streamops.service.processes import module_environment
from tests.support.servers import RunningServer

LONGEST_WAIT = 40.0
QUICK = WorkerOptions(beat=timedelta(seconds=0.2), grace=timedelta(seconds=5))
# An entry's word names the file for as long as which its handling goes on; "import" is that for the application.
APP = """
import asyncio, os, signal, time
from streamops.runtime import Entry, Streamops

app = Streamops()

if os.path.exists("deaf"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
while os.path.exists("import"):
    time.sleep(0.01)

@app.handler("jobs", group="g", start="0", concurrency=2, retry=0.05)
async def handle(entry: Entry) -> None:
    word = (entry.get("do") or b"").decode()
    if word == "die":
        os.kill(os.getpid(), 9)
    while word and os.path.exists(word):
        await asyncio.sleep(0.01)
    with open("ledger", "a") as ledger:
        ledger.write(f"{entry.id} {os.getpid()}\\n")
"""


def prepared(
    directory: Path, monkeypatch: pytest.MonkeyPatch | None = None, app: str = APP
) -> dict[str, str]:
    """Write the application; the environment it runs in, which becomes our own where we start its processes."""
    (directory / "shop.py").write_text(app)
    (directory / "ledger").touch()
    environment = module_environment()
    if monkeypatch is not None:
        monkeypatch.chdir(directory)
        monkeypatch.setenv("PYTHONPATH", environment["PYTHONPATH"])
    return environment


def handled(directory: Path) -> list[tuple[str, int]]:
    """Which entries were handled, in which processes."""
    lines = (directory / "ledger").read_text().splitlines()
    return [(entry_id, int(pid)) for entry_id, pid in map(str.split, lines)]


def workers_of(pid: int) -> set[int]:
    """The worker processes that a process has started and that live."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return {int(child) for child in text.split() if _is_worker(child)}


def is_gone(pid: int) -> bool:
    """Whether a process has ended, buried or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] == "Z"
    except FileNotFoundError:
        return True


def add_job(server: RunningServer, word: str = "") -> str:
    """Add an entry that tells the handler what to do; its ID."""
    return str(server.command("XADD", "jobs", "*", "do", word).decode())


async def until_so(true: Callable[[], object], seconds: float = LONGEST_WAIT) -> None:
    """The same beside a supervisor."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - what is waited for is another process's
            await asyncio.sleep(0.02)


@asynccontextmanager
async def supervised(
    orders: WorkerSpec, workers: int = 1
) -> AsyncIterator[tuple[Supervisor, asyncio.Task[ExitCode]]]:
    """A supervisor at work; ended by force at the end, where it has not ended."""
    supervisor = Supervisor(orders, workers)
    running = asyncio.create_task(supervisor.run())
    try:
        yield supervisor, running
    finally:
        supervisor.stop()
        supervisor.stop()
        async with asyncio.timeout(LONGEST_WAIT):
            await running


def _is_worker(pid: str) -> bool:
    try:
        return b"supervisor.child" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


ME = os.getpid()


def orders_for(server: RunningServer, **changes: timedelta) -> WorkerSpec:
    return WorkerSpec(app="shop", worker=replace(QUICK, **changes), connection=server.options)


def hang_up() -> None:
    os.kill(ME, signal.SIGHUP)
