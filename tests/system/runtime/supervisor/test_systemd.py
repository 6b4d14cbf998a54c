"""What a service manager is told: datagrams on a real socket."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.runtime.supervisor.manager import LONGEST_WAIT, Manager
from tests.support.runtime.supervisor.run import supervising
from tests.support.servers import RunningServer


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Manager]:
    listening = Manager(str(tmp_path / "n"))
    monkeypatch.setenv("NOTIFY_SOCKET", listening.address)
    yield listening
    listening.close()


def test_a_supervisor_tells_of_start_life_reload_and_end(
    manager: Manager, server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "200000")
    with supervising(server, tmp_path, "--workers", "2") as running:
        assert manager.hear() == ["READY=1", "STATUS=2 workers"]
        assert [manager.hear(), manager.hear()] == [["WATCHDOG=1"]] * 2
        running.tell(signal.SIGHUP)
        heard = manager.hear_until(lambda lines: lines == ["READY=1"])
        assert [lines[0] for lines in heard if lines != ["WATCHDOG=1"]] == ["RELOADING=1", "READY=1"]
        assert any(line.removeprefix("MONOTONIC_USEC=").isdigit() for lines in heard for line in lines)
        running.tell(signal.SIGTERM)
        manager.hear_until(lambda lines: lines == ["STOPPING=1"])
        assert running.process.wait(LONGEST_WAIT) == 0
