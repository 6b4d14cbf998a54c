"""The commands that compose faces: the console on a server, the demo with and without a terminal."""

import json
import re
from pathlib import Path

from tests.support.cli.running import Cli

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
    assert {"poison", "dead_letters"} & {
        finding["code"]
        for stream in status["streams"]
        for finding in [
            *stream["findings"],
            *(found for group in stream["groups"] for found in group["findings"]),
        ]
    }


def test_the_console_needs_a_terminal(cli: Cli) -> None:
    result = cli("tui", "--url", "unix:///nonexistent")
    assert (result.code, result.out) == (2, "")
    assert "streamops status" in result.err
