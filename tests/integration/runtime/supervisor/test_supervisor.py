"""A supervisor in the test's own process: stalled workers, crash loops."""

import asyncio
from pathlib import Path

import pytest
import structlog
from msgspec.structs import replace

from streamops.errors import ExitCode
from streamops.model.schedules import Backoff
from streamops.runtime.supervisor import process as processes
from streamops.runtime.supervisor import supervisor as supervising
from streamops.runtime.supervisor.child import IDLE_EVERY, IDLE_LOOKS
from streamops.runtime.supervisor.process import WorkerProcess
from streamops.runtime.supervisor.supervisor import CannotStart, Supervisor
from tests.support.runtime.supervisor.running import (
    LONGEST_WAIT,
    add_job,
    handled,
    orders_for,
    prepared,
    supervised,
    until_so,
)
from tests.support.servers import RunningServer
from tests.support.streams import pending_count


async def test_a_worker_that_is_still_being_imported_is_not_stalled(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    (tmp_path / "import").touch()
    monkeypatch.setattr(supervising, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(processes, "SILENT", 0.0)
    looks, add_silence = list[float](), WorkerProcess.add_silence

    def counted(process: WorkerProcess, seconds: float) -> None:
        looks.append(seconds)
        add_silence(process, seconds)

    monkeypatch.setattr(WorkerProcess, "add_silence", counted)
    async with supervised(orders_for(server)) as (supervisor, _):
        await until_so(lambda: len(looks) > 5)
        assert supervisor.processes.healthy
        assert not supervisor.processes.ready


async def test_a_crash_loop_is_given_up(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch, app="import os; os._exit(7)")
    monkeypatch.setattr(supervising, "PAUSES", Backoff(0.001, 30.0))
    monkeypatch.setattr(supervising, "MOST_CRASHES", 2)
    with structlog.testing.capture_logs() as logs:
        async with supervised(orders_for(server)) as (_, running):
            async with asyncio.timeout(LONGEST_WAIT):
                assert await running is ExitCode.FAILED
    crashes = [line for line in logs if line["event"] == "worker crashed"]
    assert [(line["how"], line["restart_in_seconds"]) for line in crashes] == [
        ("exit code 7", 0.001),
        ("exit code 7", 0.002),
    ]


@pytest.mark.parametrize(("crashes", "seconds"), [(1, 0.25), (2, 0.5), (7, 16.0), (8, 30.0), (100_000, 30.0)])
def test_the_pause_doubles_up_to_a_limit(crashes: int, seconds: float) -> None:
    assert supervising.PAUSES.pause(crashes) == seconds


async def test_what_others_have_in_hand_is_waited_for_until_all_are_idle(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    (tmp_path / "slow").touch()
    slow = add_job(server, "slow")
    async with supervised(replace(orders_for(server), until_idle=True), 2) as (supervisor, running):
        await until_so(lambda: supervisor.processes.was_ready)
        await until_so(lambda: pending_count(server, "jobs", "g") == 1)
        quick = add_job(server)
        await until_so(lambda: [one for one, _ in handled(tmp_path)] == [quick])
        # Time for a worker that would look at its own hands alone.
        quiet = asyncio.wait([running], timeout=3 * IDLE_EVERY * IDLE_LOOKS)
        assert running not in (await quiet)[0]
        (tmp_path / "slow").unlink()
        async with asyncio.timeout(LONGEST_WAIT):
            assert await running is ExitCode.DONE
    assert [one for one, _ in handled(tmp_path)] == [quick, slow]
    assert pending_count(server, "jobs", "g") == 0


async def test_no_handler_that_is_left_ends_the_start(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    with pytest.raises(CannotStart, match="no handler is left to work"):
        await Supervisor(replace(orders_for(server), exclude=("jobs",)), 1).run()
