"""Controllers as processes: ended, killed, and stopped for a while."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamops.service.processes import module_environment
from tests.support.autoscaling.pools import KEY, LOG, POOL, add_waiting, field, steer
from tests.support.eventually import wait_until
from tests.support.servers import RunningServer

LEASE = 3.0
"""Of a round a second."""


class Process:
    """A controller of the pool, and its log."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process, self._log = process, log

    @property
    def log(self) -> str:
        return self._log.read_text()

    def leads(self, server: RunningServer) -> bool:
        return f"-{self._process.pid}-" in field(server, "leader")

    def send(self, number: signal.Signals) -> None:
        os.kill(self._process.pid, number)

    def end(self) -> int:
        self.send(signal.SIGTERM)
        return self._process.wait(20)


@contextmanager
def controller(server: RunningServer, directory: Path, *options: str) -> Iterator[Process]:
    log = directory / f"log-{time.monotonic_ns()}"
    given = ("--stream", "orders", "--group", "workers", "--every", "1s", *options)
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamops", "--url", server.unix_url, "autoscale", "run", POOL, *given],
            env=module_environment(),
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Process(process, log)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(20)


def begin(server: RunningServer) -> None:
    """A pool of one worker, told so once: that is all that its supervisors would have to know."""
    add_waiting(server)
    server.command("HSET", KEY, "desired", 1)


def test_one_ends_one_is_killed_and_there_is_always_another(server: RunningServer, tmp_path: Path) -> None:
    begin(server)
    with controller(server, tmp_path, "--minimum", "2") as first:
        wait_until(lambda: first.leads(server))
        wait_until(lambda: field(server, "desired") == "2")
        with controller(server, tmp_path) as second, controller(server, tmp_path) as third:
            wait_until(lambda: "waiting for the lead" in second.log and "waiting for the lead" in third.log)
            assert first.end() == 0
            ended = time.monotonic()
            wait_until(lambda: second.leads(server) or third.leads(server))
            # At once: no lease had to run out.
            assert time.monotonic() - ended < LEASE - 0.5
            leader, waiting = (second, third) if second.leads(server) else (third, second)
            leader.send(signal.SIGKILL)
            wait_until(lambda: waiting.leads(server))
            assert field(server, "term") == "3"
            assert "Traceback" not in first.log + second.log + third.log


def test_one_that_was_stopped_for_longer_than_its_lease_asks_for_nothing_any_more(
    server: RunningServer, tmp_path: Path
) -> None:
    begin(server)
    with controller(server, tmp_path) as first:
        wait_until(lambda: first.leads(server))
        with controller(server, tmp_path) as second:
            wait_until(lambda: "waiting for the lead" in second.log)
            first.send(signal.SIGSTOP)
            wait_until(lambda: second.leads(server))
            # The one that stands still knows nothing of this.
            steer(server, override=4)
            wait_until(lambda: field(server, "desired") == "4")
            told = server.command("XLEN", LOG)
            first.send(signal.SIGCONT)
            wait_until(lambda: "lead lost" in first.log)
            steer(server, override=5, steered_at=2)
            wait_until(lambda: field(server, "desired") == "5")
            # The record of it comes after it.
            wait_until(lambda: server.command("XLEN", LOG) > told)
            assert second.leads(server)
            assert field(server, "term") == "2"
            said = server.command("XRANGE", LOG, "-", "+")[told:]
            holder = field(server, "leader").encode()
            assert all(holder in fields[1] for _, fields in said)
            assert second.end() == 0
            wait_until(lambda: first.leads(server))
            assert "Traceback" not in first.log + second.log


def test_looking_twice_and_ending(server: RunningServer, tmp_path: Path) -> None:
    begin(server)
    with controller(server, tmp_path, "--once", "--minimum", "3") as once:
        wait_until(lambda: field(server, "desired") == "3")
        wait_until(lambda: not field(server, "leader"))
        assert once._process.wait(20) == 0
        assert server.command("EXISTS", f"streamops:learned:{POOL}") == 1
        assert server.command("XLEN", LOG) == 2


def test_a_read_only_context_has_no_controller(server: RunningServer, tmp_path: Path) -> None:
    begin(server)
    with controller(server, tmp_path, "--read-only") as refused:
        assert refused._process.wait(20) == 4
        assert refused.log.splitlines()[0].startswith("error: read-only: ")
        assert len(refused.log.splitlines()) == 2
        assert field(server, "leader") == ""
