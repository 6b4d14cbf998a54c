"""What a service manager is told: datagrams on a real socket."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamops.runtime.supervisor.supervisor import notify, watchdog_seconds
from tests.support.runtime.supervisor.manager import Manager


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
