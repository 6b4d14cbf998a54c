import os
import select
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from streamops.errors import SettingsError
from streamops.settings import secrets
from streamops.settings.secrets import read_password_file, run_password_command
from tests.support.settings.place import PLANTED
from tests.support.tables import table


def shown(error: BaseException | None) -> str:
    """Everything that a careless handler could print of an error and of those behind it."""
    text = ""
    while error is not None:
        text += f"{error!r} {error} {getattr(error, 'hint', '')} {vars(error)}"
        error = error.__context__
    return text


@pytest.mark.parametrize(
    ("content", "password"),
    [
        (b"secret", "secret"),
        (b"secret\n", "secret"),
        (b"secret\r\n", "secret"),
        (b" s p \n", " s p "),
        (b"\xc3\xa9", "é"),
    ],
)
def test_a_password_file_is_read_without_its_line_end(tmp_path: Path, content: bytes, password: str) -> None:
    path = tmp_path / "password"
    path.write_bytes(content)
    assert read_password_file(path).reveal() == password


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "holds nothing"),
        (b"\n", "holds nothing"),
        (f"{PLANTED}\nmore".encode(), "holds several lines"),
        (PLANTED.encode() + b"\xff", "holds what is not UTF-8"),
        (PLANTED.encode() * 10_000, "holds more than any secret is"),
    ],
)
def test_a_bad_password_file_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "password"
    path.write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        read_password_file(path)
    assert caught.value.message == f"{path} {problem}"
    assert PLANTED not in shown(caught.value)


def test_a_password_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        read_password_file(tmp_path / "none")
    assert caught.value.message == f"cannot read {tmp_path}/none: No such file or directory"


@table(
    "command",
    [
        "printf '%s\\n' 'se $cret'",
        ["printf", "%s", "se $cret"],
        f"{sys.executable} -c \"print('se $cret')\"",
        ["sh", "-c", "echo noise >&2; echo 'se $cret'"],
    ],
)
def test_a_command_prints_the_password(command: str | list[str]) -> None:
    assert run_password_command(command).reveal() == "se $cret"


@table(
    ("command", "message"),
    [
        ("", "not a program with arguments"),
        ([], "not a program with arguments"),
        ([""], "not a program with arguments"),
        ("echo 'open", "not a program with arguments"),
        (["echo", "a\0b"], "not a program with arguments"),
        ("/no/such/program", "cannot be started: No such file or directory"),
        (["sh", "-c", f"echo {PLANTED}; echo {PLANTED} >&2; exit 3"], "failed with exit status 3"),
        (["sh", "-c", f"echo {PLANTED}; kill -9 $$"], "failed with signal 9"),
        ("true", "printed nothing"),
        (["printf", f"{PLANTED}\n{PLANTED}"], "printed several lines"),
        (["printf", f"{PLANTED}\\377"], "printed what is not UTF-8"),
    ],
)
def test_a_failing_command_shows_its_status_and_never_its_output(
    command: str | list[str], message: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        run_password_command(command)
    assert caught.value.message == message
    assert caught.value.hint
    assert PLANTED not in shown(caught.value)


def test_a_slow_command_ends_with_all_it_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(secrets, "COMMAND_TIMEOUT", timedelta(seconds=1))
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    # The shell's child inherits the FIFO, so the FIFO ends only when both are gone.
    script = f"echo {PLANTED}; exec 3>'{fifo}'; echo started >&3; sleep 60 & wait"
    with pytest.raises(SettingsError) as caught:
        run_password_command(["sh", "-c", script])
    assert caught.value.message == "took more than 1 s"
    assert PLANTED not in shown(caught.value)
    assert os.read(reader, 100) == b"started\n"
    assert select.select([reader], [], [], 5)[0], "the program's child is still running"
    assert os.read(reader, 100) == b""
    os.close(reader)


def test_a_command_cannot_ask() -> None:
    """Standard input is empty, so a program that asks gets an end at once, not a terminal."""
    with pytest.raises(SettingsError, match="failed with exit status 1"):
        run_password_command(["sh", "-c", "read answer"])
