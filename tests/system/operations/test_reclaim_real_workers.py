"""Real workers of FastStream and taskiq, killed with -9: what they left lying is handled, and accounted for exactly."""

import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from streamops.service.processes import module_command, module_environment
from tests.support.peers import ledger
from tests.support.peers.running import FASTSTREAM, TASKIQ, Peer, Workshop, peers_python
from tests.support.programs import find_programs
from tests.support.servers import RunningServer, ServerPool
from tests.support.streams import pending_count

STREAM, GROUP = "orders", "billing"
LETTERS = "{orders}:dlq"
ENTRIES = 24
SECONDS = 30.0
WHERE = [
    pytest.param(program, id=program.label)
    for program in find_programs()
    if program.label in {"redis-7.0", "valkey-9.1"}
]


@pytest.fixture(params=WHERE)
def home(request: pytest.FixtureRequest, server_pool: ServerPool) -> RunningServer:
    server = server_pool.flushed(request.param)
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
    return server


@pytest.fixture(params=[FASTSTREAM, TASKIQ], ids=lambda peer: peer.name)
def workshop(request: pytest.FixtureRequest, home: RunningServer, tmp_path: Path) -> Iterator[Workshop]:
    peer: Peer = request.param
    python = peers_python()
    if python is None:
        pytest.skip("`make peers` installs the libraries whose workers this kills")
    place = Workshop(python, peer, url=home.url, stream=STREAM, group=GROUP, ledger=tmp_path / "ledger")
    yield place
    place.stop()


class Reclaimer:
    """``streamops streams reclaim``, running."""

    def __init__(self, server: RunningServer, *options: str) -> None:
        words = ("streams", "reclaim", STREAM, GROUP, "--url", server.unix_url, "--yes", *options)
        self._process = subprocess.Popen(
            module_command("streamops", *words),
            env=module_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def stop(self) -> tuple[int, str]:
        """Ask it to end; its exit code, and what it printed."""
        self._process.send_signal(signal.SIGTERM)
        out, _ = self._process.communicate(timeout=20)
        return self._process.returncode, out


def until(holds: Callable[[], bool], what: str, log: Path) -> None:
    """Wait until something holds; where it never does, tell what the workers printed."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"{what}\n{log.read_text()}"
        time.sleep(0.02)


def unread(server: RunningServer) -> int:
    row = server.command("XINFO", "GROUPS", STREAM)[0]
    position = row[row.index(b"last-delivered-id") + 1]
    return len(server.command("XRANGE", STREAM, b"(" + position, "+"))


def test_what_killed_workers_left_is_handled_once(home: RunningServer, workshop: Workshop) -> None:
    log = workshop.log
    workshop.publish(0, ENTRIES)
    hanging = workshop.start(ledger.HANG)
    until(lambda: bool(ledger.read(workshop.ledger, "start")), "no handler ever started", log)
    workshop.kill(hanging)
    stuck = pending_count(home)
    assert stuck > 1
    worker = workshop.start()
    until(
        lambda: unread(home) == 0 and pending_count(home) == stuck,
        "the rest was never handled",
        log,
    )
    # The library itself does not come back to them.
    handled = ledger.read(workshop.ledger, "done")
    assert len(handled) == ENTRIES - stuck

    reclaimer = Reclaimer(home, "--min-idle", "300ms", "--every", "100ms")
    until(
        lambda: pending_count(home) == 0 and unread(home) == 0,
        "entries are stuck for ever",
        log,
    )
    code, told = reclaimer.stop()

    assert code == 0, told
    assert f"{stuck} entries delivered again" in told
    assert Counter(ledger.read(workshop.ledger, "done")) == Counter(range(ENTRIES)), log.read_text()
    assert not home.command("EXISTS", LETTERS)
    assert worker.poll() is None


@pytest.mark.parametrize("home", [one for one in WHERE if one.id == "valkey-9.1"], indirect=True)
def test_an_entry_that_kills_its_workers_is_buried(home: RunningServer, workshop: Workshop) -> None:
    log = workshop.log
    workshop.publish(-1, 0)
    reclaimer = Reclaimer(home, "--min-idle", "200ms", "--every", "100ms", "--max-deliveries", "2")

    def buried() -> bool:
        return bool(home.command("EXISTS", LETTERS))

    worker = workshop.start()
    while not buried():
        # taskiq's own supervisor starts another; FastStream has none.
        if worker.poll() is not None:
            worker = workshop.start()
        before = len(ledger.read(workshop.ledger, "start"))
        until(lambda: buried() or len(ledger.read(workshop.ledger, "start")) > before, "nothing more", log)  # noqa: B023 - called at once
        until(lambda: buried() or pending_count(home) == 0 or worker.poll() is not None, "it went on", log)  # noqa: B023 - the same
    code, told = reclaimer.stop()

    assert code == 0, told
    assert ledger.read(workshop.ledger, "start") == [-1, -1]
    letter = dict(zip(*[iter(home.command("XRANGE", LETTERS, "-", "+")[0][1])] * 2, strict=True))
    assert letter[b"_so_reason"] == b"max-deliveries"
    assert letter[b"_so_deliveries"] == b"2"
    assert pending_count(home) == 0
