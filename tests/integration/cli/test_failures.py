"""However a command ends: its exit code, at most two lines, and no traceback for those who did not ask."""

import socket
import time
from typing import Any

import pytest

from streamops.cli.failures import report_failure
from streamops.cli.globals import Globals
from streamops.errors import (
    ExitCode,
    NotFound,
    Refused,
    SettingsError,
    StreamopsError,
    UnexpectedReply,
    Unreachable,
    Unsupported,
)
from streamops.monitor.search import EntryPage
from tests.support.cli.invented_console import InventedConsole
from tests.support.cli.running import Cli
from tests.support.servers import StartServer


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StreamopsError("m", "h"), 1),
        (NotFound("m", "h"), 1),
        (Unsupported("m", "h"), 1),
        (UnexpectedReply("m", "h"), 1),
        (SettingsError("m", "h"), 2),
        (Unreachable("m", "h"), 3),
        (Refused("m", "h"), 4),
    ],
)
def test_errors_are_two_lines(error: StreamopsError, code: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert report_failure(error, Globals()) == code
    assert capfd.readouterr() == ("", "error: m\nhint: h\n")


def test_a_bug_is_one_line_unless_the_traceback_is_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    bug = KeyError("a\nb")
    assert report_failure(bug, Globals()) is ExitCode.FAILED
    shown = capfd.readouterr().err
    assert shown.startswith("error: a bug in streamops: KeyError: ")
    assert len(shown.splitlines()) == 2
    report_failure(bug, Globals(log_level="debug"))
    assert capfd.readouterr().err.startswith("KeyError: ")


def test_a_bug_inside_a_command_reaches_nobody_as_a_traceback(
    cli: Cli, invented: InventedConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invented, "observation", None)
    result = cli("status")
    assert (result.code, result.out) == (1, "")
    assert "Traceback" not in result.err
    assert "Traceback" in cli("status", "--log-level", "debug").err


def test_ctrl_c_is_one_line(cli: Cli, invented: InventedConsole, monkeypatch: pytest.MonkeyPatch) -> None:
    async def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(invented, "discover", interrupted)
    assert cli("status") == (130, "", "interrupted\n")


@pytest.mark.parametrize(
    "args", [("status",), ("streams", "ls"), ("doctor",), ("check", "--lag", "1")], ids=" ".join
)
def test_no_server_exits_3_within_two_seconds(args: tuple[str, ...], cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    started = time.monotonic()
    result = cli(*args, "--url", f"redis://127.0.0.1:{port}/0")
    assert time.monotonic() - started < 2
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith(f"error: redis://127.0.0.1:{port}/0 cannot be reached")
    assert len(result.err.splitlines()) == 2


def test_nagios_knows_its_own_codes_only(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    result = cli("check", "--format", "nagios", "--url", f"redis://127.0.0.1:{port}/0")
    assert (result.code, result.err) == (3, "")
    assert result.out.startswith("STREAMOPS UNKNOWN - ")


def test_a_server_that_says_nothing_exits_3_when_its_time_is_up(cli: Cli, start_server: StartServer) -> None:
    server = start_server()
    server.pause()
    try:
        result = cli("status", "--url", server.url, "--timeout", "0.3")
    finally:
        server.resume()
    assert result.code == 3


def test_a_wrong_password_exits_4_and_is_never_shown(cli: Cli, start_server: StartServer) -> None:
    server = start_server("--requirepass", "right")
    for password in ("wr0ng-secret", ""):
        login = f":{password}@" if password else ""
        result = cli("status", "--url", f"redis://{login}127.0.0.1:{server.port}/0")
        assert result.code == 4
        assert len(result.err.splitlines()) == 2
        assert "wr0ng" not in result.err


def test_a_missing_permission_exits_4(cli: Cli, start_server: StartServer) -> None:
    server = start_server()
    server.client.xadd("orders", {"a": "b"})
    server.command("ACL", "SETUSER", "little", "on", ">pw", "~*", "+ping", "+time", "+info", "+client")
    result = cli("status", "--url", f"redis://little:pw@127.0.0.1:{server.port}/0")
    assert result.code == 4
    assert "SCAN" in result.err
    assert "doctor --acl observer" in result.err


def test_an_interrupted_search_says_how_far_it_was(
    cli: Cli, invented: InventedConsole, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_entries, pages = invented.read_entries, 0

    async def interrupted(stream: str, **_: Any) -> EntryPage:
        nonlocal pages
        pages += 1
        if pages > 1:
            raise KeyboardInterrupt
        page = await read_entries(stream)
        return EntryPage(page.entries[:2], page.entries[1].id)

    monkeypatch.setattr(invented, "read_entries", interrupted)
    result = cli("streams", "search", "orders", "--field", "id=1")
    assert (result.code, result.out) == (130, "")
    assert result.err == "1 match so far; scanned 2 entries up to 1773489480000-0\ninterrupted\n"
