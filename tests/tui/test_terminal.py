import os
import pty
import subprocess
import sys
from time import sleep

import pytest

from streamops.errors import ExitCode, SettingsError
from streamops.tui.app import run
from streamops.tui.terminal import HUNG_UP, require_terminal
from tests.tui import sample
from tests.tui.source import InventedSource, settings_for
from tests.tui.terminal import on_a_terminal


class Pipe:
    def __init__(self, *, terminal: bool) -> None:
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


TERMINAL, PIPE = Pipe(terminal=True), Pipe(terminal=False)


@pytest.mark.parametrize(
    ("stdin", "stdout", "term"),
    [
        (PIPE, TERMINAL, "xterm"),
        (TERMINAL, PIPE, "xterm"),
        (None, TERMINAL, "xterm"),
        (TERMINAL, None, "xterm"),
        (TERMINAL, TERMINAL, "dumb"),
        (TERMINAL, TERMINAL, ""),
    ],
)
def test_without_a_terminal_it_refuses_with_a_hint(
    stdin: Pipe | None, stdout: Pipe | None, term: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        require_terminal(stdin, stdout, {"TERM": term})
    assert refused.value.exit_code == ExitCode.USAGE
    assert refused.value.hint == "for plain output use: streamops status"


def test_a_terminal_is_accepted() -> None:
    require_terminal(TERMINAL, TERMINAL, {"TERM": "xterm-256color"})


def test_run_refuses_a_pipe() -> None:
    with pytest.raises(SettingsError, match="needs a terminal"):
        run(settings_for(InventedSource(sample.shop())))


def test_run_refuses_a_dumb_terminal_before_drawing_anything() -> None:
    script = (
        "from streamops.errors import StreamopsError\n"
        "from streamops.tui.app import run\n"
        "from tests.tui import sample, source\n"
        "try: run(source.settings_for(source.InventedSource(sample.shop())))\n"
        "except StreamopsError as error: print(error.message, int(error.exit_code))\n"
    )
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-c", script],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": "dumb"},
            timeout=60,
            check=False,
        )
        assert done.returncode == 0
        assert os.read(master, 10_000) == b"the console cannot be drawn with TERM='dumb' 2\r\n"
    finally:
        os.close(slave)
        os.close(master)


def test_what_is_typed_at_once_is_not_lost() -> None:
    """A terminal hands over what came meanwhile as one piece: the prompt has the keys after its own."""
    with on_a_terminal("tests.tui", size=(120, 30)) as terminal:
        terminal.wait_for(b"fulfilment")
        terminal.press(b"/orders\r")
        terminal.wait_for(b"3 of 9")
        # By itself: with what follows at once it would be another key, Alt and that.
        terminal.press(b"\x1b")
        sleep(0.5)
        terminal.press(b":streams\r")
        terminal.wait_for(b"entries_added|ENTRIES|streams")
        terminal.press(b"\x11")
        assert terminal.wait() == 0


def test_it_ends_when_its_terminal_goes_away() -> None:
    """Without a session of its own it is sent no signal."""
    with on_a_terminal("tests.tui") as terminal:
        terminal.wait_for(b"fulfilment")
        terminal.hang_up()
        assert terminal.process.wait(60) == HUNG_UP
