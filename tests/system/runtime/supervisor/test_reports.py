"""What worker processes report, what is made of their silence, and what becomes of them where nobody listens."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from streamops.runtime.supervisor.child import Channel
from streamops.runtime.supervisor.spec import (
    WorkerReport,
    WorkerSpec,
    encode_spec,
)
from tests.support.eventually import wait_until
from tests.support.runtime.supervisor.reports import pipe
from tests.support.runtime.supervisor.running import QUICK, add_job, handled, prepared
from tests.support.servers import RunningServer
from tests.support.streams import pending_count

CHILD = [sys.executable, "-P", "-m", "streamops.runtime.supervisor.child"]


def test_a_worker_goes_on_when_nobody_takes_its_reports(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    entry_id = add_job(server)
    with pipe() as (_, writing):
        channel = Channel(writing)
        while not channel.waiting:
            channel.send(WorkerReport())
        os.set_blocking(writing, True)
        child = subprocess.Popen(CHILD, stdin=subprocess.PIPE, pass_fds=(writing,))
        try:
            assert child.stdin is not None
            orders = WorkerSpec(app="shop", worker=QUICK, connection=server.options, report_fd=writing)
            child.stdin.write(encode_spec(orders))
            child.stdin.flush()
            wait_until(lambda: entry_id in dict(handled(tmp_path)))
            # The parent is gone.
            child.stdin.close()
            assert child.wait(20) == 0
        finally:
            child.kill()
            child.wait()
    assert pending_count(server, "jobs", "g") == 0
