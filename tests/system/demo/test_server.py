import signal
import subprocess
import sys
from pathlib import Path

import pytest

from streamops.service.processes import module_environment
from tests.support.demo.server import ask
from tests.support.eventually import wait_until

PARENT = """
import signal
from streamops.service.processes import module_environment
from streamops.demo.server import embedded_server
with embedded_server() as options:
    print(options.socket_path, flush=True)
    signal.pause()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_server_ends_with_its_parent_however_that_ends(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdout=subprocess.PIPE,
        text=True,
        env=module_environment(),
    ) as parent:
        assert parent.stdout is not None
        socket_path = parent.stdout.readline().strip()
        assert ask(socket_path, "PING")
        parent.send_signal(number)
    wait_until(lambda: not Path(socket_path).parent.exists())
