"""A supervisor in the test's own process: stalled workers, ends amid reloads, crash loops, secrets."""

import asyncio
import os
import signal
from datetime import timedelta
from pathlib import Path

import pytest
import structlog
from msgspec.structs import replace

from streamops.errors import ExitCode
from streamops.model.schedules import Backoff
from streamops.model.secret import Secret
from streamops.runtime.supervisor import process as processes
from streamops.runtime.supervisor import spec as ordering
from streamops.runtime.supervisor import supervisor as supervising
from streamops.runtime.supervisor.process import WorkerProcess
from streamops.runtime.supervisor.spec import WorkerSpec
from tests.support.runtime.supervisor.running import (
    LONGEST_WAIT,
    ME,
    QUICK,
    add_job,
    handled,
    hang_up,
    is_gone,
    orders_for,
    prepared,
    supervised,
    until_so,
    workers_of,
)
from tests.support.servers import RunningServer
from tests.support.streams import pending_count

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


async def test_a_stalled_worker_is_noticed_and_replaced(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    monkeypatch.setattr(supervising, "LOOK_EVERY", 0.25)
    monkeypatch.setattr(processes, "SILENT", 1.5)
    async with supervised(orders_for(server, hang=timedelta(seconds=1))) as (supervisor, _):
        await until_so(lambda: supervisor.processes.ready)
        assert supervisor.processes.healthy
        (stalled,) = workers_of(ME)
        os.kill(stalled, signal.SIGSTOP)
        await until_so(lambda: not supervisor.processes.healthy)
        entry_id = add_job(server)
        await until_so(lambda: entry_id in dict(handled(tmp_path)))
        assert is_gone(stalled)
        await until_so(lambda: supervisor.processes.ready and supervisor.processes.healthy)


async def test_the_end_is_told_to_a_successor_that_is_being_started(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    async with supervised(orders_for(server)) as (supervisor, running):
        await until_so(lambda: supervisor.processes.ready)
        (tmp_path / "import").touch()
        before = workers_of(ME)
        hang_up()
        await until_so(lambda: len(workers_of(ME)) == 2)
        (successor,) = workers_of(ME) - before
        supervisor.stop()
        async with asyncio.timeout(LONGEST_WAIT):
            assert await running is ExitCode.DONE
        assert is_gone(successor)


async def test_whoever_ignores_the_end_is_killed_and_so_is_its_successor(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    monkeypatch.setattr(ordering, "MARGIN", timedelta(seconds=0.1))
    async with supervised(orders_for(server, grace=timedelta(seconds=0.1))) as (supervisor, running):
        await until_so(lambda: supervisor.processes.ready)
        (tmp_path / "deaf").touch()
        (tmp_path / "import").touch()
        (old,) = workers_of(ME)
        os.kill(old, signal.SIGSTOP)
        hang_up()
        await until_so(lambda: len(workers_of(ME)) == 2)
        (successor,) = workers_of(ME) - {old}
        await until_so(lambda: _ignores(successor, signal.SIGTERM))
        supervisor.stop()
        async with asyncio.timeout(LONGEST_WAIT):
            assert await running is ExitCode.DONE
        assert is_gone(old)
        assert is_gone(successor)


async def test_the_end_waits_for_both_where_one_takes_over_from_another(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    for name in ("first", "second"):
        (tmp_path / name).touch()
    async with supervised(orders_for(server)) as (supervisor, running):
        await until_so(lambda: supervisor.processes.ready)
        (old,) = workers_of(ME)
        first = add_job(server, "first")
        await until_so(lambda: pending_count(server, "jobs", "g") == 1)
        hang_up()
        await until_so(lambda: b"draining" in _states(server))
        second = add_job(server, "second")
        await until_so(lambda: pending_count(server, "jobs", "g") == 2)
        supervisor.stop()
        (tmp_path / "first").unlink()
        await until_so(lambda: not Path(f"/proc/{old}").exists())
        await asyncio.sleep(0)
        assert not running.done()
        (tmp_path / "second").unlink()
        async with asyncio.timeout(LONGEST_WAIT):
            assert await running is ExitCode.DONE
    assert [entry_id for entry_id, _ in handled(tmp_path)] == [first, second]
    assert len({pid for _, pid in handled(tmp_path)}) == 2
    assert pending_count(server, "jobs", "g") == 0
    assert server.command("KEYS", "streamops:worker:*") == []


async def test_a_process_that_falls_while_its_successor_starts_is_replaced_by_it(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    async with supervised(orders_for(server)) as (supervisor, _):
        await until_so(lambda: supervisor.processes.ready)
        (tmp_path / "import").touch()
        (old,) = workers_of(ME)
        hang_up()
        await until_so(lambda: len(workers_of(ME)) == 2)
        (successor,) = workers_of(ME) - {old}
        os.kill(old, signal.SIGKILL)
        await until_so(lambda: workers_of(ME) == {successor})
        (tmp_path / "import").unlink()
        await until_so(lambda: supervisor.processes.ready)
        assert workers_of(ME) == {successor}


async def test_a_process_that_cannot_be_started_is_tried_again(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    interpreter = WorkerProcess.interpreter
    monkeypatch.setattr(WorkerProcess, "interpreter", "/nowhere/at/all")
    monkeypatch.setattr(supervising, "PAUSES", Backoff(0.01, 30.0))
    with structlog.testing.capture_logs() as logs:
        async with supervised(orders_for(server)) as (supervisor, _):
            await until_so(lambda: logs)
            monkeypatch.setattr(WorkerProcess, "interpreter", interpreter)
            await until_so(lambda: supervisor.processes.ready)
    assert logs[0]["event"] == "worker cannot be started"


async def test_more_memory_than_allowed_from_the_start_is_a_crash(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    monkeypatch.setattr(supervising, "MOST_CRASHES", 1)
    with structlog.testing.capture_logs() as logs:
        async with supervised(replace(orders_for(server), max_memory=1)) as (_, running):
            async with asyncio.timeout(LONGEST_WAIT):
                assert await running is ExitCode.FAILED
    assert "recycled before it did anything: max-memory" in [line.get("how") for line in logs]


def _states(server: RunningServer) -> set[bytes]:
    """What the workers say that they are doing."""
    return {
        server.command("HGET", key.decode(), "state") for key in server.command("KEYS", "streamops:worker:*")
    }


def _ignores(pid: int, number: signal.Signals) -> bool:
    mask = Path(f"/proc/{pid}/status").read_text().partition("SigIgn:")[2].split()[0]
    return bool(int(mask, 16) >> (number - 1) & 1)


async def test_a_pool_that_is_scaled_down_during_a_reload_does_not_fail_it(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    with structlog.testing.capture_logs() as logs:
        async with supervised(orders_for(server)) as (supervisor, _):
            await until_so(lambda: supervisor.processes.ready)
            (tmp_path / "import").touch()
            hang_up()
            await until_so(lambda: len(workers_of(ME)) == 2)
            await supervisor.resize(0)
            await until_so(lambda: not workers_of(ME))
            await until_so(lambda: any(line["event"].startswith("reload") for line in logs))
    assert [line["event"] for line in logs if line["event"].startswith("reload")] == ["reloaded"]


async def test_a_reload_between_two_processes_does_not_wait_for_the_pause(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    monkeypatch.setattr(supervising, "PAUSES", Backoff(1000.0, 1000.0))
    async with supervised(orders_for(server)) as (supervisor, _):
        await until_so(lambda: supervisor.processes.ready)
        (fallen,) = workers_of(ME)
        os.kill(fallen, signal.SIGKILL)
        await until_so(lambda: not workers_of(ME) and not supervisor.processes.ready)
        hang_up()
        await until_so(lambda: supervisor.processes.ready)
        assert len(workers_of(ME)) == 1


async def test_a_password_is_told_through_a_pipe_only_and_no_descriptor_is_inherited(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch, app=SNOOP)
    secret = Secret("pass-that-nobody-sees")
    orders = WorkerSpec(app="shop", worker=QUICK, connection=replace(server.options, password=secret))
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
