"""The console as a program, with options: on a real terminal and a real server."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.servers import RunningServer
from tests.support.tui.terminal import Terminal, on_a_terminal

MOUSE = b"\x1b[?1000h"


@contextmanager
def console(config: Path, text: str, *args: str) -> Iterator[Terminal]:
    config.write_text(text)
    environment = {"STREAMOPS_CONFIG": str(config)}
    with on_a_terminal("streamops", "tui", *args, size=(120, 30), environment=environment) as terminal:
        yield terminal


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_keys_mouse_and_colours_are_those_of_the_configuration(server: RunningServer, config: Path) -> None:
    server.command("XADD", "orders", "1-1", "a", "1")
    text = '[console]\nmouse = false\ncolor = false\nkeymap = { quit = "Q, f10" }\n'
    with console(config, text, "--url", server.unix_url) as terminal:
        terminal.wait_for(b"orders")
        terminal.press(b"q")
        terminal.drain(0.3)
        assert terminal.process.poll() is None
        terminal.press(b"Q")
        assert terminal.wait() == 0
    assert MOUSE not in terminal.output
    assert b"38;2;" not in terminal.output
