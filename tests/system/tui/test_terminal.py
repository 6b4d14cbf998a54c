import os
import pty
import subprocess
import sys

from streamops.tui.terminal.output import HUNG_UP
from tests.support.tui.terminal import on_a_terminal


def test_run_refuses_a_dumb_terminal_before_drawing_anything() -> None:
    script = (
        "from streamops.errors import StreamopsError\n"
        "from streamops.tui.app import run\n"
        "from tests.support.tui import sample, source\n"
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
    with on_a_terminal("tests.support.tui", size=(120, 30)) as terminal:
        terminal.wait_for(b"fulfilment")
        terminal.press(b"/orders\r")
        terminal.wait_for(b"3 of 9")
        # By itself: with what follows at once it would be another key, Alt and that.
        terminal.press(b"\x1b")
        terminal.wait_for(b"payments")
        terminal.press(b":streams\r")
        terminal.wait_for(b"entries_added|ENTRIES|streams")
        terminal.press(b"\x11")
        assert terminal.wait() == 0


def test_it_ends_when_its_terminal_goes_away() -> None:
    """Without a session of its own it is sent no signal."""
    with on_a_terminal("tests.support.tui") as terminal:
        terminal.wait_for(b"fulfilment")
        terminal.hang_up()
        assert terminal.process.wait(60) == HUNG_UP
