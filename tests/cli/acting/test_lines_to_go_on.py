"""The command lines that an outcome prints reach the same server again, and tell no password."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import Cli
from tests.servers import RunningServer

STREAMOPS = (sys.executable, "-P", "-m", "streamops")
ROOT = str(Path(__file__).parents[3])
SESAME = "sesame"


def fill(server: RunningServer, count: int) -> None:
    pipe = server.client.pipeline(transaction=False)
    for number in range(1, count + 1):
        pipe.xadd("orders", {"n": str(number)}, id=f"{number}-1")
    pipe.execute()
    server.command("XGROUP", "CREATE", "orders", "billing", "0")
    server.command("XREADGROUP", "GROUP", "billing", "worker-1", "COUNT", count, "STREAMS", "orders", ">")


def owners(server: RunningServer) -> list[str]:
    return [name.decode() for name, _ in server.command("XPENDING", "orders", "billing")[3]]


@pytest.fixture
def secret_url(any_server: RunningServer) -> str:
    """The server's address with a password, which any user without one takes."""
    return any_server.url.replace("://", f"://default:{SESAME}@", 1)


CLAIM = ("claim", "orders", "billing", "--to", "worker-2", "--min-idle", "0", "--yes")


def test_undoing_goes_to_the_same_address(cli: Cli, any_server: RunningServer, secret_url: str) -> None:
    fill(any_server, 9)
    done = cli(*CLAIM, "-o", "json", "--url", secret_url)
    outcome = json.loads(done.out)
    program, option, url, *words = shlex.split(outcome["undo"])
    assert (program, option, words) == ("streamops", "--url", ["undo", outcome["audit_id"]])
    assert SESAME not in done.out + done.err
    assert owners(any_server) == ["worker-2"]
    assert cli(option, url, *words, "--yes").code == 0
    assert owners(any_server) == ["worker-1"]


def test_undoing_names_the_context(
    cli: Cli, any_server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(any_server, 9)
    config = tmp_path / "config.toml"
    config.write_text(f'[contexts.prod]\nurl = "{any_server.url}"\n')
    monkeypatch.setenv("STREAMOPS_CONFIG", str(config))
    told = cli(*CLAIM, "-c", "prod").out
    (line,) = (
        line.split(maxsplit=1)[1] for line in told.splitlines() if line.startswith("undo     streamops")
    )
    assert line.startswith("streamops -c prod undo ")


def test_a_job_goes_on_at_the_same_address(any_server: RunningServer, secret_url: str, cli: Cli) -> None:
    fill(any_server, 3_000)
    with subprocess.Popen(
        [*STREAMOPS, *CLAIM, "--rate", "2000/s", "--url", secret_url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": ROOT},
    ) as process:
        while "worker-2" not in owners(any_server) and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    (line,) = (line for line in err.splitlines() if line.startswith("resume with: "))
    program, *words = shlex.split(line.removeprefix("resume with: "))
    assert (program, words[0], words[2:4]) == ("streamops", "--url", ["jobs", "resume"])
    assert f"`streamops --url {words[1]} jobs show {words[4]}`" in err
    assert SESAME not in out + err
    shown = cli("jobs", "show", words[4], "--url", secret_url)
    assert line in shown.err
    assert cli(*words, "--yes").code == 0
    assert owners(any_server) == ["worker-2"]
