"""The commands that compose faces: the console on a server, the demo with and without a terminal."""

from pathlib import Path

from tests.support.cli.terminal import Typing, on_terminal
from tests.support.servers import RunningServer


def test_the_demo_on_a_terminal_opens_the_console() -> None:
    shown = on_terminal("demo", width=120, typing=Typing("orders:events", "q"))
    assert shown.code == 0
    assert "development" in shown.text


def test_the_console_on_a_server(server: RunningServer) -> None:
    server.client.xadd("parcels", {"n": "1"})
    shown = on_terminal("tui", "--url", server.unix_url, width=120, typing=Typing("parcels", "q"))
    assert shown.code == 0


def test_the_console_without_its_server_ends_as_other_commands_do() -> None:
    shown = on_terminal("tui", "--url", "unix:///nonexistent", width=120)
    assert shown.code == 3
    assert "error: unix:///nonexistent cannot be reached" in shown.text


def test_the_console_knows_the_contexts(server: RunningServer) -> None:
    server.client.xadd("parcels", {"n": "1"})
    Path("streamops.toml").write_text(
        f'default_context = "depot"\n[contexts.depot]\nurl = "{server.unix_url}"\nenvironment = "staging"\n'
    )
    shown = on_terminal("tui", width=120, typing=Typing("parcels", "q"))
    assert shown.code == 0
    assert "depot" in shown.text
    assert "staging" in shown.text
