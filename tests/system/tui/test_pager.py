import os
import signal
from pathlib import Path

from tests.support.tui.pager import script
from tests.support.tui.terminal import on_a_terminal

F2, F3, CTRL_Q = b"\x1bOQ", b"\x1bOR", b"\x11"


def test_on_a_terminal_the_console_steps_aside_and_comes_back(tmp_path: Path) -> None:
    environment = {"PAGER": script(tmp_path, 'head -c 60 "$1"; echo; echo READY; read key; echo "BYE $key"')}
    with on_a_terminal("tests.support.tui.paging_console", environment=environment) as terminal:
        terminal.wait_for(b"fulfilment")
        terminal.press(F2)
        terminal.wait_for(rb"\x1b\[\?1049l")
        terminal.wait_for(b"READY")
        drawn = len(terminal.output)
        # A poll, a tick: nothing of it is drawn over the pager.
        terminal.drain(1.2)
        assert len(terminal.output) == drawn
        terminal.press(b"x\n")
        terminal.wait_for(b"BYE x")
        terminal.wait_for(b"fulfilment")
        terminal.press(CTRL_Q)
        assert terminal.wait() == 0
    paged = bytes(terminal.output)
    assert b"\x1b]52" not in paged


def test_ctrl_c_is_the_pagers(tmp_path: Path) -> None:
    pager = script(tmp_path, 'trap "echo CAUGHT; exit 0" INT; echo READY; while :; do sleep 0.05; done')
    with on_a_terminal("tests.support.tui.paging_console", environment={"PAGER": pager}) as terminal:
        terminal.wait_for(b"fulfilment")
        terminal.press(F3)
        terminal.wait_for(b"READY")
        # What a terminal does where it is the controlling one: everybody on it is told.
        os.killpg(terminal.process.pid, signal.SIGINT)
        terminal.wait_for(b"CAUGHT")
        terminal.wait_for(b"fulfilment")
        terminal.press(CTRL_Q)
        assert terminal.wait() == 0
