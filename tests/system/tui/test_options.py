"""The console as a program, with options: on a real terminal and a real server."""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from streamops.operate.recording.recording import Recording
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


def test_what_is_recorded_is_played_without_the_server(
    server: RunningServer, config: Path, tmp_path: Path
) -> None:
    path = tmp_path / "shift.rec"
    server.command("XADD", "orders", "1-1", "a", "planted")
    server.command("XADD", b"\xff\xfe", "1-1", "a", "1")
    text = '[console]\nrefresh = "200ms"\n'
    with console(config, text, "--url", server.unix_url, "--record", str(path)) as terminal:
        terminal.wait_for("● rec ".encode())
        terminal.wait_for(b"orders")
        terminal.drain(0.5)
        terminal.press(b"q")
        assert terminal.wait() == 0
    assert MOUSE in terminal.output
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert b"planted" not in path.read_bytes()
    recording = Recording.open(path)
    scene = recording.read(len(recording) - 1)
    recording.close()
    assert recording.problem == ""
    assert scene.observation is not None
    assert {view.stream.name for view in scene.observation.streams} == {"orders", "\udcff\udcfe"}
    # The configuration names a context that cannot be reached, and a password that cannot be read: neither is asked for.
    text = (
        'default_context = "away"\n[contexts.away]\nhost = "127.0.0.1"\nport = 1\npassword_file = "nowhere"\n'
    )
    with console(config, text, "--replay", str(path)) as terminal:
        terminal.wait_for(b"REPLAY 20")
        terminal.wait_for(b"orders")
        terminal.press(b"q")
        assert terminal.wait() == 0


def test_a_killed_console_leaves_a_recording_that_plays(
    server: RunningServer, config: Path, tmp_path: Path
) -> None:
    path = tmp_path / "shift.rec"
    server.command("XADD", "orders", "1-1", "a", "1")
    with console(config, "", "--url", server.unix_url, "--record", str(path)) as terminal:
        terminal.wait_for("● rec ".encode())
        terminal.process.kill()
        terminal.wait()
    recording = Recording.open(path)
    assert recording.read(0).observation is not None
    recording.close()


@pytest.mark.parametrize("option", ["--record", "--replay"])
def test_a_file_that_will_not_do_is_told_before_anything_is_drawn(
    config: Path, tmp_path: Path, option: str
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a recording\n")
    with console(config, "", option, str(path)) as terminal:
        assert terminal.wait() == (2 if option == "--record" else 1)
    assert b"notes.txt" in terminal.output
    assert b"\x1b[?1049h" not in terminal.output
    assert path.read_text() == "not a recording\n"
