"""Colours: for every terminal, and for all eyes."""

import re
from typing import Final

import pytest

from tests.support.tui.terminal import on_a_terminal

CTRL_Q: Final = b"\x11"


def colours_on(*, typing: bool = True, **environment: str) -> set[bytes]:
    """What a terminal is told about colours, while rows are walked and, unless told otherwise, a filter is typed."""
    with on_a_terminal("tests.support.tui", size=(100, 30), environment=environment) as terminal:
        terminal.wait_for(b"fulfilment")
        terminal.press(b"j")
        if typing:
            terminal.press(b"/")
            terminal.wait_for(b"!word")
            terminal.press(b"orders\r")
            terminal.wait_for(b"of 9")
        terminal.press(CTRL_Q)
        assert terminal.wait() == 0
    codes = set(re.findall(rb"\x1b\[([0-9;]*)m", bytes(terminal.output)))
    return {code for code in codes if not set(code.split(b";")) <= {b"", b"0", b"1", b"2", b"3", b"4", b"7"}}


@pytest.mark.parametrize("term", ["xterm", "linux", "screen"])
def test_with_sixteen_colours_nothing_else_is_written(term: str) -> None:
    told = colours_on(TERM=term, COLORTERM="")
    assert told
    assert not [code for code in told if b"38;" in code or b"48;" in code]


def test_with_256_colours_no_other_is_written() -> None:
    told = colours_on(TERM="xterm-256color", COLORTERM="")
    assert [code for code in told if b"38;5;" in code]
    assert not [code for code in told if b"38;2;" in code]


@pytest.mark.parametrize("term", ["xterm-256color", "xterm"])
def test_without_colour_none_is_written_at_all(term: str) -> None:
    # The line of a prompt has colours for its first frame: known, and not mended here.
    assert colours_on(typing=False, TERM=term, NO_COLOR="1") == set()
