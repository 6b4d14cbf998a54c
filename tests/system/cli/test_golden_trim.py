"""What ``trim`` and ``entries rm`` print, on a real server; what changes from run to run is masked.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcripts anew; read the difference before it is committed.
"""

import os
import re
import signal
import subprocess
import sys
import threading

from tests.support.cli.running import Place
from tests.support.project import PROJECT
from tests.support.servers import RunningServer


def test_round_after_round_until_it_is_stopped(shop: RunningServer, place: Place) -> None:
    with (place.cwd / "streamops.toml").open("a") as file:
        file.write('[[retention]]\nstreams = ["orders"]\nmaxlen = 20\nexact = true\n')
    command = [sys.executable, "-m", "streamops", "trim", "--policies", "--every", "100ms", "--yes"]
    root = PROJECT
    with subprocess.Popen(
        command,
        cwd=place.cwd,
        env={**os.environ, "PYTHONPATH": str(root), "HOME": str(place.home)},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        assert process.stderr is not None
        first = process.stderr.readline()
        shop.command("XACK", "orders", "billing", "24-0")
        lines = [process.stderr.readline() for _ in range(3)]
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate()
        watchdog.cancel()
    assert first == "round 1: 1 stream, 20 entries removed\n"
    assert all(re.match(r"round \d+: 1 stream, 0 entries removed", line) for line in lines)
    assert (process.returncode, rest) == (0, "")
