"""A workload that goes on where one before it was stopped, as a container that is started again must."""

import signal

from streamops.demo.sources import EMAILS, ORDERS
from streamops.errors import ExitCode
from tests.support.demo.running import start_workload
from tests.support.servers import RunningServer


def play(url: str, *args: str) -> None:
    """Run a workload until it is ready, and have it end."""
    with start_workload(url, *args) as workload:
        assert workload.stdout is not None
        assert workload.stdout.readline() == "ready\n"
        workload.send_signal(signal.SIGTERM)
        _, errors = workload.communicate(timeout=10)
    assert (workload.returncode, errors) == (ExitCode.DONE, "")


def test_an_empty_server_is_given_its_history(server: RunningServer) -> None:
    play(server.unix_url, "--resume")
    assert server.command("EXISTS", ORDERS.stream, EMAILS.stream) == 2


def test_streams_that_are_there_are_kept(server: RunningServer) -> None:
    play(server.unix_url)
    first = server.client.xinfo_stream(ORDERS.stream)["first-entry"]
    groups = server.command("XINFO", "GROUPS", ORDERS.stream)
    play(server.unix_url, "--resume")
    assert server.client.xinfo_stream(ORDERS.stream)["first-entry"] == first
    assert len(server.command("XINFO", "GROUPS", ORDERS.stream)) == len(groups)


def test_some_of_the_streams_are_not_gone_on_with(server: RunningServer) -> None:
    server.command("XADD", ORDERS.stream, "1-0", "real", "data")
    with start_workload(server.unix_url, "--resume") as workload:
        _, errors = workload.communicate(timeout=10)
    assert workload.returncode == ExitCode.USAGE
    assert "empty server" in errors
