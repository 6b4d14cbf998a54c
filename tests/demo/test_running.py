import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import redis

from streamops.demo.children import module_command, module_environment
from streamops.demo.running import running_demo
from streamops.demo.sources import ORDERS
from streamops.errors import ExitCode
from tests.servers import RunningServer, StartServer

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


def start_workload(url: str, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        module_command("streamops.demo.workload", "--url", url, *args),
        env=module_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
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


def group_of(client: redis.Redis, name: bytes) -> dict[str, Any]:
    return next(row for row in client.xinfo_groups(ORDERS.stream) if row["name"] == name)


async def test_demo_is_at_work_within_seconds() -> None:
    start = time.monotonic()
    async with running_demo() as options:
        assert time.monotonic() - start < 5
        with redis.Redis(unix_socket_path=options.socket_path, protocol=2, legacy_responses=False) as client:
            length = client.xlen(ORDERS.stream)
            delivered = group_of(client, b"billing")["last-delivered-id"]
            await asyncio.sleep(1)
            assert client.xlen(ORDERS.stream) >= length + 10
            assert group_of(client, b"billing")["last-delivered-id"] > delivered
            assert group_of(client, b"shipping")["pending"]
            names = {row["name"] for row in client.client_list()}
            assert "streamops-demo" in names


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


def test_workload_ends_well_when_told_to(any_server: RunningServer) -> None:
    with start_workload(any_server.unix_url) as workload:
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


def test_workload_refuses_a_server_that_holds_its_streams(any_server: RunningServer) -> None:
    any_server.command("XADD", ORDERS.stream, "1-0", "real", "data")
    with start_workload(any_server.unix_url) as workload:
        _, errors = workload.communicate(timeout=10)
    assert workload.returncode == ExitCode.USAGE
    assert "empty server" in errors
    assert any_server.command("XLEN", ORDERS.stream) == 1


def test_workload_refuses_a_cluster(any_server: RunningServer) -> None:
    with start_workload(f"redis+cluster://127.0.0.1:{any_server.port}") as workload:
        _, errors = workload.communicate(timeout=10)
    assert workload.returncode == ExitCode.USAGE
    assert "single server" in errors
