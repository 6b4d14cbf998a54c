"""``streamops streams reclaim --every`` as a process."""

import signal
import subprocess

from streamops.service.processes import module_command, module_environment
from tests.support.cli.billing import GROUP, STREAM, fill_stuck
from tests.support.eventually import wait_until
from tests.support.servers import StartServer
from tests.support.streams import pending_count


def test_it_outlives_a_server_that_does_not_answer(start_server: StartServer) -> None:
    server = start_server()
    fill_stuck(server)
    options = ("--every", "100ms", "--timeout", "0.3", "--yes", "--url", server.unix_url)
    with subprocess.Popen(
        module_command("streamops", "streams", "reclaim", STREAM, GROUP, *options),
        env=module_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_until(lambda: pending_count(server, STREAM, GROUP) == 0)
        server.pause()
        assert process.stderr is not None
        # What is said first is that it had something to do.
        said = [process.stderr.readline() for _ in range(2)]
        server.resume()
        server.command("XREADGROUP", "GROUP", GROUP, "w", "STREAMS", STREAM, ">")
        again = server.command("XPENDING", STREAM, GROUP, "-", "+", 1)[0][0]
        server.command("XCLAIM", STREAM, GROUP, "w", 0, again, "IDLE", 90_000, "JUSTID")
        wait_until(lambda: pending_count(server, STREAM, GROUP) == 0)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert "trying again" in said[1], said
    assert "delivered again" in out
