import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streamops.demo.sources import ORDERS
from streamops.errors import ExitCode
from streamops.service.processes import module_environment
from tests.support.demo.running import start_workload
from tests.support.servers import RunningServer, StartServer

PARENT = """
import asyncio, os, sys
from streamops.demo.running import running_demo

async def main(seconds):
    async with running_demo() as options:
        print(options.socket_path, flush=True)
        await asyncio.sleep(seconds)

asyncio.run(main(float(sys.argv[1])))
try:
    os.waitpid(-1, os.WNOHANG)
    print("children are left")
except ChildProcessError:
    print("no child is left")
"""


def start_parent(seconds: float) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PARENT, str(seconds)],
        stdout=subprocess.PIPE,
        text=True,
        env=module_environment(),
    )


def processes_naming(text: str) -> list[str]:
    """Command lines on this machine that hold a text."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in words:
            found.append(words)
    return found


def test_demo_leaves_no_process_and_no_directory() -> None:
    with start_parent(0.2) as parent:
        output, _ = parent.communicate(timeout=30)
    socket_path, last = output.split("\n", 1)
    assert last.strip() == "no child is left"
    assert not Path(socket_path).parent.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_demo_ends_with_its_parent_killed_outright() -> None:
    with start_parent(60) as parent:
        assert parent.stdout is not None
        socket_path = parent.stdout.readline().strip()
        assert len(processes_naming(socket_path)) >= 2
        parent.kill()
    deadline = time.monotonic() + 10
    while processes_naming(socket_path) or Path(socket_path).parent.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_workload_ends_well_when_told_to(server: RunningServer) -> None:
    with start_workload(server.unix_url) as workload:
        assert workload.stdout is not None
        assert workload.stdout.readline() == "ready\n"
        workload.send_signal(signal.SIGTERM)
        _, errors = workload.communicate(timeout=10)
    assert (workload.returncode, errors) == (ExitCode.DONE, "")


def test_workload_ends_when_its_server_goes_away(start_server: StartServer) -> None:
    server = start_server()
    with start_workload(server.unix_url) as workload:
        assert workload.stdout is not None
        assert workload.stdout.readline() == "ready\n"
        server.kill()
        _, errors = workload.communicate(timeout=10)
    assert workload.returncode == ExitCode.CANNOT_CONNECT
    assert len(errors.splitlines()) == 1


def test_workload_refuses_a_server_that_holds_its_streams(server: RunningServer) -> None:
    server.command("XADD", ORDERS.stream, "1-0", "real", "data")
    with start_workload(server.unix_url) as workload:
        _, errors = workload.communicate(timeout=10)
    assert workload.returncode == ExitCode.USAGE
    assert "empty server" in errors
    assert server.command("XLEN", ORDERS.stream) == 1


def test_workload_refuses_a_cluster(server: RunningServer) -> None:
    with start_workload(f"redis+cluster://127.0.0.1:{server.port}") as workload:
        _, errors = workload.communicate(timeout=10)
    assert workload.returncode == ExitCode.USAGE
    assert "single server" in errors
