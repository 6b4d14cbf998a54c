"""The commands that compose faces: the console on a server, the demo with and without a terminal."""

import json
import re
from contextlib import suppress
from pathlib import Path

from tests.support.cli.running import Cli, Place
from tests.support.cli.terminal import Typing, on_terminal
from tests.support.servers import RunningServer

SOCKET = re.compile(r"unix://(/\S+/server\.sock)")


def test_the_demo_without_a_terminal_prints_a_live_status_and_leaves_nothing(cli: Cli) -> None:
    result = cli("demo", "--seconds", "2", "-o", "json")
    assert result.code == 0
    where = SOCKET.search(result.err)
    assert where is not None
    assert not Path(where[1]).parent.exists()
    status = json.loads(result.out)
    streams = {stream["stream"]: stream for stream in status["streams"]}
    assert any(group["rates"]["added_per_second"] for group in streams["orders:events"]["groups"])
    assert [group["group"] for group in streams["parcels:outgoing"]["groups"]] == ["couriers"]
    assert processes_of(where[1]) == []
    assert {"poison", "dead_letters"} & {
        finding["code"]
        for stream in status["streams"]
        for finding in [
            *stream["findings"],
            *(found for group in stream["groups"] for found in group["findings"]),
        ]
    }


def processes_of(socket: str) -> list[str]:
    """Processes that were started with a server's socket in their words or in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            told = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            if socket.encode() in told:
                found.append(process.name)
    return found


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


def test_the_console_knows_the_contexts(server: RunningServer, place: Place) -> None:
    server.client.xadd("parcels", {"n": "1"})
    place.configure(
        f'default_context = "depot"\n[contexts.depot]\nurl = "{server.unix_url}"\nenvironment = "staging"\n'
    )
    shown = on_terminal("tui", width=120, typing=Typing("parcels", "q"))
    assert shown.code == 0
    assert "depot" in shown.text
    assert "staging" in shown.text
