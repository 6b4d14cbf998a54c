"""What a service manager is told: datagrams on a real socket."""

import select
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from streamops.runtime.supervisor.systemd import notify, reloading, watchdog_seconds
from tests.support.runtime.supervisor.run import supervising
from tests.support.servers import RunningServer

LONGEST_WAIT = 20.0


class Manager:
    """A service manager's socket."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address)

    def hear(self) -> list[str]:
        """The next datagram, line by line."""
        assert select.select([self._socket], [], [], LONGEST_WAIT)[0]
        return self._socket.recv(4096).decode().split("\n")

    def hear_until(self, true: Callable[[list[str]], bool]) -> list[list[str]]:
        """All datagrams up to one."""
        heard = [self.hear()]
        while not true(heard[-1]):
            heard.append(self.hear())
        return heard

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["path", "abstract"])
def manager(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Manager]:
    path = str(tmp_path / "n")
    listening = Manager(path if request.param == "path" else f"\0streamops{path}")
    monkeypatch.setenv("NOTIFY_SOCKET", listening.address.replace("\0", "@"))
    yield listening
    listening.close()


def test_states_arrive_in_one_datagram(manager: Manager) -> None:
    notify("READY=1", "STATUS=2 workers")
    assert manager.hear() == ["READY=1", "STATUS=2 workers"]
    reloading()
    word, when = manager.hear()
    assert word == "RELOADING=1"
    assert when.removeprefix("MONOTONIC_USEC=").isdigit()


def test_without_a_manager_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notify("READY=1")
    monkeypatch.setenv("NOTIFY_SOCKET", "/nowhere/at/all")
    notify("READY=1")


@pytest.mark.parametrize(
    ("text", "seconds"), [("", None), ("0", None), ("none", None), ("10000000", 5.0), ("-5", None)]
)
def test_the_watchdog_is_fed_twice_a_period(
    monkeypatch: pytest.MonkeyPatch, text: str, seconds: float | None
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", text)
    assert watchdog_seconds() == seconds


@pytest.mark.parametrize("manager", ["path"], indirect=True)
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
        running.tell(signal.SIGTERM)
        manager.hear_until(lambda lines: lines == ["STOPPING=1"])
        assert running.process.wait(LONGEST_WAIT) == 0
