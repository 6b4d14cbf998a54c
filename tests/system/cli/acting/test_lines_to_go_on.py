"""The command lines that an outcome prints reach the same server again, and tell no password."""

import os
import shlex
import signal
import subprocess
import sys
import time

from tests.support.cli.billing import RECLAIM, SESAME, deliver_all_to_worker_1, owners
from tests.support.cli.running import Cli
from tests.support.project import PROJECT
from tests.support.servers import RunningServer

STREAMOPS = (sys.executable, "-P", "-m", "streamops")
ROOT = str(PROJECT)


def test_a_job_goes_on_at_the_same_address(server: RunningServer, secret_url: str, cli: Cli) -> None:
    deliver_all_to_worker_1(server, 3_000)
    with subprocess.Popen(
        [*STREAMOPS, *RECLAIM, "--rate", "2000/s", "--url", secret_url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": ROOT},
    ) as process:
        while "worker-2" not in owners(server) and process.poll() is None:
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
    assert owners(server) == ["worker-2"]
