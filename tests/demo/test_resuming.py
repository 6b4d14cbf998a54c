"""A workload that goes on where one before it was stopped, as a container that is started again must."""

import signal

from streamops.demo.sources import EMAILS, ORDERS
from streamops.errors import ExitCode
from tests.demo.test_running import start_workload
from tests.servers import RunningServer


def play(url: str, *args: str) -> None:
    """Run a workload until it is ready, and have it end."""
    with start_workload(url, *args) as workload:
        assert workload.stdout is not None
        assert workload.stdout.readline() == "ready\n"
        workload.send_signal(signal.SIGTERM)
        _, errors = workload.communicate(timeout=10)
    assert (workload.returncode, errors) == (ExitCode.DONE, "")


def test_an_empty_server_is_given_its_history(any_server: RunningServer) -> None:
    play(any_server.unix_url, "--resume")
    assert any_server.command("EXISTS", ORDERS.stream, EMAILS.stream) == 2


def test_streams_that_are_there_are_kept(any_server: RunningServer) -> None:
    play(any_server.unix_url)
    first = any_server.client.xinfo_stream(ORDERS.stream)["first-entry"]
    groups = any_server.command("XINFO", "GROUPS", ORDERS.stream)
    play(any_server.unix_url, "--resume")
    assert any_server.client.xinfo_stream(ORDERS.stream)["first-entry"] == first
    assert len(any_server.command("XINFO", "GROUPS", ORDERS.stream)) == len(groups)


def test_some_of_the_streams_are_not_gone_on_with(any_server: RunningServer) -> None:
    any_server.command("XADD", ORDERS.stream, "1-0", "real", "data")
    with start_workload(any_server.unix_url, "--resume") as workload:
        _, errors = workload.communicate(timeout=10)
    assert workload.returncode == ExitCode.USAGE
    assert "empty server" in errors
