"""What worker processes report, what is made of their silence, and what becomes of them where nobody listens."""

import os
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from streamops.model.pools import WorkerState
from streamops.runtime.supervisor.child import Channel
from streamops.runtime.supervisor.process import WorkerProcess
from streamops.runtime.supervisor.spec import (
    StartFailure,
    WorkerReport,
    WorkerSpec,
    decode_report,
    encode_report,
)
from tests.support.runtime.supervisor.reports import pipe
from tests.support.runtime.supervisor.running import (
    LONGEST_WAIT,
    QUICK,
)

MANY_REPORTS = 2000
# Says that it works, then that it fails; a process that it leaves behind keeps its pipe for as long as its parent has it.
FAILING = """#!{python}
import json, os, sys
channel = json.loads(sys.stdin.readline())["report_fd"]
os.write(channel, {works!r})
os.write(channel, {fails!r})
if os.fork() == 0:
    sys.stdin.read()
"""


def test_reports_never_wait_and_are_never_torn() -> None:
    with pipe() as (reading, writing):
        channel = Channel(writing)
        for number in range(MANY_REPORTS):
            channel.send(WorkerReport(worker_id=f"so-h-{number}-" + "x" * 100))
        assert channel.waiting
        first = os.read(reading, 1 << 20)
        channel.push()
        assert not channel.waiting
        channel.send(WorkerReport(worker_id="last"))
        lines = (first + os.read(reading, 1 << 20)).splitlines()
    reports = [decode_report(line) for line in lines]
    assert 1 < len(reports) < MANY_REPORTS
    assert [one.worker_id.split("-")[2] for one in reports[:-1]] == [str(n) for n in range(len(lines) - 1)]
    assert reports[-1].worker_id == "last"


def test_the_last_report_is_given_a_moment_and_nobody_to_hear_it_is_no_error() -> None:
    with pipe() as (reading, writing):
        channel = Channel(writing)
        why = StartFailure("x" * 70_000, "", 2)
        channel.send(WorkerReport(failure=why))
        parts = [os.read(reading, 1 << 20)]
        channel.flush(seconds=5.0)
        parts.append(os.read(reading, 1 << 20))
        assert decode_report(b"".join(parts)).failure == why
        channel.send(WorkerReport(failure=why))
        channel.flush(seconds=0.0)
        assert channel.waiting
    reading, writing = os.pipe()
    os.close(reading)
    channel = Channel(writing)
    channel.send(WorkerReport())
    assert not channel.waiting
    os.close(writing)


async def test_a_failure_does_not_undo_what_was_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = StartFailure("the server went away", "", 3)
    works = WorkerReport(worker_id="so-h-1-a", state=WorkerState.RUNNING, memory=7)
    program = tmp_path / "failing"
    program.write_text(
        FAILING.format(
            python=sys.executable, works=encode_report(works), fails=encode_report(WorkerReport(failure=why))
        )
    )
    program.chmod(0o700)
    monkeypatch.setattr(WorkerProcess, "interpreter", str(program))
    process = await WorkerProcess.start(WorkerSpec(app="shop", worker=QUICK))
    assert await process.becomes_ready(LONGEST_WAIT)
    assert await process.wait() == 0
    assert process.report == replace(works, failure=why)
