"""However a command ends: its exit code, at most two lines, and no traceback for those who did not ask."""

import os
import signal
import subprocess
from pathlib import Path

from tests.support.cli.failures import STREAMOPS
from tests.support.project import PROJECT
from tests.support.servers import RunningServer


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(PROJECT), **changes}


def test_a_reader_that_had_enough_is_no_failure(server: RunningServer) -> None:
    for number in range(2_000):
        server.client.xadd("orders", {"n": str(number)})
    command = [
        *STREAMOPS,
        "streams",
        "search",
        "orders",
        "--limit",
        "2000",
        "-o",
        "jsonl",
        "--url",
        server.unix_url,
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(20) == 0
    assert b"Traceback" not in errors
    assert b"Broken" not in errors


def test_tail_ends_quietly_on_ctrl_c(server: RunningServer) -> None:
    server.client.xadd("orders", {"n": "1"})
    command = [
        *STREAMOPS,
        "streams",
        "tail",
        "orders",
        "-n",
        "1",
        "-o",
        "jsonl",
        "--url",
        server.unix_url,
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        assert b'"n":"1"' in process.stdout.readline()
        server.client.xadd("orders", {"n": "2"})
        assert b'"n":"2"' in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=20)
    assert (process.returncode, out, errors) == (130, b"", b"")


def test_an_answer_to_nagios_that_cannot_be_written_is_no_ok(server: RunningServer) -> None:
    words = [*STREAMOPS, "--url", server.unix_url, "check", "--format", "nagios"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.DEVNULL, env=environment(), check=False)
    assert done.returncode == 3
