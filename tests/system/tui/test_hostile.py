"""Payload text and names can neither run an action nor write to the terminal, wherever they appear."""

import re

import pyte
import pytest

from streamops.tui.theme import DARK
from tests.support.tui.terminal import on_a_terminal

COLOURS = re.compile(r"\x1b\[([\d;:]*)m")


@pytest.fixture(scope="module")
def written() -> bytes:
    """What the console writes to a real terminal while every screen is walked."""
    walk = [
        b"??",
        b"\x1b",
        b"\r",
        b"\r",
        b"j",
        b"\r",
        b"v",
        b"\x1b",
        b"\x1b",
        b"t",
        b"k",
        b"\r",
        b"\x1b",
        b"\x1b",
    ]
    walk += [
        b"3",
        b"y",
        b"c",
        b":",
        b"ctx\r",
        b"j",
        b"\x1b",
        b"/",
        b"[/x]\r",
        b"\x1b",
        b"\x10",
        b"se",
        b"\x1b",
    ]
    with on_a_terminal("tests.support.tui.hostile") as terminal:
        terminal.wait_for(rb"HEALTH")
        for keys in walk:
            terminal.press(keys)
            terminal.drain(0.2)
        terminal.press(b"\x11")
        assert terminal.wait() == 0
        return bytes(terminal.output)


def test_no_hostile_sequence_reaches_a_real_terminal(written: bytes) -> None:
    own_clipboard = re.findall(rb"\x1b\]52;c;([^\x07]*)\x07", written)
    assert len(own_clipboard) == 2
    assert b"SEVMTE8=" not in own_clipboard
    # As text it may stand there, wherever a line ends; as a sequence never.
    assert not re.search(rb"(\x1b\[|\x9b)[\d;]*31337m", written)
    for sequence in (b"\x1b]0;", b"\x1bP+q", b"\xc2\x9b", b"\xc2\x9d", "\u202e".encode(), b"\xff"):
        assert sequence not in written
    assert b"\\x1b]52;c;SEVMTE8=\\x07" in written


def test_a_real_terminal_shows_the_escaped_text_and_keeps_its_title(written: bytes) -> None:
    screen = pyte.Screen(120, 40)
    stream = pyte.ByteStream(screen)
    entered = written.index(b"HEALTH")
    stream.feed(written[: entered + 4000])
    assert "PWNED" not in screen.title
    assert any("[@click=app.bell]click[/]" in line for line in screen.display)


@pytest.mark.parametrize("keys", [b"\x10", b"??", b"t"])
def test_no_color_writes_no_colour(keys: bytes) -> None:
    with on_a_terminal("tests.support.tui", environment={"NO_COLOR": "1"}) as terminal:
        terminal.wait_for(rb"HEALTH")
        terminal.press(keys)
        terminal.drain(0.3)
        terminal.press(b"\x11")
        assert terminal.wait() == 0
        styles = COLOURS.findall(terminal.output.decode("utf-8", "replace"))
    codes = {code for style in styles for code in style.split(";")}
    assert codes <= {"", "0", "1", "2", "3", "4", "7"}
    assert {"1", "7"} <= codes


def test_with_colour_the_cursor_has_its_ground() -> None:
    with on_a_terminal("tests.support.tui", "dark") as terminal:
        terminal.wait_for(rb"HEALTH")
        terminal.drain(0.3)
        ground = ";".join(str(part) for part in bytes.fromhex(DARK["cursor"][1:]))
        assert f"48;2;{ground}".encode() in terminal.output
