"""A supervisor in the test's own process: stalled workers, ends amid reloads, crash loops, secrets."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
import structlog
from msgspec.structs import replace

from streamops.errors import ExitCode
from streamops.model.secret import Secret
from streamops.runtime.supervisor import falls as falling
from streamops.runtime.supervisor import staff as staffed
from streamops.runtime.supervisor import watching
from streamops.runtime.supervisor.orders import Orders
from streamops.runtime.supervisor.process import WorkerProcess
from tests.support.runtime.supervisor.running import (
    LONGEST_WAIT,
    ME,
    QUICK,
    hang_up,
    orders_for,
    prepared,
    supervised,
    until_so,
    workers_of,
)
from tests.support.servers import RunningServer

# What a handler's own child process finds open, and reads.
SNOOP = """
import subprocess, sys, threading
program = 'import os, sys; print(sys.stdin.read(), *[n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}")])'
with open("look", "w") as seen:
    subprocess.run([sys.executable, "-S", "-c", program], stdout=seen, close_fds=False, check=True)
import os
os.rename("look", "seen")
threading.Event().wait()
"""


async def test_a_worker_that_is_still_being_imported_is_not_stalled(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    (tmp_path / "import").touch()
    monkeypatch.setattr(watching, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(staffed, "SILENT", 0.0)
    looks, listen = list[float](), WorkerProcess.listen

    def counted(process: WorkerProcess, seconds: float) -> None:
        looks.append(seconds)
        listen(process, seconds)

    monkeypatch.setattr(WorkerProcess, "listen", counted)
    async with supervised(orders_for(server)) as (supervisor, _):
        await until_so(lambda: len(looks) > 5)
        assert supervisor.healthy
        assert not supervisor.ready


async def test_a_reload_between_two_processes_does_not_wait_for_the_pause(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    monkeypatch.setattr(falling, "FIRST_PAUSE", 1000.0)
    monkeypatch.setattr(falling, "LONGEST_PAUSE", 1000.0)
    async with supervised(orders_for(server)) as (supervisor, _):
        await until_so(lambda: supervisor.ready)
        (fallen,) = workers_of(ME)
        os.kill(fallen, signal.SIGKILL)
        await until_so(lambda: not workers_of(ME) and not supervisor.ready)
        hang_up()
        await until_so(lambda: supervisor.ready)
        assert len(workers_of(ME)) == 1


async def test_a_crash_loop_is_given_up(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch, app="import os; os._exit(7)")
    monkeypatch.setattr(falling, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(falling, "HOPELESS", 2)
    with structlog.testing.capture_logs() as logs:
        async with supervised(orders_for(server)) as (_, running):
            async with asyncio.timeout(LONGEST_WAIT):
                assert await running is ExitCode.FAILED
    falls = [line for line in logs if line["event"] == "worker fell"]
    assert [(line["how"], line["restart_in_seconds"]) for line in falls] == [
        ("exit code 7", 0.001),
        ("exit code 7", 0.002),
    ]


@pytest.mark.parametrize(("falls", "seconds"), [(1, 0.25), (2, 0.5), (7, 16.0), (8, 30.0), (100_000, 30.0)])
def test_the_pause_doubles_up_to_a_limit(falls: int, seconds: float) -> None:
    assert falling.pause_after(falls) == seconds


async def test_a_password_is_told_through_a_pipe_only_and_no_descriptor_is_inherited(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch, app=SNOOP)
    secret = Secret("pass-that-nobody-sees")
    orders = Orders(app="shop", worker=QUICK, connection=replace(server.options, password=secret))
    with structlog.testing.capture_logs() as logs:
        async with supervised(orders):
            await until_so((tmp_path / "seen").exists)
            (child,) = workers_of(ME)
            told = _shown(child)
    assert (tmp_path / "seen").read_text() == "\n"
    assert secret.reveal().encode() not in told
    assert secret.reveal() not in repr(logs)


def _shown(pid: int) -> bytes:
    """What everybody, or everybody of its user, may see of a process."""
    return b"".join(Path(f"/proc/{pid}/{name}").read_bytes() for name in ("cmdline", "environ"))
